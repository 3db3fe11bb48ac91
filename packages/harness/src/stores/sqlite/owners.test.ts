// Two stores of one process on one file, as an agent and a gateway may have them.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { createThread, threadDeps } from "../../thread/writer.ts";
import { openSqlite } from "../sqlite.ts";

async function pair(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-owners-"));
  const path = join(folder, "log.db");
  const [first, second] = [openSqlite({ path }), openSqlite({ path })];
  t.after(async () => {
    await first.close();
    await second.close();
    rmSync(folder, { recursive: true });
  });
  await createThread(threadDeps(first), { id: "t" });
  return { path, first, second };
}

test("a store that is open keeps its lease however often another one asks, and one that is closed has given it up", async (t) => {
  const { first, second } = await pair(t);
  assert.equal((await first.acquireLease("t", "one", 60_000)).kind, "acquired");
  for (let i = 0; i < 3; i += 1) assert.equal((await second.acquireLease("t", "two", 60_000)).kind, "busy");
  await first.close();
  assert.equal((await second.acquireLease("t", "two", 60_000)).kind, "acquired");
});

test("a lease of a program that keeps no lock ends by its time alone", async (t) => {
  const { path, first, second } = await pair(t);
  await first.acquireLease("t", "one", 60_000);
  await first.close();
  // A program of before takes the thread over: it knows nothing of the column beside it.
  const before = new DatabaseSync(path);
  before.exec("UPDATE leases SET owner = 'before', epoch = epoch + 1");
  before.close();
  assert.equal((await second.acquireLease("t", "two", 60_000)).kind, "busy");
});

test("where no lock can be kept, leases end by their time", async (t) => {
  const { path, first, second } = await pair(t);
  writeFileSync(`${path}-owners`, "in the way");
  assert.equal((await first.acquireLease("t", "one", 60_000)).kind, "acquired");
  assert.equal((await second.acquireLease("t", "two", 60_000)).kind, "busy");
  await first.close();
  assert.equal((await second.acquireLease("t", "two", 60_000)).kind, "busy");
});

test("a store that takes its lock removes those that died, and leaves one that is held", async (t) => {
  const { path, first, second } = await pair(t);
  await first.acquireLease("t", "one", 60_000);
  const folder = `${path}-owners`;
  const [held] = readdirSync(folder);
  const died = join(folder, "00000000-0000-4000-8000-000000000000");
  writeFileSync(died, "");
  await second.acquireLease("t", "two", 60_000);
  const locks = readdirSync(folder);
  assert.equal(locks.length, 2);
  assert.ok(locks.includes(held!) && !existsSync(died));
});
