import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { evidenceBudget } from "./evidence-budget.ts";

test("a large window lends what is configured to every question; a small one a sixteenth of it, then less and less", () => {
  assert.equal(evidenceBudget({ limit: 1000, window: 200_000, lent: 0 }), 1000);
  assert.equal(evidenceBudget({ limit: 1000, window: 200_000, lent: 100_000 }), 1000);
  const lendings: number[] = [];
  for (let lent = 0; lendings.length < 5; lent += lendings.at(-1)!)
    lendings.push(evidenceBudget({ limit: 1000, window: 8000, lent }));
  assert.deepEqual(lendings, [500, 250, 125, 125, 125]);
});

test("what is configured is never exceeded, nor a sixteenth of the window, and every question may have a sixty-fourth", () => {
  const size = fc.integer({ min: 0, max: 2_000_000 });
  fc.assert(
    fc.property(size, size, size, (limit, window, lent) => {
      const budget = evidenceBudget({ limit, window, lent });
      assert.ok(budget <= limit && budget <= window / 16);
      assert.ok(budget >= Math.floor(Math.min(limit, window / 64)));
    }),
  );
});
