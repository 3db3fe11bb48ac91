import assert from "node:assert/strict";
import { test } from "node:test";
import { sizeAfter, sizeAt, tryRange } from "./window-size.ts";

test("a hand and keys stay within what can be tried, in round figures", () => {
  const range = tryRange(8_000, 93_643.5);
  assert.deepEqual(range, { least: 500, most: 93_644 });
  assert.equal(sizeAt(0.5, range), 47_000);
  assert.deepEqual([sizeAt(-1, range), sizeAt(7, range)], [500, 93_644]);
  assert.equal(sizeAfter("ArrowLeft", 8_000, range), 6_100);
  assert.equal(sizeAfter("Home", 8_000, range), 500);
  assert.equal(sizeAfter("End", 8_000, range), 93_644);
  assert.equal(sizeAfter("x", 8_000, range), null);
  assert.deepEqual(tryRange(100, 0), { least: 100, most: 500 });
});
