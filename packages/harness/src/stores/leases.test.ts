/** A claimed lease against what may still be under way: heartbeats and appends whose answers come late. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { freshThread } from "@palimpsest/testing/internal/kit";
import { prepare } from "../thread/writer.ts";
import { claimLease } from "./leases.ts";
import { openSqlite } from "./sqlite.ts";
import type { FullStore, Store } from "./store.ts";

interface Held {
  /** The store, whose given method waits before each call until it is let go. */
  readonly store: Store;
  /** Resolves when the first call has come. */
  readonly called: Promise<void>;
  letGo(): void;
}

function holding(store: FullStore, method: "renewLease" | "appendFirst"): Held {
  const [called, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const held = async (...args: unknown[]) => {
    called.resolve();
    await open.promise;
    return (store[method] as (...args: unknown[]) => unknown)(...args);
  };
  return { store: { ...store, [method]: held } as Store, called: called.promise, letGo: open.resolve };
}

/** A thread with one record whose lease is free, and two connections to it. */
async function freeThread(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
  const [store, other] = [openSqlite({ path: join(folder, "a.db") }), openSqlite({ path: join(folder, "a.db") })];
  t.after(async () => {
    await Promise.all([store.close(), other.close()]);
    rmSync(folder, { recursive: true });
  });
  const writer = await freshThread(store);
  const { threadId } = writer.lease;
  await store.releaseLease(writer.lease);
  const batch = async (title: string) => {
    const head = (await store.head(threadId))!;
    return { batch: await prepare(writer, head, [{ kind: "state", patch: { title } }]), after: head.hash };
  };
  return { store, other, threadId, batch };
}

test("a heartbeat that comes after the last append doesn't hold the thread again, nor end the run", async (t) => {
  const { store, other, threadId, batch } = await freeThread(t);
  const held = holding(store, "renewLease");
  const claim = claimLease(held.store, threadId, { owner: "run", heartbeatMs: 1 });
  assert.equal(await claim.take(), "taken");
  await held.called;
  const last = await batch("last");
  const appended = claim.append({ ...last.batch, leaseAfter: "released" }, last.after);
  held.letGo();
  assert.equal((await appended).kind, "appended");
  await claim.release();
  assert.equal(claim.lost.aborted, false);
  assert.equal((await other.acquireLease(threadId, "next", 1000)).kind, "acquired");
});

test("a heartbeat of a lease that was given back doesn't end the run that has taken it again", async (t) => {
  const { store, threadId, batch } = await freeThread(t);
  const held = holding(store, "renewLease");
  const claim = claimLease(held.store, threadId, { owner: "run", heartbeatMs: 1 });
  await claim.take();
  await held.called;
  const last = await batch("last");
  assert.equal((await claim.append({ ...last.batch, leaseAfter: "released" }, last.after)).kind, "appended");
  const more = await batch("more");
  assert.equal((await claim.append(more.batch, more.after)).kind, "appended");
  held.letGo();
  for (let turn = 0; turn < 20; turn += 1) await new Promise((wake) => setImmediate(wake));
  assert.equal(claim.lost.aborted, false);
  await claim.release();
});

test("a run that is given up while its first append is under way leaves no lease behind", async (t) => {
  const { store, other, threadId, batch } = await freeThread(t);
  const held = holding(store, "appendFirst");
  const claim = claimLease(held.store, threadId, { owner: "run", heartbeatMs: 1 });
  const first = await batch("first");
  const appended = claim.append(first.batch, first.after);
  await held.called;
  await claim.release();
  held.letGo();
  assert.equal((await appended).kind, "appended");
  assert.equal((await other.acquireLease(threadId, "next", 1000)).kind, "acquired");
});
