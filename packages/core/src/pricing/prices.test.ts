import assert from "node:assert/strict";
import { test } from "node:test";
import { cheapestHeight, costOfFetching, costPerRequest, pruneGain, RELATIVE_PRICES, worthPruning } from "./prices.ts";

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

const balance = { savedReads: 0, savedTokens: 1000, rewriteTokens: 1000, expectedFetches: 0, cache: "warm" } as const;
const free = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, ttlMs: 0 };

test("[F31] it pays when the reads saved outweigh what is written again, not before", () => {
  assert.equal(worthPruning({ ...balance, savedReads: 11_000 }, RELATIVE_PRICES), false);
  assert.equal(worthPruning({ ...balance, savedReads: 11_500 }, RELATIVE_PRICES), true);
});

test("on a cold cache it pays at once", () => {
  assert.equal(worthPruning({ ...balance, cache: "cold" }, RELATIVE_PRICES), true);
});

test("what will probably be fetched again counts against it, warm or cold", () => {
  const likely = { ...balance, savedReads: 20_000, expectedFetches: 5000 };
  assert.equal(worthPruning(likely, RELATIVE_PRICES), false);
  assert.equal(worthPruning({ ...likely, cache: "cold" }, RELATIVE_PRICES), false);
});

test("nothing saved is never worth it, and free tokens give a finite gain", () => {
  assert.equal(worthPruning({ ...balance, savedTokens: 0, rewriteTokens: 0 }, RELATIVE_PRICES), false);
  for (const cache of ["warm", "cold"] as const) assert.equal(Math.abs(pruneGain({ ...balance, cache }, free)), 0);
});

test("fetching costs the context from the cache, the question, and the result written again", () => {
  assert.equal(costOfFetching({ context: 1000, result: 100, asking: 10 }, RELATIVE_PRICES), 100 + 125 + 50);
});
