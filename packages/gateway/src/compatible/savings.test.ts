import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cacheShare, compactedTokens, moneyOf, wholeTokens } from "./outcome.ts";

test("what all of it would count is scaled from bytes, and is never less than what was sent", () => {
  assert.equal(wholeTokens(1000, { whole: 4000, sent: 4000 }), 1000);
  assert.equal(wholeTokens(1000, { whole: 40_000, sent: 4000 }), 10_000);
  assert.equal(wholeTokens(1000, { whole: 10, sent: 4000 }), 1000, "a summary may be longer than what it stands for");
  assert.equal(wholeTokens(0, { whole: 10, sent: 0 }), 0);
});

test("what would be sent grows to the trigger, falls to the low-water mark and grows again", () => {
  const tooth = { trigger: 1000, lowWater: 400 };
  const rows = [
    [0, 0],
    [999, 999],
    [1000, 400],
    [1599, 999],
    [1600, 400],
    [100_000, 400],
  ] as const;
  for (const [whole, sent] of rows) assert.equal(compactedTokens(whole, tooth), sent, `${whole}`);
  const any = fc.integer({ min: 1, max: 1_000_000 });
  fc.assert(
    fc.property(any, any, any, (whole, trigger, lowWater) => {
      const sent = compactedTokens(whole, { trigger, lowWater: Math.min(lowWater, trigger) });
      assert.ok(sent <= Math.max(whole, trigger));
    }),
  );
});

test("money: at the price the rest of the prompt had, at the cache's where nothing is known, and not at all without prices", () => {
  const prices = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 };
  const cold = { input: 1_000_000, output: 100_000, cacheRead: 0, cacheWrite: 0 };
  assert.deepEqual(moneyOf(500_000, cold, prices), { spent: 3, saved: 1 });
  assert.deepEqual(moneyOf(500_000, { ...cold, cacheRead: 1_000_000 }, prices), { spent: 1.2, saved: 0.1 });
  assert.deepEqual(moneyOf(500_000, null, prices), { spent: null, saved: 0.1 });
  assert.equal(moneyOf(500_000, cold, null), null);
});

test("the cache's share is that of the prompt, where one was reported", () => {
  assert.equal(cacheShare({ input: 200, cacheRead: 50 }), 0.25);
  assert.equal(cacheShare({ input: 0, cacheRead: 0 }), null);
  assert.equal(cacheShare(null), null);
});
