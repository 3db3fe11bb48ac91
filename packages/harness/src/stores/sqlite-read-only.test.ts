// A database that may only be read can be read: another user's, one on a read-only disk, one without a byte of room.
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { freshThread, say, textsOf } from "@palimpsest/testing/internal/kit";
import { searchThread } from "../recall/search.ts";
import { openStore } from "./open.ts";
import { openSqlite } from "./sqlite.ts";
import { StoreError } from "./store-error.ts";

test("a file in a folder that can't be written is read, searched as far as it is indexed, and not written", async (t) => {
  const { path, folder } = await written(t);
  await asStranger(t, folder, async () => {
    await assert.rejects(openStore(path), isUnwritable);
    const store = await openStore(path, { access: "read" });
    try {
      const threadId = (await store.threads({ limit: 1 })).threads[0]!.header.id;
      assert.deepEqual(await textsOf(store, threadId), ["the first words", "the second words"]);
      assert.equal((await store.upkeep.check()).ok, true);
      const outcome = await searchThread(store, threadId, "words");
      assert.equal(outcome.kind === "found" && outcome.hits.length, 1, "the second came after the last search");
      assert.ok(outcome.unindexed! > 0);
      await assert.rejects(freshThread(store), isUnwritable);
    } finally {
      await store.close();
    }
  });
  assert.deepEqual(readdirSync(folder), ["log.db"]);
});

test("a file whose write-ahead log still holds the newest turn is read with it", async (t) => {
  const { path, folder, thread } = await written(t);
  const owner = openSqlite({ path });
  t.after(() => owner.close());
  const beside = await freshThread(owner);
  await say(beside, "only in the write-ahead log");
  await asStranger(t, folder, async () => {
    const store = await openStore(path, { access: "read" });
    try {
      assert.deepEqual(await textsOf(store, beside.lease.threadId), ["only in the write-ahead log"]);
      assert.equal((await textsOf(store, thread)).length, 2);
    } finally {
      await store.close();
    }
  });
});

test("tables of an older version that can't be brought up to date are told so", async (t) => {
  const { path, folder } = await written(t);
  const raw = new DatabaseSync(path);
  raw.exec("DELETE FROM migrations WHERE version > 1");
  raw.close();
  await asStranger(t, folder, async () => {
    await assert.rejects(openStore(path, { access: "read" }), /older version 1 .*copy it/);
  });
});

test("what can be written is opened for writing all the same, and a missing file is made", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-read-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const store = await openStore(join(folder, "new.db"), { access: "read" });
  t.after(() => store.close());
  await say(await freshThread(store), "written");
});

/** A closed database with two messages, of which the first is indexed. */
async function written(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-read-"));
  t.after(() => {
    chmodSync(folder, 0o755);
    rmSync(folder, { recursive: true });
  });
  const path = join(folder, "log.db");
  // Opens by the way that the stranger takes: nobody may not read a clone in a closed folder, so it is loaded before.
  const store = await openStore(path);
  const writer = await freshThread(store);
  const { threadId } = writer.lease;
  await say(writer, "the first words");
  await searchThread(store, threadId, "words");
  await say(writer, "the second words");
  await store.close();
  return { folder, path, thread: threadId };
}

/** As somebody who may read the folder and write nothing in it; root would be stopped by nothing, so it becomes nobody. */
async function asStranger(t: TestContext, folder: string, work: () => Promise<void>): Promise<void> {
  const modes = readdirSync(folder).map((name) => [join(folder, name), statSync(join(folder, name)).mode] as const);
  const isRoot = process.geteuid?.() === 0;
  // What may be entered may still be entered.
  for (const [path, mode] of modes) chmodSync(path, 0o444 | (mode & 0o111));
  chmodSync(folder, 0o555);
  if (isRoot) process.seteuid!(NOBODY);
  try {
    await work();
  } finally {
    if (isRoot) process.seteuid!(0);
    chmodSync(folder, 0o755);
    for (const [path, mode] of modes) chmodSync(path, mode);
  }
  t.diagnostic(isRoot ? "as nobody" : "as oneself");
}

const NOBODY = 65_534;

function isUnwritable(error: unknown): boolean {
  return error instanceof StoreError && error.code === "unwritable";
}
