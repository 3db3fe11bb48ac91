import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { between, isWhole, showing, stretchOf, stretchText, wholeStretch, zoomed } from "./stretch.ts";

test("whatever is zoomed and moved, the stretch stays among the requests and holds what it is about", () => {
  const steps = fc.array(fc.record({ times: fc.constantFrom(0.5, 2, 1.2), around: fc.nat(999), go: fc.boolean() }));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), steps, (count, some) => {
      let stretch = wholeStretch(count);
      for (const { times, around, go } of some) {
        const index = Math.min(around, count - 1);
        stretch = go ? showing(stretch, index, count) : zoomed(stretch, times, index, count);
        assert.ok(0 <= stretch.first && stretch.first <= stretch.last && stretch.last < count, JSON.stringify(stretch));
        if (go) assert.ok(stretch.first <= index && index <= stretch.last);
      }
      for (let round = 0; round < 12; round += 1) stretch = zoomed(stretch, 0.5, stretch.first, count);
      assert.ok(isWhole(stretch, count));
    }),
  );
});

test("zooming in keeps the request it is about where it was", () => {
  assert.deepEqual(zoomed({ first: 0, last: 100 }, 2, 50, 101), { first: 25, last: 75 });
  assert.deepEqual(zoomed({ first: 0, last: 100 }, 2, 0, 101), { first: 0, last: 50 });
  assert.deepEqual(zoomed({ first: 0, last: 3 }, 2, 1, 101), { first: 0, last: 3 });
});

test("an address tells a stretch by its records, and what is none is passed over", () => {
  const seqs = [3, 6, 9, 12, 15, 18];
  const index = (seq: number) => seqs.indexOf(seq);
  assert.equal(stretchText({ first: 1, last: 5 }, seqs), "6-18");
  assert.deepEqual(stretchOf("6-18", index, 6), { first: 1, last: 5 });
  assert.deepEqual(stretchOf("18-3", index, 6), { first: 0, last: 5 });
  for (const wrong of [undefined, "", "6", "a-b", "6-18-3", `${"9".repeat(40)}-1`])
    assert.equal(stretchOf(wrong, index, 6), null);
  assert.deepEqual(between(5, 5, 6), { first: 2, last: 5 });
});
