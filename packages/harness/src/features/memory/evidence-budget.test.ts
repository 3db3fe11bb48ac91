import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { evidenceBudget } from "./evidence.ts";

test("a large window gives every question what is configured; a small one a sixteenth of it, then less and less", () => {
  assert.equal(evidenceBudget({ limit: 1000, window: 200_000, current: 0 }), 1000);
  assert.equal(evidenceBudget({ limit: 1000, window: 200_000, current: 100_000 }), 1000);
  const budgets: number[] = [];
  for (let current = 0; budgets.length < 5; current += budgets.at(-1)!)
    budgets.push(evidenceBudget({ limit: 1000, window: 8000, current }));
  assert.deepEqual(budgets, [500, 250, 125, 125, 125]);
});

test("what is configured is never exceeded, nor a sixteenth of the window, and every question may have a sixty-fourth", () => {
  const size = fc.integer({ min: 0, max: 2_000_000 });
  fc.assert(
    fc.property(size, size, size, (limit, window, current) => {
      const budget = evidenceBudget({ limit, window, current });
      assert.ok(budget <= limit && budget <= window / 16);
      assert.ok(budget >= Math.floor(Math.min(limit, window / 64)));
    }),
  );
});
