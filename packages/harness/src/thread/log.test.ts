import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/internal/message";
import { openSqlite } from "../stores/sqlite.ts";
import { appendMessages, undo, withWriter } from "./acts.ts";
import { type LeftThread, openLog } from "./log.ts";
import { redact } from "./redact.ts";
import { commit, createThread, openLeases, threadDeps, type Writer } from "./writer.ts";

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

test("what was reported comes with the log, of what is visible, until something else is written", async (t) => {
  const kit = threadDeps(openSqlite({ path: ":memory:" }));
  t.after(() => kit.store.close());
  await createThread(kit, { id: "t" });
  await withWriter(kit, "t", async (writer) => {
    const said = { kind: "message", id: "a", dialect: "openai", origin: "user", body: '{"role":"user"}' } as const;
    const report = { kind: "usage", model: "m", input: 9, output: 1, cacheRead: 0, cacheWrite: 0 } as const;
    const rest = { measured: { compaction: null, prune: null, promptHash: null }, factor: 1, flaw: null };
    await commit(writer, [said, { ...report, of: 1, ...rest }, { ...said, id: "b" }, { ...report, of: 3, ...rest }]);
    const log = await logUnder(writer);
    const reported = (of = log) => of.reports()?.map(({ seq }) => seq) ?? null;
    assert.deepEqual(reported(), [2, 4]);
    assert.equal((await log.commit([{ ...said, id: "c" }])).kind, "committed");
    assert.equal(reported(), null);
    assert.deepEqual(reported(await logUnder(writer)), [2, 4]);
    const after = await logUnder(writer, log.left());
    assert.equal(after.reports(), null, "what was opened before is gone on with, and not read again");
  });
});

type Left = LeftThread<OpenAiMessage>["log"];

async function logUnder({ lease, ...deps }: Writer, left: Left | null = null) {
  const { signal: lost } = new AbortController();
  const leases = openLeases({ deps, id: "t", lease: { lease, lost } });
  const before = left === null ? null : { log: left, sized: null as never };
  return (await openLog({ id: "t", shape: openaiShape, before }, leases, async () => undefined))!;
}

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
    const done = await withWriter(kit, "t", async (writer) => (await logUnder(writer)).head().version);
    return done.kind === "done" ? done.value : undefined;
  } finally {
    await kit.store.close();
  }
}

test("a thread opened again reads only what somebody else has added since", async (t) => {
  const store = openSqlite({ path: await threadOfThree(t) });
  t.after(() => store.close());
  let loads = 0;
  const load: typeof store.load = (threadId) => {
    loads += 1;
    return store.load(threadId);
  };
  const kit = threadDeps({ ...store, load });
  let left: Left | null = null;
  const reopen = () =>
    withWriter(kit, "t", async (writer) => {
      const log = await logUnder(writer, left);
      left = log.left();
      return log.view().map(({ message }) => message);
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
  assert.equal(loads, 1);
  assert.ok(moved.kind === "done");
  assert.equal(moved.value?.length, 4);
  assert.equal(moved.value?.[0], first.value?.[0]);
});

test("an open log catches up with a log that has grown, and is read anew where growing is not enough", async (t) => {
  const store = openSqlite({ path: await threadOfThree(t) });
  t.after(() => store.close());
  const kit = threadDeps(store);
  const writing = <T>(work: (writer: Writer) => Promise<T>): Promise<unknown> => withWriter(kit, "t", work);
  const say = (content: string) => (writer: Writer) =>
    appendMessages(writer, [{ dialect: "openai", origin: "user", body: { role: "user", content } }]);
  const place = { deps: kit, id: "t", shape: openaiShape, lease: "per-write" } as const;
  const log = (await openLog(place, openLeases(place), async () => undefined))!;
  const texts = () => log.view().map(({ message }) => message.content);
  assert.equal(await log.catchUp(), "current");
  await writing(say("four"));
  assert.equal(await log.catchUp(), "grown");
  assert.deepEqual(texts().slice(-1), ["four"]);
  const entries = [{ target: 4, part: 0, replacement: "4", reason: "clamped" }] as const;
  await writing((writer) => commit(writer, [{ kind: "prune", entries, tokensBefore: 9, tokensAfter: 5 }]));
  assert.equal(await log.catchUp(), "grown");
  assert.deepEqual(texts().slice(-1), ["4"]);
  await writing((writer) => undo(writer));
  assert.equal(await log.catchUp(), "reread");
  assert.deepEqual(texts().slice(-1), ["four"]);
  await redact(kit, "t", 4);
  assert.equal(await log.catchUp(), "reread");
  assert.ok(!texts().includes("four"));
  await store.deleteThread("t");
  await assert.rejects(log.catchUp(), { code: "missing" });
  await createThread(kit, { id: "t" });
  await writing(say("new"));
  assert.equal(await log.catchUp(), "reread");
  assert.deepEqual(texts(), ["new"]);
});

test("a thread with a hole in what it would send is not gone on with either", async (t) => {
  const path = await threadOfThree(t);
  const database = new DatabaseSync(path);
  database.prepare("delete from records where seq = 2").run();
  database.close();
  await assert.rejects(opened(path), { code: "corrupt", message: /record 2 is missing.*fork the thread at 1/ });
});

test("the search index follows a thread as it grows", async (t) => {
  const store = openSqlite({ path: await threadOfThree(t) });
  t.after(() => store.close());
  const turn = (content: string) => {
    const body = JSON.stringify({ role: "user", content });
    return { kind: "message", id: content, dialect: "openai", origin: "user", body } as const;
  };
  await withWriter(threadDeps(store), "t", async (writer) => {
    const log = await logUnder(writer);
    for (let number = 4; number <= 128; number += 1) await log.commit([turn(`message ${number}`)]);
  });
  assert.equal((await store.search.lineage("t"))[0]?.indexed, 128);
});
