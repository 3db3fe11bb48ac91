// What the file system and other programs do to a database, and that each is told plainly and leaves nothing half-written.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, test } from "node:test";
import { assertSound, freshThread, say, textsOf } from "@palimpsest/testing/internal/kit";
import { appendMessages } from "../thread/acts.ts";
import { verify } from "../thread/audit.ts";
import { redact } from "../thread/redact.ts";
import { createThread, threadDeps } from "../thread/writer.ts";
import { connect } from "./sqlite/connection.ts";
import { openSqlite } from "./sqlite.ts";
import type { StoreErrorCode } from "./store-error.ts";
import { StoreError } from "./store-error.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
  path = join(folder, "log.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a file that is no database is refused, named, and left alone", () => {
  const text = "this is a text file, long enough to be taken for a page of a database. ".repeat(50);
  writeFileSync(path, text);
  assertFails(() => openSqlite({ path }), "corrupt", /log\.db .*move it aside/);
  assert.equal(readFileSync(path, "utf8"), text);
});

test("a database of another program is refused and left alone", () => {
  const other = new DatabaseSync(path);
  other.exec("CREATE TABLE customers (id INTEGER)");
  other.close();
  const before = fingerprint(path);
  assertFails(() => openSqlite({ path }), "corrupt", /another program/);
  assert.equal(fingerprint(path), before);
});

test("while another process reads, what was erased or deleted is said to lie in the write-ahead file; after it, it is gone", async (t) => {
  const store = openSqlite({ path });
  t.after(() => store.close());
  const [kept, gone] = [await freshThread(store), await freshThread(store)];
  await say(kept, "the password is swordfish-4711");
  await say(gone, "the password is swordfish-4711");
  for (const { lease } of [kept, gone]) await store.releaseLease(lease);
  const reader = new DatabaseSync(path);
  t.after(() => reader.close());
  const holds = () => [path, `${path}-wal`].some((file) => readFileSync(file).includes("swordfish"));
  reader.exec("BEGIN; SELECT count(*) FROM records");
  await redact(kept, kept.lease.threadId, 1);
  await store.deleteThread(gone.lease.threadId);
  assert.deepEqual(await store.upkeep.scrub(), { kind: "held", file: `${path}-wal` });
  assert.ok(holds());
  reader.exec("COMMIT");
  assert.deepEqual(await store.upkeep.scrub(), { kind: "clean" });
  assert.ok(!holds(), "also with another connection open");
});

test("a database from a newer version is refused and left alone", async () => {
  await openSqlite({ path }).close();
  const raw = new DatabaseSync(path);
  raw.exec("INSERT INTO migrations VALUES (99, 'tomorrow'); PRAGMA wal_checkpoint(TRUNCATE)");
  raw.close();
  const before = fingerprint(path);
  assertFails(() => openSqlite({ path }), "newer-version", /version 99.*update palimpsest/);
  assert.equal(fingerprint(path), before);
});

test("a damaged page is told as corrupt, with the way out", async () => {
  const store = openSqlite({ path });
  const writer = await freshThread(store);
  for (let index = 0; index < 50; index += 1) await say(writer, `message ${index} `.repeat(40));
  await store.close();
  const bytes = readFileSync(path);
  bytes.fill(0xff, 4096, bytes.length);
  writeFileSync(path, bytes);
  const reopened = await openOrFail(path);
  if (reopened instanceof StoreError) return assert.equal(reopened.code, "corrupt");
  await assert.rejects(textsOf(reopened, writer.lease.threadId), isStoreError("corrupt"));
  await reopened.close();
});

test("a database another process has locked is told as locked, and works again after", async (t) => {
  const store = openSqlite({ path, busyTimeoutMs: 50 });
  t.after(() => store.close());
  const writer = await freshThread(store);
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  await assert.rejects(say(writer, "no"), isStoreError("locked", /another process/));
  assert.deepEqual(await textsOf(store, writer.lease.threadId), [], "readers are not locked out");
  other.exec("ROLLBACK");
  other.close();
  await say(writer, "yes");
  await assertSound(writer, writer.lease.threadId);
});

test("a home that can't be made or written is told as unwritable", () => {
  writeFileSync(join(folder, "file"), "");
  assertFails(() => openSqlite({ path: join(folder, "file", "log.db") }), "unwritable", /part of its path is a file/);
  mkdirSync(path);
  assertFails(() => openSqlite({ path }), "unwritable", /check that the path/);
});

