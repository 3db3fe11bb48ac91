import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/message";
import { openSqlite } from "../stores/sqlite.ts";
import { appendMessages, withWriter } from "./acts.ts";
import { type Conversation, openConversation } from "./conversation.ts";
import { createThread, threadDeps } from "./writer.ts";

test("a thread whose last record is gone is not gone on with, so that damage is not buried", async (t) => {
  const path = await threadOfThree(t);
  const database = new DatabaseSync(path);
  const table = database.prepare("select max(rowid) as last from records").get() as { last: number };
  database.prepare("delete from records where rowid = ?").run(table.last);
  database.close();
  await assert.rejects(opened(path), { code: "corrupt", message: /record 3 is missing.*verify t/ });
});

test("a whole thread opens where it ended", async (t) => {
  assert.equal(await opened(await threadOfThree(t)), 3);
});

async function threadOfThree(t: TestContext): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "log.db");
  const kit = threadDeps(openSqlite({ path }));
  await createThread(kit, { id: "t" });
  await withWriter(kit, "t", (writer) =>
    appendMessages(
      writer,
      ["one", "two", "three"].map((content) => ({
        dialect: "openai",
        origin: "user",
        body: { role: "user", content },
      })),
    ),
  );
  await kit.store.close();
  return path;
}

async function opened(path: string): Promise<number | undefined> {
  const kit = threadDeps(openSqlite({ path }));
  try {
    const done = await withWriter(
      kit,
      "t",
      async (writer) => (await openConversation(writer, openaiShape))?.head().version,
    );
    return done.kind === "done" ? done.value : undefined;
  } finally {
    await kit.store.close();
  }
}

test("a thread opened again reads its log only where somebody else has written since", async (t) => {
  const store = openSqlite({ path: await threadOfThree(t) });
  t.after(() => store.close());
  let loads = 0;
  const load: typeof store.load = (thread) => {
    loads += 1;
    return store.load(thread);
  };
  const kit = threadDeps({ ...store, load });
  let before: Conversation<OpenAiMessage> | null = null;
  const reopen = () =>
    withWriter(kit, "t", async (writer) => {
      before = await openConversation(writer, openaiShape, before);
      return before?.view().map(({ message }) => message);
    });
  const say = (content: string) => {
    const body = { role: "user", content };
    return withWriter(kit, "t", (writer) => appendMessages(writer, [{ dialect: "openai", origin: "user", body }]));
  };
  const first = await reopen();
  const again = await reopen();
  assert.equal(loads, 1);
  assert.ok(first.kind === "done" && again.kind === "done");
  assert.equal(again.value?.[0], first.value?.[0], "the same objects, so that counts stay known");
  await say("four");
  const moved = await reopen();
  assert.equal(loads, 2);
  assert.equal(moved.kind === "done" && moved.value?.length, 4);
});

test("a thread with a hole in what it would send is not gone on with either", async (t) => {
  const path = await threadOfThree(t);
  const database = new DatabaseSync(path);
  database.prepare("delete from records where seq = 2").run();
  database.close();
  await assert.rejects(opened(path), { code: "corrupt", message: /record 2 is missing.*fork the thread at 1/ });
});

test("the search index follows a conversation as it grows", async (t) => {
  const store = openSqlite({ path: await threadOfThree(t) });
  t.after(() => store.close());
  const turn = (content: string) => {
    const body = JSON.stringify({ role: "user", content });
    return { kind: "message", id: content, dialect: "openai", origin: "user", body } as const;
  };
  await withWriter(threadDeps(store), "t", async (writer) => {
    const conversation = await openConversation(writer, openaiShape);
    for (let number = 4; number <= 128; number += 1) await conversation!.commit([turn(`message ${number}`)]);
  });
  assert.equal((await store.search.lineage("t"))[0]?.indexed, 128);
});
