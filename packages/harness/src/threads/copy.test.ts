import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openStore, storeTarget } from "../stores/open.ts";
import type { Store } from "../stores/store.ts";
import { StoreError } from "../stores/store-error.ts";
import { collect } from "../testing/conformance/kit.ts";
import { type PostgresServer, startPostgres } from "../testing/postgres-server.ts";
import { say, writeThread } from "../testing/thread-writer.ts";
import { rebuildHead } from "./audit.ts";
import { copyStore } from "./copy.ts";
import { fork, redact, threadDeps, undo, verify, type Writer } from "./index.ts";
import { commit } from "./writer.ts";

const folder = mkdtempSync(join(tmpdir(), "palimpsest-copy-"));
let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const NONE = { copied: 0, present: 0, failed: [] };
const file = (name: string) => join(folder, `${name}.db`);
const schema = (name: string) => `${server.url()}&schema=${name}`;

for (const [title, source, target] of [
  ["SQLite to PostgreSQL", () => file("there"), () => schema("there")],
  ["PostgreSQL to SQLite", () => schema("back"), () => file("back")],
] as const) {
  test(`${title}: records, hashes, forks, heads and redactions arrive as they were`, async () => {
    const [from, to] = [await openStore(source()), await openStore(target())];
    await family(from);
    const report = await copyStore(from, to);
    assert.deepEqual({ ...report, records: 0 }, { copied: 4, present: 0, records: 0, failed: [], memories: NONE });
    await assertSame(from, to);
    assert.deepEqual(await to.sharers("parent", 2), ["parent", "fork", "fork-of-fork"]);
    assert.deepEqual(await copyStore(from, to), { copied: 0, present: 4, records: 0, failed: [], memories: NONE });
    await Promise.all([from.close(), to.close()]);
  });

  test(`${title}: a copy killed at any moment goes on where it was`, async () => {
    const name = title.startsWith("SQLite") ? "killed_there" : "killed_back";
    const [source, target] = title.startsWith("SQLite") ? [file(name), schema(name)] : [schema(name), file(name)];
    const [from, to] = [await openStore(source), await openStore(target)];
    for (const id of ["a", "b"]) {
      const writer = await writeThread(from, id);
      await say(writer, ...Array.from({ length: 1200 }, (_, index) => `message ${index}`));
      await from.releaseLease(writer.lease);
    }
    let kills = 0;
    while ((await to.head("b"))?.version !== 1200) {
      if (kills === 6) await copyStore(from, to);
      else await copyUntilKilled(source, target);
      kills += 1;
    }
    const report = await copyStore(from, to);
    assert.deepEqual(report, { copied: 0, present: 2, records: 0, failed: [], memories: NONE });
    await assertSame(from, to);
    await Promise.all([from.close(), to.close()]);
  });
}

test("what was erased in the source after an earlier copy is erased in the target by the next one", async () => {
  const [from, to] = [await openStore(file("erased")), await openStore(schema("erased"))];
  const writer = await writeThread(from, "t");
  await say(writer, "the password is swordfish", "noted");
  await copyStore(from, to);
  await from.releaseLease(writer.lease);
  assert.equal((await redact(threadDeps(from), "t", 1)).kind, "redacted");
  await copyStore(from, to);
  await assertSame(from, to);
  const bodies = (await collect(to.records("t"))).map(({ chained }) => chained.body);
  assert.equal(bodies.join().includes("swordfish"), false);
  await Promise.all([from.close(), to.close()]);
});

test("a thread of the same name with another history is reported and left alone; one in use says so", async () => {
  const [from, to] = [await openStore(file("mixed")), await openStore(schema("mixed"))];
  for (const id of ["other", "used", "fine"]) await say(await writeThread(from, id), "from the source");
  await say(await writeThread(to, "other"), "from the target");
  await writeThread(to, "used");
  const report = await copyStore(from, to);
  assert.deepEqual(
    report.failed.map(({ thread, reason }) => [thread, reason]),
    [
      ["other", "different"],
      ["used", "busy"],
    ],
  );
  assert.equal(report.copied, 1);
  const [kept] = await collect(to.records("other"));
  assert.match(kept!.chained.body!, /from the target/);
  await Promise.all([from.close(), to.close()]);
});

test("a store is named by a path or a postgres URL; anything else is refused with the choices", async () => {
  assert.equal(storeTarget(null, "/home/x"), join("/home/x", "palimpsest.db"));
  assert.equal(storeTarget("data/log.db", "/home/x"), join("/home/x", "data", "log.db"));
  assert.equal(storeTarget("postgres://h/d", "/home/x"), "postgres://h/d");
  await assert.rejects(openStore("mysql://root:hunter2@host/db"), (error: unknown) => {
    assert.ok(error instanceof StoreError);
    assert.match(error.message, /postgres:\/\//);
    assert.doesNotMatch(error.message, /hunter2/);
    return error.code === "bad-url";
  });
});

/** A parent, a fork, a fork of the fork, a sub-agent; with state, a compaction undone, and an erased shared message. */
async function family(store: Store): Promise<void> {
  const parent = await writeThread(store, "parent");
  await say(parent, ...Array.from({ length: 700 }, (_, index) => `message ${index} \u0000 "quoted" 😀`));
  await commit(parent, [{ kind: "state", patch: { title: "A title" } }]);
  await compact(parent, [1, 10]);
  await undo(parent);
  await store.releaseLease(parent.lease);
  await fork(threadDeps(store), "parent", { as: "fork", at: 600 });
  await say(await writeThread(store, "fork"), "own way");
  await fork(threadDeps(store), "fork", { as: "fork-of-fork", at: 300 });
  await store.releaseLease((await writeThread(store, "fork")).lease);
  await say(await writeThread(store, "helper", { kind: "subagent", parent: "parent" }), "done");
  assert.equal((await redact(threadDeps(store), "fork-of-fork", 2)).kind, "redacted");
}

function compact(writer: Writer, covers: [number, number]) {
  const summary = { text: "so far", format: "pair" as const, digest: null, state: null };
  const counts = { tokensBefore: 10, tokensAfter: 1 };
  const rest = { folds: null, request: null, systems: [], rung: "extract" as const, reason: "test", archive: null };
  return commit(writer, [{ kind: "compaction", covers, summary, ...counts, ...rest }]);
}

async function assertSame(from: Store, to: Store): Promise<void> {
  const [a, b] = [await from.threads({ limit: 100 }), await to.threads({ limit: 100 })];
  assert.deepEqual(b.threads, a.threads);
  for (const { header } of a.threads) {
    const read = async (store: Store) =>
      (await collect(store.records(header.id))).map(({ chained, redacted }) => ({ chained, redacted }));
    assert.deepEqual(await read(to), await read(from));
    assert.deepEqual(await to.head(header.id), await from.head(header.id));
    assert.equal((await verify(threadDeps(to), header.id)).kind, "whole");
    assert.equal((await rebuildHead(threadDeps(to), header.id)).kind, "equal");
  }
}

async function copyUntilKilled(source: string, target: string): Promise<void> {
  const local = (path: string) => JSON.stringify(new URL(path, import.meta.url));
  const script = `import { copyStore } from ${local("./copy.ts")};
    import { openStore } from ${local("../stores/open.ts")};
    const [from, to] = [await openStore(${JSON.stringify(source)}), await openStore(${JSON.stringify(target)})];
    await copyStore(from, to, { onProgress: () => process.stdout.write("batch\\n") });`;
  const args = ["--conditions=palimpsest-source", "--input-type=module", "-e", script];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  await Promise.race([once(child.stdout, "data"), closed]);
  child.kill("SIGKILL");
  await closed;
}
