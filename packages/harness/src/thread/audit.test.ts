// Tampering with the rows themselves, past the store: verify names what was touched, rebuild repairs what is derived.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, test } from "node:test";
import { collect, freshThread, say } from "@palimpsest/testing/internal/kit";
import { openSqlite, type Store } from "../stores/index.ts";
import { rebuildHead, replay, verify } from "./audit.ts";
import { commit, type Writer } from "./writer.ts";

let folder: string;
let store: Store;
let writer: Writer;
let threadId: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
  store = openSqlite({ path: join(folder, "log.db") });
  writer = await freshThread(store);
  threadId = writer.lease.threadId;
  await say(writer, "one", "two", "three", "four");
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

function tamper(sql: string): void {
  const raw = new DatabaseSync(join(folder, "log.db"));
  raw.exec(sql);
  raw.close();
}

async function firstBad() {
  const verdict = await verify(writer, threadId);
  return verdict.kind === "broken" ? [verdict.firstBad.seq, verdict.firstBad.flaw] : verdict.kind;
}

test("an untouched log verifies; a missing thread is missing", async () => {
  assert.deepEqual(await verify(writer, threadId), { kind: "whole", records: 4, redacted: [], rewritten: [] });
  assert.deepEqual(await verify(writer, "nobody"), { kind: "missing" });
});

test("a changed body is named", async () => {
  tamper(`UPDATE records SET body = replace(body, 'two', 'too') WHERE seq = 2`);
  assert.deepEqual(await firstBad(), [2, "changed-body"]);
});

test("a body changed into something unreadable is named, not tripped over", async () => {
  await commit(writer, [{ kind: "prune", entries: [], tokensBefore: 1, tokensAfter: 1 }]);
  tamper(`UPDATE records SET body = '{broken' WHERE seq = 5`);
  assert.deepEqual(await firstBad(), [5, "changed-body"]);
  tamper(`UPDATE records SET header = 'nonsense' WHERE seq = 3`);
  assert.deepEqual(await firstBad(), [3, "broken-link"]);
});

test("a deleted last record is named", async () => {
  tamper("DELETE FROM records WHERE seq = 4");
  assert.deepEqual(await firstBad(), [4, "missing-records"]);
});

test("a record deleted in the middle is named", async () => {
  tamper("DELETE FROM records WHERE seq = 2");
  assert.deepEqual(await firstBad(), [2, "wrong-seq"]);
});

test("two swapped records are named", async () => {
  tamper(
    "UPDATE records SET seq = 99 WHERE seq = 2; UPDATE records SET seq = 2 WHERE seq = 3; UPDATE records SET seq = 3 WHERE seq = 99",
  );
  assert.deepEqual(await firstBad(), [2, "broken-link"]);
});

test("a record smuggled in after the end is named", async () => {
  tamper(
    "INSERT INTO records (num, seq, kind, header, body, body_hash, hash) SELECT num, 5, kind, header, body, body_hash, hash FROM records WHERE seq = 4",
  );
  assert.equal((await firstBad())[0], 5);
});

test("marking a record as redacted hides no change", async () => {
  tamper(`UPDATE records SET body = '{"role":"user","content":"[redacted]"}', redacted = 1 WHERE seq = 2`);
  assert.deepEqual(await firstBad(), [2, "changed-body"]);
});

test("rebuild finds a wrong head, says which fields, and writes the right one only when asked", async () => {
  assert.equal((await rebuildHead(writer, threadId)).kind, "equal");
  tamper("UPDATE heads SET messages = 77, head = json_set(head, '$.hiddenThrough', 3)");
  const found = await rebuildHead(writer, threadId);
  assert.deepEqual(found.kind === "different" && [...found.fields].sort(), ["hiddenThrough", "messages"]);
  assert.equal((await rebuildHead(writer, threadId, "write")).kind, "different");
  assert.equal((await rebuildHead(writer, threadId)).kind, "equal");
  assert.deepEqual(await rebuildHead(writer, "nobody"), { kind: "missing" });
});

test("[F42] replay shows everything ever said, in order, whatever was compacted since", async () => {
  const summary = { format: "user", text: "s", digest: null, state: null } as const;
  const fields = { folds: null, request: null, systems: [], rung: "extract", reason: "r", archive: null } as const;
  await commit(writer, [{ kind: "compaction", covers: [1, 3], summary, tokensBefore: 1, tokensAfter: 1, ...fields }]);
  const said = await collect(replay(writer, threadId));
  assert.deepEqual(
    said.map(({ body }) => JSON.parse(body).content),
    ["one", "two", "three", "four"],
  );
});
