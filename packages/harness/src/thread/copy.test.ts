import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { bothEngines, ENGINES } from "@palimpsest/testing/internal/both-engines";
import { citusStore, noCitus } from "@palimpsest/testing/internal/citus";
import { collect } from "@palimpsest/testing/internal/kit";
import { say, writeThread } from "@palimpsest/testing/internal/thread-writer";
import { assertSame, NOT_COPIED } from "../../test/threads/same-store.ts";
import { openStore, storeTarget } from "../stores/open.ts";
import type { Store } from "../stores/store.ts";
import { StoreError } from "../stores/store-error.ts";
import { fork, undo } from "./acts.ts";
import { copyStore } from "./copy.ts";
import { redact } from "./redact.ts";
import { commit, threadDeps, type Writer } from "./writer.ts";

const engines = bothEngines();

for (const source of ENGINES) {
  const target = source === "SQLite" ? "PostgreSQL" : "SQLite";
  test(`${source} to ${target}: records, hashes, forks, heads and redactions arrive as they were`, async () => {
    const [from, to] = [await openStore(engines.fresh(source)), await openStore(engines.fresh(target))];
    await family(from);
    const report = await copyStore(from, to);
    assert.deepEqual(
      { ...report, records: 0 },
      { copied: 4, present: 0, records: 0, failed: [], memories: NOT_COPIED },
    );
    await assertSame(from, to);
    assert.deepEqual(await to.sharers("parent", 2), ["parent", "fork", "fork-of-fork"]);
    assert.deepEqual(await copyStore(from, to), {
      copied: 0,
      present: 4,
      records: 0,
      failed: [],
      memories: NOT_COPIED,
    });
    await Promise.all([from.close(), to.close()]);
  });
}

test("SQLite to Citus, from there to PostgreSQL and back to Citus and SQLite: everything arrives as it was", {
  skip: noCitus ?? false,
}, async (t) => {
  const [one, other] = [await citusStore(), await citusStore()];
  const targets = [engines.fresh("SQLite"), one.url, engines.fresh("PostgreSQL"), other.url, engines.fresh("SQLite")];
  const stores = await Promise.all(targets.map((target) => openStore(target)));
  t.after(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await Promise.all([one.drop(), other.drop()]);
  });
  await family(stores[0]!);
  for (const [index, to] of stores.slice(1).entries()) {
    const { copied, failed } = await copyStore(stores[index]!, to);
    assert.deepEqual({ copied, failed }, { copied: 4, failed: [] });
    await assertSame(stores[0]!, to);
  }
});

test("what was erased in the source after an earlier copy is erased in the target by the next one", async () => {
  const [from, to] = [await openStore(engines.fresh("SQLite")), await openStore(engines.fresh("PostgreSQL"))];
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
  const [from, to] = [await openStore(engines.fresh("SQLite")), await openStore(engines.fresh("PostgreSQL"))];
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

test("a thread that was copied can be written in the target at once", async () => {
  const [from, to] = [await openStore(engines.fresh("SQLite")), await openStore(engines.fresh("SQLite"))];
  await say(await writeThread(from, "t"), "from the source");
  assert.equal((await copyStore(from, to)).copied, 1);
  assert.equal((await to.acquireLease("t", "a writer", 60_000)).kind, "acquired");
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
