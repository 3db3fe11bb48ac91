// A primary with a standby that takes its place: real servers, the one a copy of the other that follows it.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { replayed, sqlOn, startPostgresProxy, startStandby } from "@palimpsest/testing/internal/postgres-faults";
import { type PostgresServer, startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { say, writeThread } from "@palimpsest/testing/internal/thread-writer";
import { verify } from "../thread/audit.ts";
import { prepare, threadDeps } from "../thread/writer.ts";
import { openPostgres } from "./postgres.ts";

test("a store whose address leads to a standby waits until that is promoted, and then writes there; what was acknowledged is there", async (t) => {
  const { primary, standby } = await pair(t, "synchronous");
  const proxy = await startPostgresProxy(primary);
  const store = await openPostgres(proxy.url(), { reconnectMs: 180_000 });
  t.after(async () => {
    await store.close();
    await proxy.stop();
  });
  const writer = await writeThread(store, "t");
  await say(writer, "one", "two");
  await store.shared!.runs.put({ id: "r", threadId: "t", model: null, request: null, holder: "h", ttlMs: 60_000 });
  await replayed(primary, standby);
  await primary.crash();
  proxy.switchTo(standby);
  const late = say(writer, "three");
  const found = store.shared!.runs.find({ threadId: "t" });
  while ((await refusalsOf(standby)) === 0) await pause(20);
  await sqlOn(standby, "SELECT pg_promote()");
  assert.equal((await late).kind, "committed");
  assert.equal(await found, undefined, "unlogged rows don't reach a standby");
  assert.deepEqual(await verify(threadDeps(store), "t"), { kind: "whole", records: 3, redacted: [], rewritten: [] });
});

test("a standby that lagged takes over without the last words: a writer that knows more is refused, leases that went back let nobody write late, and the log is whole", async (t) => {
  const { primary, standby } = await pair(t, "asynchronous");
  const proxy = await startPostgresProxy(primary);
  const [one, other] = [
    await openPostgres(proxy.url(), { reconnectMs: 180_000 }),
    await openPostgres(proxy.url(), { reconnectMs: 180_000 }),
  ];
  t.after(async () => {
    await one.close();
    await other.close();
    await proxy.stop();
  });
  const before = await writeThread(one, "t", {}, 1);
  await say(before, "one", "two");
  await replayed(primary, standby);
  await standby.halt();
  await say(before, "three, which is lost");
  const later = await one.acquireLease("t", "a later writer", 60_000);
  assert.equal(later.kind, "acquired");
  const known = (await one.head("t"))!;
  await primary.crash();
  await standby.start();
  await sqlOn(standby, "SELECT pg_promote()");
  proxy.switchTo(standby);
  const ahead = await prepare(before, known, []);
  assert.deepEqual(await one.append("t", ahead), { kind: "conflict", version: 2 }, "nobody has taken its lease there");
  const taken = await other.acquireLease("t", "another writer", 60_000);
  assert.ok(taken.kind === "acquired" && later.kind === "acquired" && taken.lease.epoch === later.lease.epoch);
  const own = { ...threadDeps(other), lease: taken.lease };
  await say(own, "another three");
  const stale = { ...threadDeps(one), lease: later.lease };
  // The log is as long as the stale writer knows it, and its lease has the number of the one that holds now.
  assert.equal((await other.head("t"))!.version, known.version);
  assert.deepEqual(await one.append("t", await prepare(stale, known, [])), { kind: "lease-lost" });
  assert.deepEqual(await verify(threadDeps(one), "t"), { kind: "whole", records: 3, redacted: [], rewritten: [] });
});

interface Pair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
}

async function pair(t: TestContext, mode: "synchronous" | "asynchronous"): Promise<Pair> {
  const primary = await startPostgres();
  const standby = await startStandby(primary, mode);
  t.after(async () => {
    await standby.stop();
    await primary.stop();
  });
  return { primary, standby };
}

/** How often the standby has taken something back, which a refused statement is. */
async function refusalsOf(server: PostgresServer): Promise<number> {
  const [row] = await sqlOn(server, "SELECT xact_rollback AS n FROM pg_stat_database WHERE datname = 'postgres'");
  return Number(row!["n"]);
}
