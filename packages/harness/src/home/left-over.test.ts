import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { freshThread, say } from "@palimpsest/testing/internal/kit";
import { notedStores, noteStore } from "../home-folders.ts";
import { openSqlite } from "../stores/sqlite.ts";
import { fork, withWriter } from "../thread/acts.ts";
import { redact } from "../thread/redact.ts";
import { commit, createThread, threadDeps } from "../thread/writer.ts";
import { checkHome, type HomeCheck } from "./doctor.ts";
import { deleteThreadWithFiles } from "./home-acts.ts";
import { locateHome } from "./open-home.ts";

test("files of a thread that is no more are named, moved aside by a rebuild, and found by no new thread of that name", async (t) => {
  const at = open(t);
  await createThread(at.deps, { id: "kept" });
  for (const threadId of ["kept", "gone"]) at.write(threadId, "note.txt");
  const told = await at.doctor("skip");
  assert.match(told.detail, /^threads\/gone: no thread of this store has these files; delete them if no other store/);
  assert.match((await at.doctor("rebuild", "shared")).detail, /delete them if no other store/);
  assert.ok(existsSync(join(at.home, "threads", "gone")), "another store may know it");
  assert.match((await at.doctor("rebuild")).detail, /moved to .*left-over/);
  assert.deepEqual(readdirSync(join(at.home, "threads")), ["kept"]);
  assert.equal((await at.doctor("rebuild")).name, "nothing");
});

test("files of a thread of another store that was named in this home are not left over, and stay", async (t) => {
  const at = open(t);
  const env = { HOME: at.home };
  const other = join(at.home, "elsewhere.db");
  const home = await locateHome({ home: at.home, cwd: at.home, env, store: other }).open();
  await createThread(home, { id: "there" });
  await home.agent();
  await home.close();
  for (const threadId of ["there", "gone"]) at.write(threadId, "note.txt");
  assert.match((await at.doctor("skip")).detail, /^threads\/gone: no thread of this store has these files/);
  await at.doctor("rebuild");
  assert.deepEqual(readdirSync(join(at.home, "threads")), ["there"]);
  writeFileSync(other, "no database");
  assert.match((await at.doctor("rebuild")).detail, /^threads\/there: .*delete them if no other store/);
  rmSync(other);
  assert.match((await at.doctor("rebuild")).detail, /^threads\/there: .*moved to/, "its store is gone");
});

test("files of a thread of a store that was named by a URL of its file stay", async (t) => {
  const at = open(t);
  const store = pathToFileURL(join(at.home, "elsewhere.db")).href;
  const home = await locateHome({ home: at.home, cwd: at.home, env: { HOME: at.home }, store }).open();
  await createThread(home, { id: "there" });
  await home.agent();
  await home.close();
  at.write("there", "note.txt");
  assert.equal((await at.doctor("rebuild")).name, "nothing");
});

test("the list of a home's other stores names a server without its user, password and parameters", (t) => {
  const { home } = open(t);
  noteStore(home, "postgres://ada:s3cret@odd@db.example:5433/log?password=s3cret&host=db2");
  assert.deepEqual(notedStores(home), ["postgres://db.example:5433/log"]);
});

test("a fork whose files were not all copied says so and is completed", async (t) => {
  const at = open(t);
  await createThread(at.deps, { id: "parent" });
  for (const name of ["a.txt", "b.txt"]) at.write("parent", name);
  await fork(at.deps, "parent", { as: "half", state: { files: { copyFrom: "parent" } } });
  at.write("half", "a.txt");
  assert.match((await at.doctor("skip")).detail, /killed while it copied the files of parent: its next run, or/);
  assert.match((await at.doctor("rebuild")).detail, /the rest was copied/);
  assert.deepEqual(readdirSync(join(at.home, "threads", "half", "uploads")).sort(), ["a.txt", "b.txt"]);
  assert.equal((await at.doctor("skip")).name, "nothing");
});

test("evidence of words that were erased while it was written is erased by a rebuild", async (t) => {
  const at = open(t);
  const [from, to] = [await freshThread(at.store), await freshThread(at.store)];
  await say(from, "The password is hunter2-and-more");
  await say(to, "Which password?");
  for (const { lease } of [from, to]) await at.store.releaseLease(lease);
  const [source, threadId] = [from.lease.threadId, to.lease.threadId];
  await redact(at.deps, source, 1);
  // As a run leaves it that was killed between its write and its second look.
  const evidence = { kind: "evidence", of: 1, text: "hunter2-and-more", ids: [`${source}#1`], hash: "h" } as const;
  await withWriter(at.deps, threadId, (writer) => commit(writer, [evidence]));
  assert.match((await at.doctor("rebuild")).detail, /which were erased while it was written; erased now/);
  for await (const { chained } of at.store.records(threadId)) assert.ok(!chained.body?.includes("hunter2"));
  assert.equal((await at.doctor("rebuild")).name, "nothing");
});

test("deleting a thread whose words are evidence in another one waits for that one", async (t) => {
  const at = open(t);
  const [from, to] = [await freshThread(at.store), await freshThread(at.store)];
  await say(from, "The password is hunter2-and-more");
  await say(to, "Which password?");
  await commit(to, [
    { kind: "evidence", of: 1, text: "hunter2-and-more", ids: [`${from.lease.threadId}#1`], hash: "h" },
  ]);
  await at.store.releaseLease(from.lease);
  const refused = await deleteThreadWithFiles(at.deps, at.home, from.lease.threadId);
  assert.deepEqual(refused, { kind: "busy", threadId: to.lease.threadId });
  await at.store.releaseLease(to.lease);
  assert.equal((await deleteThreadWithFiles(at.deps, at.home, from.lease.threadId)).kind, "deleted");
});

function open(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), "palimpsest-left-"));
  const path = join(home, "palimpsest.db");
  const store = openSqlite({ path });
  t.after(async () => {
    await store.close();
    rmSync(home, { recursive: true });
  });
  return {
    home,
    store,
    deps: threadDeps(store),
    write(threadId: string, name: string) {
      const folder = join(home, "threads", threadId, "uploads");
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, name), "x");
    },
    /** The one check that found something. */
    async doctor(derived: "skip" | "rebuild", folders: "own" | "shared" = "own"): Promise<HomeCheck> {
      const checks = await checkHome({
        home,
        cwd: home,
        env: {},
        derived,
        folders,
        open: async () => openSqlite({ path }),
      });
      const bad = checks.filter(({ ok }) => !ok);
      assert.ok(bad.length < 2, JSON.stringify(bad));
      return bad[0] ?? { name: "nothing", ok: true, detail: "" };
    },
  };
}
