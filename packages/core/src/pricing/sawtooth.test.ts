import assert from "node:assert/strict";
import { test } from "node:test";
import { RELATIVE_PRICES } from "./prices.ts";
import { cheapestHeight, costPerRequest } from "./sawtooth.ts";

const given = { growth: 900, low: 36_000, summary: null } as const;

test("the dearer it is to write anew, the further a prompt grows first", () => {
  const height = cheapestHeight(RELATIVE_PRICES, given);
  assert.ok(height > 15_000 && height < 25_000, String(height));
  assert.ok(cheapestHeight({ ...RELATIVE_PRICES, cacheWrite: 2 }, given) > height);
  assert.ok(cheapestHeight(RELATIVE_PRICES, { ...given, summary: 4000 }) > height);
  assert.ok(cheapestHeight(RELATIVE_PRICES, { ...given, growth: 2000 }) > height);
});

test("where reading is free nothing is gained", () => {
  assert.equal(cheapestHeight({ ...RELATIVE_PRICES, cacheRead: 0 }, given), Number.POSITIVE_INFINITY);
});

test("a request costs half of what the prompt grows by, and its share of what the change had written", () => {
  const tooth = { from: 10_000, to: 20_000, requests: 10, rewrite: { tokens: 4000, summary: null } };
  assert.equal(costPerRequest(RELATIVE_PRICES, tooth), 1500 + 460);
  assert.equal(costPerRequest(RELATIVE_PRICES, { ...tooth, rewrite: { tokens: 4000, summary: 200 } }), 1960 + 200);
  assert.ok(costPerRequest(RELATIVE_PRICES, { ...tooth, requests: 0 }) > 6000);
});
