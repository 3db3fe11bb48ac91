import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { drawnRows, rowAfter, topShowing } from "./rows.ts";

const scrolled = fc.record({
  top: fc.integer({ min: -500, max: 4_000_000 }),
  height: fc.integer({ min: 0, max: 3000 }),
  rowHeight: fc.integer({ min: 16, max: 80 }),
  count: fc.integer({ min: 0, max: 100_000 }),
});

test("every row in sight is drawn, and never many more, however long the list is", () => {
  fc.assert(
    fc.property(scrolled, (at) => {
      const { first, end } = drawnRows(at);
      assert.ok(0 <= first && first <= end && end <= at.count);
      assert.ok(end - first <= Math.ceil(at.height / at.rowHeight) + 18);
      for (const pixel of [Math.max(0, at.top), Math.max(0, at.top) + at.height - 1]) {
        const row = Math.floor(pixel / at.rowHeight);
        if (at.height > 0 && row < at.count) assert.ok(first <= row && row < end);
      }
    }),
  );
});

test("a row that is scrolled to is seen whole, and one that is seen stays where it is", () => {
  fc.assert(
    fc.property(scrolled, fc.nat(100_000), (at, row) => {
      const height = at.height + at.rowHeight;
      const top = topShowing(row, { ...at, top: Math.max(0, at.top), height });
      assert.ok(top <= row * at.rowHeight && (row + 1) * at.rowHeight <= top + height);
      assert.equal(topShowing(row, { ...at, top, height }), top);
    }),
  );
});

test("keys move within the list and never out of it", () => {
  const move = (key: string, row: number, count = 10) => rowAfter(key, row, { count, page: 4 });
  assert.deepEqual([move("ArrowDown", 9), move("ArrowUp", 0), move("PageDown", 3), move("PageUp", 3)], [9, 0, 7, 0]);
  assert.deepEqual([move("End", 2), move("Home", 2), move("x", 2), move("End", 0, 0)], [9, 0, null, null]);
});
