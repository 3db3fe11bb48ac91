import assert from "node:assert/strict";
import { test } from "node:test";
import { openStore } from "palimpsest/stores";
import { createThread, threadDeps } from "palimpsest/threads";
import { watchedStore } from "./watched-store.ts";

test("a lease that comes after the store was given up is given back: the thread is nobody's", async (t) => {
  const store = await openStore(":memory:");
  t.after(() => store.close());
  await createThread(threadDeps(store), { id: "t" });
  const { promise: wait, resolve: go } = Promise.withResolvers<void>();
  const { promise: released, resolve: isReleased } = Promise.withResolvers<void>();
  const slow = watchedStore(
    {
      ...store,
      acquireLease: (...given) => wait.then(() => store.acquireLease(...given)),
      releaseLease: (lease) => store.releaseLease(lease).then(isReleased),
    },
    1,
  );
  await assert.rejects(slow.acquireLease("t", "late", 60_000), { code: "store-silent" });
  go();
  await released;
  assert.equal((await store.acquireLease("t", "next", 60_000)).kind, "acquired");
});