test("a full disk writes nothing half: the batch is gone, the log stands, and goes on when there is room", async (t) => {
  const store = openSqlite({ path });
  const writer = await freshThread(store);
  await say(writer, "before");
  await store.close();
  // The engine's own page limit fails the same way as a disk without room, at the same places.
  const connection = connect({ path });
  const pages = Number(connection.get("PRAGMA page_count")!["page_count"]);
  connection.close();
  const tight = openSqlite({ path, maxPages: pages + 40 });
  const own = { ...writer, store: tight };
  let kept = 1;
  await assert.rejects(
    async () => {
      for (; ; kept += 2) await say(own, "x".repeat(1000), "y".repeat(5000));
    },
    isStoreError("full", /free some space/),
  );
  assert.equal((await tight.head(writer.lease.threadId))!.version, kept);
  assert.equal((await textsOf(tight, writer.lease.threadId)).length, kept);
  await assertSound(own, writer.lease.threadId);
  await tight.close();
  const roomy = openSqlite({ path });
  t.after(() => roomy.close());
  await say({ ...writer, store: roomy }, "after");
  assert.equal((await verify({ ...writer, store: roomy }, writer.lease.threadId)).kind, "whole");
  assert.equal((await roomy.upkeep.check()).ok, true);
});

test("a closed store says so", async () => {
  const store = openSqlite({ path });
  await store.close();
  await store.close();
  await assert.rejects(store.head("a"), isStoreError("closed"));
});

test("what is redacted is gone from the files, not only from the rows", async (t) => {
  const store = openSqlite({ path });
  t.after(() => store.close());
  const writer = await freshThread(store);
  await say(writer, "before", `the word is ${"swordfish ".repeat(300)}`, "after");
  await store.releaseLease(writer.lease);
  assert.equal((await redact(writer, writer.lease.threadId, 2)).kind, "redacted");
  for (const file of [path, `${path}-wal`]) assert.equal(readFileSync(file).includes("swordfish"), false, file);
});

test("[F39] an append to a long thread writes no more than one to a short thread, and little more than the message", async (t) => {
  const store = openSqlite({ path });
  t.after(() => store.close());
  const [long, short] = [await freshThread(store), await freshThread(store)];
  for (let batch = 0; batch < 5; batch += 1)
    await appendMessages(
      long,
      Array.from({ length: 1000 }, (_, index) => ({
        dialect: "openai",
        origin: "user",
        body: { role: "user", content: `${index} `.repeat(50) },
      })),
    );
  const raw = new DatabaseSync(path);
  const body = { role: "user", content: "a short answer" };
  for (let round = 0; round < 40; round += 1) {
    for (const writer of [long, short]) {
      raw.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
      await appendMessages(writer, [{ dialect: "openai", origin: "user", body }]);
      const written = statSync(`${path}-wal`).size;
      assert.ok(written <= 3 * JSON.stringify(body).length + 8000, `${written} bytes`);
    }
  }
  raw.close();
});

test("[F41] vacuum gives back the space of a deleted thread", async (t) => {
  const store = openSqlite({ path });
  t.after(() => store.close());
  const writer = await freshThread(store);
  await say(writer, "x".repeat(2_000_000));
  await store.releaseLease(writer.lease);
  await store.deleteThread(writer.lease.threadId);
  await store.upkeep.vacuum();
  assert.ok(statSync(path).size < 200_000, `${statSync(path).size} bytes`);
  await createThread(threadDeps(store), { id: "next" });
});

function assertFails(work: () => unknown, code: StoreErrorCode, message: RegExp): void {
  assert.throws(work, isStoreError(code, message));
}

function isStoreError(code: StoreErrorCode, message = /./) {
  return (error: unknown): true => {
    assert.ok(error instanceof StoreError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  };
}

async function openOrFail(file: string) {
  try {
    return openSqlite({ path: file });
  } catch (error) {
    return error as StoreError;
  }
}

function fingerprint(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

test("appends wait for the disk again after a lease that didn't, also when taking it failed", () => {
  const connection = connect({ path });
  const level = () => connection.get("PRAGMA synchronous")?.["synchronous"];
  assert.equal(level(), 2);
  assert.equal(connection.unhurried(level), 1);
  assert.throws(() => connection.unhurried(() => connection.run("nonsense")));
  assert.equal(level(), 2);
  connection.close();
});

test("a folder that can't be made is refused, also where the system says that what is there isn't", () => {
  assertFails(() => openSqlite({ path: "/proc/nope/deep/log.db" }), "unwritable", /can't be created/);
});
