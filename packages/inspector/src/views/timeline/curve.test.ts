import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  axisOf,
  curveOf,
  indexAt,
  placedMarks,
  type RequestPoint,
  requestFrom,
  stepsOf,
  topOf,
  windowLines,
  xOf,
} from "./curve.ts";

const size = { width: 400, height: 100 };
const whole = (count: number) => ({ first: 0, last: count - 1 });
const pointsOf = (line: string) =>
  line
    .slice(1)
    .split("L")
    .map((point) => point.split(",").map(Number) as [number, number]);

test("the curve stays inside its frame and keeps the highest request, however many there are", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(200_000), { minLength: 1, maxLength: 5000 }), fc.nat(200_000), (inputs, window) => {
      const facts = { seq: 1, at: "", model: "", window, cost: null };
      const requests: readonly RequestPoint[] = inputs.map((input) => ({ ...facts, input }));
      const most = topOf(requests, whole(inputs.length));
      const points = pointsOf(curveOf(inputs, whole(inputs.length), most, size).line);
      assert.ok(points.length <= 2 * size.width + 2 || points.length === inputs.length);
      for (const [x, y] of points) assert.ok(x >= 0 && x <= size.width && y >= 0 && y <= size.height);
      const lowest = Math.min(...points.map(([, y]) => y));
      const expected = size.height - (Math.max(...inputs) / most) * size.height;
      assert.ok(Math.abs(lowest - expected) < 0.11);
    }),
    { numRuns: 50 },
  );
  assert.deepEqual(curveOf([], { first: 0, last: -1 }, 1, size).line, "");
});

test("a part of the requests fills the whole width, and its highest sets the height", () => {
  assert.equal(curveOf([9, 1, 2, 9], { first: 1, last: 2 }, 2, size).line, "M0,50L400,0");
  const requests = [9, 1, 2, 9].map((input) => ({ seq: 1, at: "", model: "", input, window: null, cost: null }));
  assert.ok(topOf(requests, { first: 1, last: 2 }) < 3);
  const window = (size: number) => topOf([{ ...requests[0]!, input: 1000, window: size }], whole(1));
  assert.ok(window(2_000) > 2_000 && window(200_000) < 1_100, "a window far above would press the curve flat");
});

test("a pixel leads to the request that is drawn there", () => {
  fc.assert(
    fc.property(fc.nat(50), fc.integer({ min: 1, max: 300 }), fc.nat(299), (first, count, some) => {
      const stretch = { first, last: first + count - 1 };
      const index = first + Math.min(some, count - 1);
      assert.equal(indexAt(xOf(index, stretch.first, stretch.last, size), stretch, size), index);
    }),
  );
  assert.equal(indexAt(10, whole(0), size), -1);
  assert.equal(indexAt(-50, whole(5), size), 0);
  assert.equal(indexAt(5000, whole(5), size), 4);
});

test("a record leads to the request that comes after it", () => {
  assert.deepEqual(
    [1, 4, 5, 9, 50].map((seq) => requestFrom([4, 8, 12], seq)),
    [0, 0, 1, 2, 2],
  );
  assert.equal(requestFrom([], 3), -1);
});

test("each window has a line as far as its model answered, and an unknown one has none", () => {
  assert.equal(windowLines([null, null], whole(2), 100, size), "");
  assert.equal(windowLines([50, 50, 50], whole(3), 100, size), "M0,50H400");
  assert.equal(windowLines([50], whole(1), 100, size), "M0,50H400");
  assert.equal(windowLines([50, 50, null, 25, 25], whole(5), 100, size), "M0,50H100M300,75H400");
  assert.equal(windowLines([9, 50, 50, 9], { first: 1, last: 2 }, 100, size), "M0,50H400");
});

test("the axis has three or four round figures, whatever the height", () => {
  assert.deepEqual(axisOf(8_640), [2_000, 4_000, 6_000, 8_000]);
  assert.deepEqual(axisOf(216_000), [50_000, 100_000, 150_000, 200_000]);
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 3_000_000 }), (most) => {
      const figures = axisOf(most);
      assert.ok(figures.length >= 1 && figures.length <= 4 && (figures.at(-1) ?? 0) <= most, `${most}: ${figures}`);
    }),
  );
});

test("marks out of sight are left out, and of a hundred on one pixel one of each kind is drawn", () => {
  const seqs = Array.from({ length: 10_000 }, (_, index) => index * 2);
  const marks = seqs.flatMap((seq) => ["evidence", "prune"].map((kind) => ({ seq, at: "", kind })));
  assert.ok(placedMarks(marks, seqs, whole(10_000), size).length <= 2 * (size.width + 1));
  const some = placedMarks(marks, seqs, { first: 7, last: 9 }, size);
  assert.deepEqual([...new Set(some.map(({ index }) => index))], [7, 8, 9]);
});

test("marks of one kind that fall on one pixel are one mark, which says how many they are", () => {
  const undo = { seq: 5, at: "", kind: "undo" };
  const shown = placedMarks([undo, { ...undo, seq: 6 }, { ...undo, seq: 6, kind: "fork" }], [2, 8], whole(2), size);
  assert.deepEqual(
    shown.map(({ kind, index, count }) => [kind, index, count]),
    [
      ["undo", 1, 2],
      ["fork", 1, 1],
    ],
  );
});

test("the axis below names the first and the last request, and no more than there is room for", () => {
  assert.deepEqual(stepsOf(whole(1), size), [0]);
  assert.deepEqual(stepsOf(whole(2), size), [0, 1]);
  assert.deepEqual(stepsOf({ first: 10, last: 40 }, size), [10, 20, 30, 40]);
});
