// Stores of the time when a thread was named by its id alone are brought up to date when they are opened.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { assertSound, collect, textsOf } from "@palimpsest/testing/internal/kit";
import { createThread, threadDeps } from "../thread/writer.ts";
import { everyThread, everyUser } from "./driver-rules.ts";
import { MIGRATIONS } from "./sqlite/schema.ts";
import { openSqlite } from "./sqlite.ts";

type Rows = Readonly<Record<string, readonly Readonly<Record<string, string | number | boolean | null>>[]>>;

/** The rows as the last release before it left them, by table. */
const OLD = JSON.parse(readFileSync(new URL("./fixtures/before-users.json", import.meta.url), "utf8")) as {
  readonly sqlite: Rows;
};

function oldSqlite(path: string): void {
  const database = new DatabaseSync(path);
  database.exec("CREATE TABLE migrations (version INTEGER PRIMARY KEY, applied TEXT NOT NULL) STRICT");
  for (const [index, step] of MIGRATIONS.slice(0, 5).entries()) {
    database.exec(step);
    database.prepare("INSERT INTO migrations VALUES (?, datetime('now'))").run(index + 1);
  }
  for (const [table, rows] of Object.entries(OLD.sqlite))
    for (const row of rows) {
      const names = Object.keys(row);
      const sql = `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`;
      database.prepare(sql).run(...(Object.values(row) as (string | number | null)[]));
    }
  // Threads that were deleted: their numbers are not given again.
  database.exec("UPDATE sqlite_sequence SET seq = 40 WHERE name = 'threads'");
  database.close();
}

const folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
after(() => rmSync(folder, { recursive: true }));

test("in a SQLite store of before every thread is its user's, whole, with forks, drafts and jobs", async () => {
  oldSqlite(join(folder, "old.db"));
  const store = await openSqlite({ path: join(folder, "old.db") });
  const found: string[] = [];
  for await (const own of everyUser(store))
    for await (const { header } of everyThread(own)) {
      found.push(`${own.userId}/${header.id}`);
      await assertSound(threadDeps(own), header.id);
    }
  assert.deepEqual(found, ["Ada/Big", "alice/a1", "alice/a1-fork", "alice/subagent-1", "default/t1"]);
  const alice = store.forUser("alice");
  assert.deepEqual(await textsOf(store, "t1"), ["My boat is blue.", "Noted."]);
  assert.deepEqual(await textsOf(alice, "a1-fork"), ["My safe code is 4711.", "Noted.", "Only in the fork."]);
  assert.deepEqual(await alice.sharers("a1", 1), ["a1", "a1-fork"]);
  assert.equal(await store.header("a1"), undefined);
  assert.equal(await createThread(threadDeps(store), { id: "a1" }), "created");
  assert.deepEqual(await collect(store.records("a1")), []);
  const jobs = await store.outbox.list();
  assert.deepEqual(
    jobs.map(({ queue, key, userId, threadId, payload }) => [queue, key, userId, threadId, payload]),
    [["memory", "default", "alice", "a1", { throughSeq: 4 }]],
  );
  assert.equal(await alice.deleteThread("a1"), "deleted");
  assert.deepEqual(await textsOf(alice, "a1-fork"), ["My safe code is 4711.", "Noted.", "Only in the fork."]);
  assert.equal((await store.memories.get("Ada", ""))?.revision, 3, "a memory of one user gets their spelling");
  assert.equal(await store.memories.get("ada", ""), undefined);
  assert.equal((await store.memories.get("alice", ""))?.revision, 1);
  const page = await store.threads({ limit: 1 });
  assert.match(page.next ?? "", /^41~/, "numbers of deleted threads are not given again");
  await store.close();
});
