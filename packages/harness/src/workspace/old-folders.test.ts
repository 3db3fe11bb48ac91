import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { threadFolder } from "../home-folders.ts";
import { openSqlite } from "../stores/sqlite.ts";
import { createThread, threadDeps } from "../thread/threads.ts";
import { adoptOldFolders } from "./old-folders.ts";

test("folders of before are moved to their users, once, and a new thread of that id doesn't find them", async (t) => {
  const { home, store, make, thread } = open(t);
  for (const [userId, id] of [
    ["alice", "a1"],
    ["default", "t1"],
    ["default", "Big"],
    ["Ada", "Own"],
  ] as const) {
    await thread(userId, id);
    make(id, `${userId}'s`);
  }
  make("nobody", "nobody's");
  await adoptOldFolders(home, store);
  const note = (userId: string, id: string) =>
    readFileSync(join(threadFolder(home, { user: userId, id }), "note.txt"), "utf8");
  assert.equal(note("alice", "a1"), "alice's");
  assert.equal(note("default", "t1"), "default's");
  assert.equal(note("default", "Big"), "default's");
  assert.equal(note("Ada", "Own"), "Ada's");
  assert.deepEqual(readdirSync(join(home, "threads")).sort(), ["%42ig", ".by-user", "nobody", "t1"]);
  await thread("default", "a1");
  assert.ok(!existsSync(threadFolder(home, { user: "default", id: "a1" })));
  await thread("bob", "t1");
  await adoptOldFolders(home, store);
  assert.equal(note("default", "t1"), "default's", "what lies there now is the default user's");
});

test("a folder that the default user may have is left to them, and a new home is marked at once", async (t) => {
  const { home, store, make, thread } = open(t);
  for (const userId of ["alice", "default"]) await thread(userId, "both");
  make("both", "the default user's");
  await adoptOldFolders(home, store);
  assert.ok(existsSync(join(home, "threads", "both", "note.txt")));
  const empty = join(home, "empty");
  await adoptOldFolders(empty, store);
  assert.deepEqual(readdirSync(join(empty, "threads")), [".by-user"]);
});

function open(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), "palimpsest-old-"));
  const store = openSqlite({ path: ":memory:" });
  t.after(async () => {
    await store.close();
    rmSync(home, { recursive: true });
  });
  return {
    home,
    store,
    thread: (userId: string, id: string) => createThread(threadDeps(store.forUser(userId)), { id }),
    make(id: string, text: string) {
      mkdirSync(join(home, "threads", id), { recursive: true });
      writeFileSync(join(home, "threads", id, "note.txt"), text);
    },
  };
}
