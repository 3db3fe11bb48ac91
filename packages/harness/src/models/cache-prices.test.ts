import assert from "node:assert/strict";
import { test } from "node:test";
import { RELATIVE_PRICES } from "@palimpsest/core/internal/pricing";
import { cachePrices } from "./facts.ts";

test("a model is priced by its own list, one that nobody knows by shares of an input token", () => {
  const minutes = 60_000;
  assert.deepEqual(cachePrices("claude-opus-4-5"), {
    input: 5,
    output: 25,
    cacheRead: 0.5,
    cacheWrite: 6.25,
    ttlMs: 5 * minutes,
  });
  assert.deepEqual(cachePrices("gpt-5"), {
    input: 1.25,
    output: 10,
    cacheRead: 0.125,
    cacheWrite: 1.25,
    ttlMs: 10 * minutes,
  });
  assert.equal(cachePrices("local-model"), RELATIVE_PRICES);
});

test("prices that are given come first; what they leave out of the cache is in the ratio that is known, else the price of input", () => {
  const given = { input: 10, output: 40 };
  for (const [model, prices, expected] of [
    ["claude-opus-4-5", given, { cacheRead: 1, cacheWrite: 12.5 }],
    ["gpt-5", given, { cacheRead: 1, cacheWrite: 10 }],
    ["local-model", given, { cacheRead: 10, cacheWrite: 10 }],
    ["claude-opus-4-5", { ...given, cacheRead: 2 }, { cacheRead: 2, cacheWrite: 12.5 }],
    ["local-model", { ...given, cacheRead: 0, cacheWrite: 0 }, { cacheRead: 0, cacheWrite: 0 }],
  ] as const) {
    const { ttlMs: _, ...priced } = cachePrices(model, prices);
    assert.deepEqual(priced, { ...given, ...expected }, model);
  }
});
