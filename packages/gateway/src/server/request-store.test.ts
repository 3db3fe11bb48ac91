import assert from "node:assert/strict";
import { test } from "node:test";
import { createThread } from "palimpsest/internal/threads";
import { threadDeps } from "palimpsest/session";
import { openStore } from "palimpsest/stores";
import { requestStore } from "./request-store.ts";

test("a lease that comes after the store was given up is given back: the thread is free", async (t) => {
  const store = await openStore(":memory:");
  t.after(() => store.close());
  await createThread(threadDeps(store), { id: "t" });
  const { promise: wait, resolve: go } = Promise.withResolvers<void>();
  const { promise: released, resolve: isReleased } = Promise.withResolvers<void>();
  const slow = requestStore(
    {
      ...store,
      acquireLease: (...given) => wait.then(() => store.acquireLease(...given)),
      releaseLease: (lease) => store.releaseLease(lease).then(isReleased),
    },
    { took: () => {}, health: { failed: () => {}, wrote: () => {} }, silenceMs: 1 },
  );
  await assert.rejects(slow.acquireLease("t", "late", 60_000), { code: "store-silent" });
  go();
  await released;
  assert.equal((await store.acquireLease("t", "next", 60_000)).kind, "acquired");
});

test("a first append that comes too late gives its lease back, too", async (t) => {
  const store = await openStore(":memory:");
  t.after(() => store.close());
  const { promise: released, resolve } = Promise.withResolvers<unknown>();
  const lease = { threadId: "t", owner: "late", epoch: 1 };
  const { promise: appended, resolve: append } = Promise.withResolvers<{ kind: "moved"; lease: typeof lease }>();
  const slow = requestStore(
    { ...store, appendFirst: () => appended, releaseLease: async (late) => resolve(late) },
    { took: () => {}, health: { failed: () => {}, wrote: () => {} }, silenceMs: 1 },
  );
  const batch = { expect: 0, records: [], head: {} as never, lease };
  await assert.rejects(slow.appendFirst!("t", batch, { ttlMs: 60_000, after: "" }), { code: "store-silent" });
  append({ kind: "moved", lease });
  assert.deepEqual(await released, lease);
});
