import assert from "node:assert/strict";
import { test } from "node:test";
import { RELATIVE_PRICES } from "./prices.ts";
import { costOfFetching, pruneGain, worthPruning } from "./worth.ts";

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
