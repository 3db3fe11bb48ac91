import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isCold, RELATIVE_PRICES } from "./prices.ts";
import { chargeRequest, costOfSideCall, type PricedRequest, prefixReuse } from "./requests.ts";

const piece = (key: string, tokens = 10) => ({ key, tokens });
const request = (keys: string, at = 0): PricedRequest => ({
  sentAt: at,
  answeredAt: at,
  pieces: [...keys].map((key) => piece(key)),
  output: 2,
});

test("the common prefix is reused, everything behind the first change is fresh", () => {
  assert.deepEqual(prefixReuse(request("abcd").pieces, request("abXd").pieces), { reused: 20, fresh: 20 });
  assert.deepEqual(prefixReuse(request("ab").pieces, request("abcd").pieces), { reused: 20, fresh: 20 });
  assert.deepEqual(prefixReuse([], request("ab").pieces), { reused: 0, fresh: 20 });
});

test("reused and fresh always sum to the request", () => {
  const keys = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
  fc.assert(
    fc.property(keys, keys, (before, now) => {
      const { reused, fresh } = prefixReuse(request(before).pieces, request(now).pieces);
      assert.equal(reused + fresh, now.length * 10);
    }),
  );
});

test("a warm prefix is read, a first or cold one is written whole", () => {
  const warm = chargeRequest(request("ab"), request("abc", 60_000), RELATIVE_PRICES);
  assert.equal(warm.cost, 20 * 0.1 + 10 * 1.25 + 2 * 5);
  assert.equal(chargeRequest(null, request("abc"), RELATIVE_PRICES).cost, 30 * 1.25 + 2 * 5);
  const cold = chargeRequest(request("ab"), request("abc", 5 * 60_000 + 1), RELATIVE_PRICES);
  assert.deepEqual([cold.cold, cold.reused, cold.fresh], [true, 0, 30]);
});

test("a cache lives exactly as long as its time to live", () => {
  assert.equal(isCold(0, 5 * 60_000, RELATIVE_PRICES), false);
  assert.equal(isCold(0, 5 * 60_000 + 1, RELATIVE_PRICES), true);
  assert.equal(isCold(null, 0, RELATIVE_PRICES), true);
});

test("a call beside the conversation pays full input", () => {
  assert.equal(costOfSideCall({ input: 100, output: 10 }, RELATIVE_PRICES), 150);
});
