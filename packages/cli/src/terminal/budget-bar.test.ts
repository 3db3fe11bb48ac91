import assert from "node:assert/strict";
import { test } from "node:test";
import { breakdown, type PartName } from "@palimpsest/core/internal/prompt";
import fc from "fast-check";
import { drawBudget, drawBudgetLine } from "./budget-bar.ts";
import { columns } from "./output.ts";

const NAMES: readonly PartName[] = [
  ...(["base", "memory", "skills", "instructions", "unseen", "summary", "acknowledgement", "rules", "state"] as const),
  ...(["evidence", "user", "assistant", "tool", "images", "repairs", "definitions"] as const),
];

function budgetOf(parts: Partial<Record<PartName, number>>, window = 10_000) {
  const tokens = Object.values(parts).reduce((sum, size) => sum + size, 0);
  return breakdown(parts, { count: { tokens, source: "anchored" }, budget: { window, reserve: 1000 } });
}

/** Each line's sign by its label. */
function signs(drawn: string): Map<string, string> {
  const lines = [...drawn.matchAll(/^ {2}(\S) (\S.*?) {2,}/gm)];
  return new Map(lines.map(([, sign, label]) => [label!, sign!]));
}

test("free is a group of its own, and the history is what was said", () => {
  const drawn = drawBudget(budgetOf({ base: 100, user: 300, assistant: 61 }), { title: "t", color: false, width: 80 });
  assert.match(drawn, /^Message History +361$/m);
  assert.match(drawn, /^Free +8,539\n {2}· free +8,539 +85\.4 %$/m);
  assert.match(drawn, /^\[#\+\+\**·+r+\]$/m);
});

test("a part has one sign and one color, whatever other parts there are, and no two share one", () => {
  const all = Object.fromEntries(NAMES.map((name) => [name, 100]));
  const whole = signs(drawBudget(budgetOf(all), { title: "t", color: false, width: 80 }));
  assert.equal(new Set(whole.values()).size, NAMES.length + 2);
  const painted = drawBudget(budgetOf(all), { title: "t", color: true, width: 80 });
  const colors = [...painted.matchAll(/^ {2}\S*\[38;5;(\d+)m/gm)].map(([, color]) => color);
  assert.equal(new Set(colors).size, NAMES.length + 2);
  fc.assert(
    fc.property(fc.subarray([...NAMES], { minLength: 1 }), (names) => {
      const some = Object.fromEntries(names.map((name) => [name, 50]));
      for (const [label, sign] of signs(drawBudget(budgetOf(some), { title: "t", color: false, width: 80 })))
        assert.equal(sign, whole.get(label), label);
    }),
  );
});

test("at any width from 40 columns no line is wider, but for a title that is wider itself", () => {
  const sizes = fc.dictionary(fc.constantFrom(...NAMES), fc.nat(200_000));
  fc.assert(
    fc.property(sizes, fc.integer({ min: 40, max: 200 }), fc.boolean(), (parts, width, color) => {
      const budget = budgetOf(parts as Partial<Record<PartName, number>>, 128_000);
      const lines = drawBudget(budget, { title: "chat-2026-11-15-181340", color, width }).split("\n");
      for (const line of [...lines, drawBudgetLine(budget, { color, width })]) assert.ok(columns(line) <= width, line);
    }),
  );
});
