/** Leases: one writer at a time, told apart by epochs, timed by the database. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { withLease } from "palimpsest/internal/stores";
import { prepare, withWriter } from "palimpsest/internal/threads";
import type { Store } from "palimpsest/stores";
import { assertSound, type Cases, freshThread, headOf, lease, say, textsOf } from "./kit.ts";

export const leaseCases: Cases = {
  "a lease that was given back can't be renewed: a late heartbeat would hold the thread for nobody": async (suite) => {
    const { store, lease } = await freshThread(suite.store());
    await store.releaseLease(lease);
    assert.equal(await store.renewLease(lease, 30_000), "lost");
    const next = await store.acquireLease(lease.threadId, "next", 30_000);
    assert.equal(next.kind, "acquired");
  },

  "[F44] a second owner gets busy, with who holds it, since its last renewal and until when": async (suite) => {
    const writer = await freshThread(suite.store());
    const result = await writer.store.acquireLease(writer.lease.threadId, "another", 30_000);
    assert.equal(result.kind, "busy");
    assert.equal(result.kind === "busy" && result.owner, "owner");
    assert.ok(result.kind === "busy" && Date.parse(result.renewedAt) < Date.parse(result.expiresAt));
  },

  "[F44] whoever doesn't hold the lease can't append": async (suite) => {
    const writer = await freshThread(suite.store());
    const { threadId, epoch } = writer.lease;
    for (const forged of [
      { threadId, owner: "another", epoch },
      { threadId, owner: "owner", epoch: epoch - 1 },
      { threadId, owner: "owner", epoch: epoch + 1 },
    ])
      assert.deepEqual(await say({ ...writer, lease: forged }, "no"), { kind: "lease-lost" });
    const other = await freshThread(suite.store());
    const batch = await prepare(other, await headOf(other.store, other.lease.threadId), []);
    assert.deepEqual(await writer.store.append(threadId, batch), { kind: "lease-lost" });
    assert.equal((await headOf(writer.store, threadId)).version, 0);
  },

  "a lease that was taken over is lost: its late answer isn't written": async (suite) => {
    const writer = await freshThread(suite.store());
    const { store } = writer;
    await say(writer, "in time");
    await store.renewLease(writer.lease, 1);
    await sleep(20);
    const next = { ...writer, lease: await lease(store, writer.lease.threadId, "successor") };
    assert.equal(next.lease.epoch, writer.lease.epoch + 1);
    assert.deepEqual(await say(writer, "too late"), { kind: "lease-lost" });
    assert.equal(await store.renewLease(writer.lease, 30_000), "lost");
    await store.releaseLease(writer.lease);
    await say(next, "mine");
    assert.deepEqual(await textsOf(store, writer.lease.threadId), ["in time", "mine"]);
    await assertSound(writer, writer.lease.threadId);
  },

  "a lease given back is free at once, and epochs only grow": async (suite) => {
    const writer = await freshThread(suite.store());
    const { store } = writer;
    await store.releaseLease(writer.lease);
    const second = await lease(store, writer.lease.threadId, "second");
    await store.releaseLease(second);
    const third = await lease(store, writer.lease.threadId, "third");
    assert.deepEqual([second.epoch, third.epoch], [writer.lease.epoch + 1, writer.lease.epoch + 2]);
  },

  "a heartbeat renews a lease while the work goes on, and the work hears when it is lost": async (suite) => {
    const writer = await freshThread(suite.store());
    const { store } = writer;
    const { threadId } = writer.lease;
    await store.releaseLease(writer.lease);
    const result = await withLease(store, threadId, { owner: "runner", heartbeatMs: 20 }, async (held, signal) => {
      const first = await heldUntil(store, threadId);
      while ((await heldUntil(store, threadId)) <= first) await sleep(10);
      // The same owner may take it again, which makes the first holder's epoch stale.
      await lease(store, threadId, "runner");
      // By a timer of our own: a heartbeat keeps no process alive.
      while (!signal.aborted) await sleep(10);
      return held.epoch;
    });
    assert.equal(result.kind, "done");
  },

  "the lease is given back when the work throws": async (suite) => {
    const writer = await freshThread(suite.store());
    await writer.store.releaseLease(writer.lease);
    const failing = withWriter(writer, writer.lease.threadId, async () => {
      throw new Error("the work failed");
    });
    await assert.rejects(failing, /the work failed/);
    await lease(writer.store, writer.lease.threadId, "next");
  },

  "[F41] a thread in use isn't deleted": async (suite) => {
    const writer = await freshThread(suite.store());
    assert.equal(await writer.store.deleteThread(writer.lease.threadId), "busy");
    await writer.store.releaseLease(writer.lease);
    assert.equal(await writer.store.deleteThread(writer.lease.threadId), "deleted");
    assert.equal(await writer.store.head(writer.lease.threadId), undefined);
    assert.deepEqual(await textsOf(writer.store, writer.lease.threadId), []);
  },
};

/** When a held lease expires, as reported to other callers. */
async function heldUntil(store: Store, threadId: string): Promise<number> {
  const asked = await store.acquireLease(threadId, "another", 1000);
  assert.equal(asked.kind, "busy");
  return asked.kind === "busy" ? Date.parse(asked.expiresAt) : 0;
}
