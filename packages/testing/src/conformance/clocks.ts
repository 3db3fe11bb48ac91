/** Leases when a clock was ahead and has been set right, for a store whose time a test can move. */
import assert from "node:assert/strict";
import { type Cases, freshThread, type Suite, say } from "./kit.ts";

export interface ClockSuite extends Suite {
  readonly setClockBack: (ms: number) => Promise<void>;
}

export const clockCases: Cases<ClockSuite> = {
  "a lease outlasts its time by no clock: one that was ahead leaves no thread locked": async (suite) => {
    const [given, kept] = [await freshThread(suite.store()), await freshThread(suite.store())];
    await say(given, "ended well");
    await given.store.releaseLease(given.lease);
    await suite.setClockBack(24 * 60 * 60_000);
    for (const { store, lease: before } of [given, kept]) {
      const taken = await store.acquireLease(before.threadId, "later", 30_000);
      assert.equal(taken.kind, "acquired");
      const busy = await store.acquireLease(before.threadId, "another", 30_000);
      assert.equal(busy.kind, "busy", "the new one holds");
      assert.ok(busy.kind === "busy" && Date.parse(busy.expiresAt) < Date.now() + 60_000);
    }
    assert.deepEqual(await say(kept, "too late"), { kind: "lease-lost" });
    await suite.setClockBack(24 * 60 * 60_000);
    assert.equal(await kept.store.deleteThread(kept.lease.threadId), "deleted", "nor does it hold a deletion up");
  },
};
