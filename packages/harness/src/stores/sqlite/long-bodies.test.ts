// Bodies of megabytes are compressed before their transaction, in another thread, and come back as they were.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { collect, freshThread } from "@palimpsest/testing/internal/kit";
import { countTurns } from "../../../test/turns.ts";
import { verify } from "../../thread/audit.ts";
import { redact } from "../../thread/redact.ts";
import { commit, type Writer } from "../../thread/writer.ts";
import { openSqlite } from "../sqlite.ts";
import type { StoredRecord } from "../store.ts";

/** Compressed it is longer than what is read at once. */
const VARIED = Array.from({ length: 300_000 }, (_, index) => `line ${index} 漢`).join("\n");

async function logWith(t: TestContext, contents: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
  const path = join(folder, "log.db");
  const store = openSqlite({ path });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const writer = await freshThread(store);
  const bodies = contents.map((content) => JSON.stringify({ role: "user", content }));
  await commit(
    writer,
    bodies.map((body, index) => ({ kind: "message", id: `m${index}`, dialect: "openai", origin: "user", body })),
  );
  await store.releaseLease(writer.lease);
  return { store, path, writer, threadId: writer.lease.threadId, hashes: bodies.map((body) => writer.hash(body)) };
}

/** Of what is read, since a failing test would print megabytes. */
function hashesOf(records: readonly StoredRecord[], { hash }: Pick<Writer, "hash">): string[] {
  return records.map(({ chained }) => hash(chained.body ?? ""));
}

function rowsIn(path: string, sql = "SELECT body, zipped FROM records ORDER BY seq") {
  const database = new DatabaseSync(path);
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

test("a body of megabytes is kept compressed and comes back as it was, in the log and in a view", async (t) => {
  const { store, path, writer, threadId, hashes } = await logWith(t, [VARIED, "short", "y".repeat(2_000_000)]);
  const rows = rowsIn(path);
  assert.deepEqual(
    rows.map(({ body, zipped }) => [body === null, zipped instanceof Uint8Array]),
    [
      [true, true],
      [false, false],
      [true, true],
    ],
  );
  assert.ok((rows[0]!["zipped"] as Uint8Array).length < VARIED.length / 2);
  assert.deepEqual(hashesOf(await collect(store.records(threadId)), writer), hashes);
  const descending = await collect(store.records(threadId, { order: "descending" }));
  assert.deepEqual(hashesOf(descending, writer), hashes.toReversed());
  assert.deepEqual(hashesOf((await store.load(threadId))!.records, writer), hashes);
  assert.equal((await verify(writer, threadId)).kind, "whole");
});

test("a body that hardly gets shorter is kept as it is", async (t) => {
  const letters = Array.from(randomBytes(1_200_000), (byte) => String.fromCharCode(0x4e00 + byte)).join("");
  const { store, path, writer, threadId, hashes } = await logWith(t, [letters]);
  const [row] = rowsIn(path);
  assert.deepEqual([typeof row!["body"], row!["zipped"]], ["string", null]);
  assert.deepEqual(hashesOf(await collect(store.records(threadId)), writer), hashes);
});

test("a compressed body that is damaged is told, and the rest of the log is read", async (t) => {
  const { store, path, writer, threadId, hashes } = await logWith(t, [VARIED, "after it"]);
  rowsIn(path, "UPDATE records SET zipped = CAST(x'ffff' || substr(zipped, 5) AS BLOB) WHERE seq = 1");
  const records = await collect(store.records(threadId));
  assert.deepEqual(hashesOf(records.slice(1), writer), hashes.slice(1));
  assert.notEqual((await verify(writer, threadId)).kind, "whole");
});

test("erasing a long message takes its compressed body out of the file", async (t) => {
  const { path, writer, threadId } = await logWith(t, [VARIED, "after it"]);
  assert.equal((await redact(writer, threadId, 1)).kind, "redacted");
  const [row] = rowsIn(path, "SELECT zipped, length(body) AS length FROM records WHERE seq = 1");
  assert.equal(row!["zipped"], null);
  assert.ok((row!["length"] as number) < 1000);
});

test("a body of megabytes is hashed, copied to be compressed and written in a turn of the event loop each", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const writer = await freshThread(store);
  const turns = countTurns(t);
  const body = JSON.stringify({ role: "user", content: VARIED });
  const at = { hashed: -1, copied: -1, written: -1 };
  const hash = (text: string): string => {
    if (text.length > 1_000_000) at.hashed = turns();
    return writer.hash(text);
  };
  const { from } = Buffer;
  t.mock.method(Buffer, "from", (...given: Parameters<typeof from>) => {
    if (String(given[0]).length > 1_000_000) at.copied = turns();
    return from(...given);
  });
  const { exec } = DatabaseSync.prototype;
  t.mock.method(DatabaseSync.prototype, "exec", function (this: DatabaseSync, sql: string) {
    if (sql.includes("wal_autocheckpoint = 0")) at.written = turns();
    return exec.call(this, sql);
  });
  await commit({ ...writer, hash }, [{ kind: "message", id: "m", dialect: "openai", origin: "user", body }]);
  assert.ok(at.hashed >= 0 && at.copied > at.hashed && at.written > at.copied, JSON.stringify(at));
});
