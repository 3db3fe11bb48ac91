import assert from "node:assert/strict";
import { test } from "node:test";
import { tool } from "ai";
import { z } from "zod";
import { agentKit, type Kit, textOf } from "../../test/agent/agent-kit.ts";
import { Chat, textsOf } from "../../test/agent/chat.ts";

const texts = async (kit: Kit, threadId: string) => (await kit.said(threadId)).map(textOf);

test("an answer is asked for again in a fork, with one call: the thread stays, the fork ends with the new answer", async (t) => {
  const kit = agentKit(["one", "two", "another two"]);
  t.after(() => kit.store.close());
  for (const prompt of ["first", "second"]) await kit.agent.generate({ threadId: "t", prompt });
  const run = kit.agent.regenerate({ threadId: "t" });
  const { end, text, threadId } = await run.result;
  assert.deepEqual([end.kind, text], ["answered", "another two"]);
  assert.equal(run.threadId, threadId);
  assert.notEqual(threadId, "t");
  assert.deepEqual(await texts(kit, "t"), ["first", "one", "second", "two"]);
  assert.deepEqual(await texts(kit, threadId), ["first", "one", "second", "another two"]);
  assert.equal(await kit.agent.thread("t").current(), threadId);
  assert.equal(await kit.agent.thread(threadId).current(), threadId);
});

test("an earlier answer can be named by its run or by its question; a tool's round belongs to the answer", async (t) => {
  const look = tool({ inputSchema: z.object({}), execute: () => "seen" });
  const kit = agentKit([{ calls: [{ name: "look", input: {} }] }, "one", "two", "again", "and again"], {
    tools: { look },
  });
  t.after(() => kit.store.close());
  const first = await kit.agent.generate({ threadId: "t", prompt: "first" });
  await kit.agent.generate({ threadId: "t", prompt: "second" });
  const [question, answer] = await kit.agent.messages("t");
  assert.equal(answer!.id, first.runId);
  for (const [as, messageId] of [
    ["by-answer", answer!.id],
    ["by-question", question!.id],
  ] as const) {
    assert.equal((await kit.agent.regenerate({ threadId: "t", messageId, as }).result).end.kind, "answered");
    assert.equal((await texts(kit, as)).length, 2);
  }
  assert.equal(await kit.agent.thread("t").current(), "by-question");
});

test("a message is said anew in a fork that ends before it, under the same name", async (t) => {
  const kit = agentKit(["one", "two", "three"]);
  t.after(() => kit.store.close());
  for (const prompt of ["first", "second"]) await kit.agent.generate({ threadId: "t", prompt });
  const { id: messageId } = (await kit.agent.messages("t"))[0]!;
  const run = kit.agent.edit({ threadId: "t", messageId, prompt: "first, but better", as: "u" });
  assert.equal((await run.result).text, "three");
  assert.deepEqual(await texts(kit, "u"), ["first, but better", "three"]);
  assert.equal((await kit.agent.messages("u"))[0]!.id, messageId);
});

test("useChat regenerates and edits under one id, and finds the same messages when its page is loaded again", async (t) => {
  const kit = agentKit(["one", "two", "another two", "three", "four"]);
  t.after(() => kit.store.close());
  const chat = new Chat(kit.agent);
  const all = () => chat.messages.flatMap(textsOf);
  await chat.sendMessage({ text: "first" });
  await chat.sendMessage({ text: "second" });
  await chat.regenerate();
  assert.deepEqual(all(), ["first", "one", "second", "another two"]);
  await chat.sendMessage({ text: "second, but better", messageId: chat.messages[2]!.id });
  assert.deepEqual(all(), ["first", "one", "second, but better", "three"]);
  await chat.sendMessage({ text: "third" });
  assert.equal(chat.error, undefined);
  const current = await kit.agent.thread("t").current();
  const loaded = await kit.agent.messages(current);
  assert.deepEqual(
    loaded.map(({ id, role }) => [id, role]),
    chat.messages.map(({ id, role }) => [id, role]),
  );
  assert.deepEqual(loaded.flatMap(textsOf), ["first", "one", "second, but better", "three", "third", "four"]);
});

test("whoever goes on in the thread itself is not sent to an older fork of it, and a fork inherits no such pointer", async (t) => {
  const kit = agentKit(["one", "another", "two", "more"]);
  t.after(() => kit.store.close());
  await kit.agent.generate({ threadId: "t", prompt: "first" });
  await kit.agent.regenerate({ threadId: "t", as: "u" }).result;
  assert.equal((await kit.agent.thread("t").fork({ as: "copy" })).kind, "forked");
  assert.equal(await kit.agent.thread("copy").current(), "copy");
  await kit.agent.generate({ threadId: "t", prompt: "second" });
  assert.equal(await kit.agent.thread("t").current(), "t");
  await kit.agent.regenerate({ threadId: "t", as: "v" }).result;
  assert.equal(await kit.agent.thread("t").current(), "v");
  await kit.store.deleteThread("v");
  assert.equal(await kit.agent.thread("t").current(), "t", "a fork that was deleted leads nowhere");
});

test("what can't be forked says why, and nothing is written", async (t) => {
  const kit = agentKit(["one"]);
  t.after(() => kit.store.close());
  await kit.agent.generate({ threadId: "t", userId: "ann", prompt: "first" });
  const [question, answer] = await kit.agent.messages("t", { userId: "ann" });
  const code = async (run: ReturnType<typeof kit.agent.regenerate>) => {
    const end = await run.started;
    return end.kind === "failed" ? end.code : end.kind;
  };
  const ann = { threadId: "t", userId: "ann" } as const;
  assert.equal(await code(kit.agent.regenerate({ threadId: "t", userId: "bob" })), "no-message");
  assert.equal(await code(kit.agent.regenerate({ ...ann, messageId: "nobody" })), "no-message");
  assert.equal(await code(kit.agent.regenerate({ ...ann, as: "t" })), "thread-exists");
  assert.equal(await code(kit.agent.edit({ ...ann, messageId: answer!.id, prompt: "x" })), "no-message");
  assert.equal(await code(kit.agent.edit({ ...ann, messageId: question!.id })), "empty-prompt");
  assert.equal((await kit.agent.threads({ userId: "ann" })).threads.length, 1);
  assert.deepEqual((await kit.agent.threads({ userId: "bob" })).threads, []);
});

test("while a run holds the thread, asking again is busy", async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = tool({ inputSchema: z.object({}), execute: () => promise.then(() => "seen") });
  const kit = agentKit([{ calls: [{ name: "look", input: {} }] }, "done"], { tools: { look } });
  t.after(() => kit.store.close());
  const first = kit.agent.stream({ threadId: "t", prompt: "go" });
  await first.started;
  assert.equal((await kit.agent.regenerate({ threadId: "t" }).started).kind, "busy");
  resolve();
  await first.result;
});
