import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sampled, stackOf } from "./stack.ts";

test("as many requests are asked about as may be, with both sides of each fall", () => {
  assert.deepEqual(sampled({ first: 0, last: 5 }, []), [0, 1, 2, 3, 4, 5]);
  fc.assert(
    fc.property(fc.nat(900), fc.nat(5000), fc.array(fc.nat(6000)), (first, more, falls) => {
      const chosen = sampled({ first, last: first + more }, falls);
      assert.ok(chosen.length <= 64 && chosen[0] === first && chosen.at(-1) === first + more);
      assert.ok(chosen.every((index) => index >= first && index <= first + more));
    }),
  );
  const chosen = sampled({ first: 0, last: 10_000 }, [777]);
  assert.ok(chosen.includes(776) && chosen.includes(777));
});

test("the kinds stand upon each other and together are what was reported", () => {
  const samples = [
    { index: 0, input: 100, parts: { base: 30, user: 20 } },
    { index: 1, input: 50, parts: { base: 25, summary: 25, strange: 0 } },
  ];
  const areas = stackOf(samples, { first: 0, last: 1 }, 100, { width: 10, height: 100 });
  assert.deepEqual(
    areas.map(({ name, path }) => [name, path]),
    [
      ["system", "M0,40L10,75L10,100L0,100Z"],
      ["summary", "M0,40L10,50L10,75L0,40Z"],
      ["user", "M0,0L10,50L10,50L0,40Z"],
    ],
  );
  assert.deepEqual(stackOf([], { first: 0, last: 0 }, 1, { width: 1, height: 1 }), []);
});

test("what was reported far beyond the messages of an imported thread is the system prompt's, not the first message's", () => {
  const samples = [
    { index: 0, input: 100, parts: { user: 20 } },
    { index: 1, input: 100, parts: { user: 90 } },
  ];
  const areas = stackOf(samples, { first: 0, last: 1 }, 100, { width: 10, height: 100 });
  assert.deepEqual(
    areas.map(({ name, path }) => [name, path]),
    [
      ["system", "M0,20L10,100L10,100L0,100Z"],
      ["user", "M0,0L10,0L10,100L0,20Z"],
    ],
  );
});

test("a single request is a bar, since a curve of one point shows nothing", () => {
  const samples = [{ index: 0, input: 50, parts: { user: 50 } }];
  const [area] = stackOf(samples, { first: 0, last: 0 }, 100, { width: 200, height: 100 });
  assert.equal(area?.path, "M72,50L128,50L128,100L72,100Z");
});
