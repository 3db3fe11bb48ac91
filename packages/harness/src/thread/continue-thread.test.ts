import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openSqlite } from "../stores/sqlite.ts";
import { replay } from "./audit.ts";
import { continuations, continueThread, type NamedConversation, writeWhereItStands } from "./continue-thread.ts";
import { createThread, type RecordInput, threadDeps } from "./writer.ts";

const said = (...texts: string[]): RecordInput[] =>
  texts.map((text) => ({
    kind: "message",
    id: `id-${text}`,
    dialect: "openai",
    origin: "user",
    body: JSON.stringify({ role: "user", content: text }),
  }));

async function newConversation(t: TestContext, ...texts: string[]): Promise<NamedConversation> {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const conversation = { ...threadDeps(store), name: "c", waitMs: 0 };
  await createThread(conversation, { id: "c" }, said(...texts));
  return conversation;
}

async function textsIn(conversation: NamedConversation, threadId: string): Promise<string[]> {
  const texts: string[] = [];
  for await (const { body } of replay(conversation, threadId)) texts.push(JSON.parse(body).content);
  return texts;
}

const leave = (conversation: NamedConversation, threadId: string, keep: number, ...texts: string[]) =>
  writeWhereItStands(conversation, threadId, (writer) =>
    continueThread(conversation, writer, { keep, say: said(...texts) }),
  );

test("a thread is left for one that shares its beginning; both stay whole, and the name leads to the last", async (t) => {
  const conversation = await newConversation(t, "a", "b");
  assert.deepEqual(await leave(conversation, "c", 1, "d"), { kind: "written", value: "continued" });
  assert.deepEqual(await leave(conversation, "c-1", 0), { kind: "written", value: "continued" });
  assert.deepEqual(await continuations(conversation), ["c", "c-1", "c-2"]);
  const texts = await Promise.all(["c", "c-1", "c-2"].map((threadId) => textsIn(conversation, threadId)));
  assert.deepEqual(texts, [["a", "b"], ["a", "d"], []]);
});

test("who writes to a thread that was left is told so, and nothing is written", async (t) => {
  const conversation = await newConversation(t, "a", "b");
  await leave(conversation, "c", 1);
  assert.deepEqual(await leave(conversation, "c", 0), { kind: "moved" });
  assert.deepEqual(await leave(conversation, "nobody", 0), { kind: "moved" });
  assert.deepEqual(await continuations(conversation), ["c", "c-1"]);
});

test("a name that is taken, by a crash or by somebody else, is passed over", async (t) => {
  const conversation = await newConversation(t, "a", "b");
  await createThread(conversation, { id: "c-1" }, said("not ours"));
  await leave(conversation, "c", 1, "d");
  assert.deepEqual(await continuations(conversation), ["c", "c-2"]);
  assert.deepEqual(await textsIn(conversation, "c-1"), ["not ours"]);
});

test("a thread that somebody else holds is busy after the wait", async (t) => {
  const conversation = await newConversation(t, "a");
  const held = await conversation.store.acquireLease("c", "somebody", 60_000);
  assert.equal(held.kind, "acquired");
  assert.equal((await leave(conversation, "c", 0)).kind, "busy");
  assert.deepEqual(await continuations(conversation), ["c"]);
});
