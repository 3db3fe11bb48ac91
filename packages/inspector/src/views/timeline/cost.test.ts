import assert from "node:assert/strict";
import { test } from "node:test";
import { cacheShare, costOf, pricesFor } from "./cost.ts";

const prices = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

test("what the cache held is cheaper, and what nobody prices costs nothing that is known", () => {
  assert.equal(costOf({ input: 1_000_000, output: 0 }, prices), 3);
  assert.equal(costOf({ input: 1_000_000, cacheRead: 1_000_000, output: 100_000 }, prices), 1.8);
  assert.equal(cacheShare({ input: 200, cacheRead: 50 }), 0.25);
  assert.equal(cacheShare({ input: 0 }), 0);
  const models = [
    { name: "main", model: "gpt-5", prices },
    { name: "offline", model: "offline", prices: null },
  ];
  assert.deepEqual(
    [pricesFor(models, "gpt-5"), pricesFor(models, "offline"), pricesFor(models, "x")],
    [prices, null, null],
  );
});
