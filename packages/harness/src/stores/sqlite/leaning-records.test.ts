// A usage record's row leans on that of its answer: whatever becomes of the answer's row, both records stay what they were.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { collect, freshThread, say } from "@palimpsest/testing/internal/kit";
import { fork } from "../../thread/acts.ts";
import { verify } from "../../thread/audit.ts";
import { redact } from "../../thread/redact.ts";
import { commit } from "../../thread/writer.ts";
import { openSqlite } from "../sqlite.ts";

const USAGE = {
  kind: "usage",
  of: 2,
  model: "m",
  measured: { compaction: null, prune: null, promptHash: null },
  input: 7,
  output: 1,
  cacheRead: 0,
  cacheWrite: 0,
  factor: null,
} as const;

async function answered(t: TestContext) {
  const log = await emptyLog(t);
  await say(log.writer, "Where is it?");
  await commit(log.writer, [answerOf("a", "In the drawer."), USAGE]);
  await say(log.writer, "Thanks");
  await log.store.releaseLease(log.writer.lease);
  return log;
}

/** A long thread in which every answer was asked for with one of two prompts, some with ones of their own. */
async function longThread(t: TestContext) {
  const log = await emptyLog(t);
  for (let of = 1; of < 80; of += 2) {
    const promptHash = log.writer.hash(promptOf(of));
    const usage = { ...USAGE, of, measured: { compaction: null, prune: null, promptHash } };
    await commit(log.writer, [answerOf(`a${of}`, `It is ${of}.`), usage]);
  }
  await log.store.releaseLease(log.writer.lease);
  return log;
}

function promptOf(answer: number): string {
  if (answer % 9 === 0) return `prompt ${answer}`;
  return answer % 4 === 1 ? "prompt one" : "prompt two";
}

function answerOf(id: string, content: string) {
  const body = JSON.stringify({ role: "assistant", content });
  return { kind: "message", id, dialect: "openai", origin: "model", body } as const;
}

async function emptyLog(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
  const store = openSqlite({ path: join(folder, "log.db") });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const writer = await freshThread(store);
  return { writer, threadId: writer.lease.threadId, folder, ...observed(store, folder) };
}

function observed(store: ReturnType<typeof openSqlite>, folder: string) {
  const rows = (from = "x'80'") => {
    const raw = new DatabaseSync(join(folder, "log.db"));
    const leaning = raw.prepare(`SELECT num, seq FROM records WHERE packed >= ${from} ORDER BY num, seq`).all();
    raw.close();
    return leaning.map(({ num, seq }) => [num, seq]);
  };
  const logOf = async (threadId: string) =>
    (await collect(store.records(threadId))).map(({ chained }) => ({ ...chained }));
  return { store, rows, logOf };
}

test("a usage record that was written with its answer leans on it, and reads alone as with all others", async (t) => {
  const { store, writer, threadId, rows, logOf } = await answered(t);
  assert.deepEqual(rows(), [[1, 3]]);
  assert.equal((await verify(writer, threadId)).kind, "whole");
  const log = await logOf(threadId);
  for (const query of [
    { kinds: ["usage"] },
    { seqs: [3] },
    { range: [3, 3] },
    { range: [3, 3], bodies: "none" },
  ] as const) {
    const [alone] = await collect(store.records(threadId, query));
    assert.deepEqual({ ...alone!.chained }, log[2]);
  }
});

test("when the answer is erased, its usage record stays, word for word", async (t) => {
  const { writer, threadId, rows, logOf } = await answered(t);
  const before = await logOf(threadId);
  assert.equal((await redact(writer, threadId, 2)).kind, "redacted");
  assert.deepEqual(rows(), []);
  assert.deepEqual((await logOf(threadId))[2], before[2]);
  const verdict = await verify(writer, threadId);
  assert.deepEqual([verdict.kind, verdict.kind === "whole" && verdict.redacted], ["whole", [2]]);
});

test("a fork that outlives its parent has both, and one that was made between them has the answer", async (t) => {
  const { store, writer, threadId, rows, logOf } = await answered(t);
  await fork(writer, threadId, { as: "after", at: 3 });
  await fork(writer, threadId, { as: "between", at: 2 });
  const before = await logOf(threadId);
  assert.equal(await store.deleteThread(threadId), "deleted");
  assert.deepEqual(rows(), [[2, 3]]);
  assert.deepEqual((await logOf("after")).slice(0, 3), before.slice(0, 3));
  assert.deepEqual((await logOf("between")).slice(0, 2), before.slice(0, 2));
  for (const id of ["after", "between"]) assert.equal((await verify(writer, id)).kind, "whole");
});

test("usage records of a long thread name their prompt by the beginning of its hash, and give back all of it", async (t) => {
  const { store, writer, threadId, rows, logOf } = await longThread(t);
  // Not those of the thread's beginning.
  assert.deepEqual([rows().length, rows("x'c0'")[0], rows("x'c0'").length], [40, [1, 32], 25]);
  assert.equal((await verify(writer, threadId)).kind, "whole");
  const log = await logOf(threadId);
  for (const { seq, header } of log.filter(({ kind }) => kind === "usage")) {
    assert.equal(JSON.parse(header).measured.promptHash, writer.hash(promptOf(seq - 1)));
  }
  await fork(writer, threadId, { as: "after", at: 60 });
  assert.equal((await redact(writer, threadId, 71)).kind, "redacted");
  assert.deepEqual((await logOf(threadId))[71], log[71]);
  assert.equal(await store.deleteThread(threadId), "deleted");
  assert.deepEqual((await logOf("after")).slice(0, 60), log.slice(0, 60));
  assert.equal((await verify(writer, "after")).kind, "whole");
});

test("where a prompt's hash was taken away, its usage records don't verify, and every message reads as before", async (t) => {
  const { writer, threadId, folder, logOf } = await longThread(t);
  const log = await logOf(threadId);
  const raw = new DatabaseSync(join(folder, "log.db"));
  raw.exec("DELETE FROM usage_prompts");
  raw.close();
  const now = await logOf(threadId);
  const messages = ({ kind }: { kind: string }) => kind === "message";
  assert.deepEqual(now.filter(messages), log.filter(messages));
  assert.equal((await verify(writer, threadId)).kind === "whole", false);
});
