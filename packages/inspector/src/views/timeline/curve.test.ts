import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { axisOf, curveOf, indexAt, requestFrom, windowLines, xOf } from "./curve.ts";

const size = { width: 400, height: 100 };
const pointsOf = (line: string) =>
  line
    .slice(1)
    .split("L")
    .map((point) => point.split(",").map(Number) as [number, number]);

test("the curve stays inside its frame and keeps the highest request, however many there are", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(200_000), { minLength: 1, maxLength: 5000 }), fc.nat(200_000), (inputs, window) => {
      const { line, most } = curveOf(inputs, size, window);
      const points = pointsOf(line);
      assert.ok(points.length <= 2 * size.width + 2 || points.length === inputs.length);
      for (const [x, y] of points) assert.ok(x >= 0 && x <= size.width && y >= 0 && y <= size.height);
      const lowest = Math.min(...points.map(([, y]) => y));
      const expected = size.height - (Math.max(...inputs) / most) * size.height;
      assert.ok(Math.abs(lowest - expected) < 0.11);
    }),
    { numRuns: 50 },
  );
  assert.deepEqual(curveOf([], size, 8000).line, "");
});

test("a pixel leads to the request that is drawn there", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(299), (count, some) => {
      const index = Math.min(some, count - 1);
      assert.equal(indexAt(xOf(index, count, size), count, size), count === 1 ? 0 : index);
    }),
  );
  assert.equal(indexAt(10, 0, size), -1);
  assert.equal(indexAt(-50, 5, size), 0);
  assert.equal(indexAt(5000, 5, size), 4);
});

test("a record leads to the request that comes after it", () => {
  assert.deepEqual(
    [1, 4, 5, 9, 50].map((seq) => requestFrom([4, 8, 12], seq)),
    [0, 0, 1, 2, 2],
  );
  assert.equal(requestFrom([], 3), -1);
});

test("each window has a line as far as its model answered, and an unknown one has none", () => {
  assert.equal(windowLines([null, null], 100, size), "");
  assert.equal(windowLines([50, 50, 50], 100, size), "M0,50H400");
  assert.equal(windowLines([50], 100, size), "M0,50H400");
  assert.equal(windowLines([50, 50, null, 25, 25], 100, size), "M0,50H100M300,75H400");
});

test("the axis has three or four round figures, whatever the height", () => {
  assert.deepEqual(axisOf(8_640), [2_000, 4_000, 6_000, 8_000]);
  assert.deepEqual(axisOf(216_000), [50_000, 100_000, 150_000, 200_000]);
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 3_000_000 }), (most) => {
      const figures = axisOf(most);
      assert.ok(figures.length >= 1 && figures.length <= 4 && figures.at(-1)! <= most, `${most}: ${figures}`);
    }),
  );
});
