// node --expose-gc lets it also look at the heap.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzz } from "../test/fuzz.ts";

test("20,000 random requests made of the description: no 500, no hang, no growth", async (t) => {
  const { faults, statuses, heap } = await fuzz(t, { requests: 20_000, seed: 1 });
  t.diagnostic(JSON.stringify({ statuses, heap }));
  assert.deepEqual(faults.slice(0, 20), []);
  if ("gc" in globalThis) assert.ok(heap[1] - heap[0] < 64 << 20, `the heap grew from ${heap[0]} to ${heap[1]} bytes`);
});
