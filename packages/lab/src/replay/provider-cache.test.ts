import assert from "node:assert/strict";
import { test } from "node:test";
import { RELATIVE_PRICES } from "@palimpsest/core/internal/pricing";
import fc from "fast-check";
import { type CachedRequest, providerCache } from "./provider-cache.ts";

const prices = RELATIVE_PRICES;
const request = (keys: string, marks: readonly number[], sentAt = 0): CachedRequest => ({
  sentAt,
  pieces: [...keys].map((key) => ({ key, tokens: 100, blocks: 1 })),
  marks,
  output: 0,
});
const read = (requests: readonly CachedRequest[], reads: "marks" | "prefix" = "marks"): readonly number[] => {
  const cache = providerCache({ prices, reads });
  return requests.map((each) => cache.charge(each).reused);
};

test("what was written at a mark is read again, what stands behind it is written", () => {
  const cache = providerCache({ prices, reads: "marks" });
  cache.charge(request("ab", [1]));
  const { cost, reused, fresh } = cache.charge(request("abcd", [3]));
  assert.deepEqual([reused, fresh, cost], [200, 200, 200 * prices.cacheRead + 200 * prices.cacheWrite]);
});

test("a common prefix without a mark at its end is not read, where only marks count", () => {
  const long = "abcdefghijklmnopqrstuvwxyz0123456789";
  const changed = `${long.slice(0, 12)}X${long.slice(13)}`;
  assert.deepEqual(read([request(long, [0, 35]), request(changed, [0, 35])]), [0, 100]);
  assert.deepEqual(read([request(long, [0, 35]), request(changed, [0, 35])], "prefix"), [0, 1200]);
});

test("a mark before the change keeps what stands before it", () => {
  const long = "abcdefghijklmnopqrstuvwxyz0123456789";
  const changed = `${long.slice(0, 12)}X${long.slice(13)}`;
  assert.deepEqual(read([request(long, [0, 9, 35]), request(changed, [0, 9, 35])]), [0, 1000]);
});

test("a mark looks back twenty blocks, and no further", () => {
  const grown = (blocks: number) => "a".padEnd(blocks + 1, "0123456789bcdefghijklmnopq");
  assert.deepEqual(read([request("a", [0]), request(grown(19), [19])]), [0, 100]);
  assert.deepEqual(read([request("a", [0]), request(grown(20), [20])]), [0, 0]);
});

test("an entry lives so long after the start of the request that last used it", () => {
  const { ttlMs } = prices;
  const requests = [request("a", [0], 0), request("ab", [1], ttlMs), request("abc", [2], 2 * ttlMs)];
  assert.deepEqual(read(requests), [0, 100, 200]);
  assert.deepEqual(read([request("a", [0], 0), request("ab", [1], ttlMs + 1)]), [0, 0]);
  const cache = providerCache({ prices, reads: "marks" });
  assert.equal(cache.state(0), "cold");
  cache.charge(request("a", [0], 0));
  assert.deepEqual([cache.state(ttlMs), cache.state(ttlMs + 1)], ["warm", "cold"]);
});

test("what stands behind the last mark is neither written nor found again", () => {
  const cache = providerCache({ prices, reads: "marks" });
  assert.equal(cache.charge(request("abc", [1])).cost, 200 * prices.cacheWrite + 100 * prices.input);
  assert.equal(cache.charge(request("abcd", [2, 3])).reused, 200);
});

test("whatever is sent: nothing is read that wasn't sent before, and marks never read more than prefixes do", () => {
  const keys = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(fc.array(keys, { maxLength: 8 }), (prompts) => {
      const requests = prompts.map((prompt) => request(prompt, [0, prompt.length - 1]));
      const [marks, prefixes] = [read(requests), read(requests, "prefix")];
      for (const [index, prompt] of prompts.entries()) {
        const common = Math.max(0, ...prompts.slice(0, index).map((before) => commonLength(before, prompt)));
        assert.equal(prefixes[index], common * 100);
        assert.ok(marks[index]! <= prefixes[index]!);
      }
    }),
  );
});

function commonLength(one: string, other: string): number {
  let same = 0;
  while (same < one.length && same < other.length && one[same] === other[same]) same++;
  return same;
}
