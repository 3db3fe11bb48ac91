import assert from "node:assert/strict";
import { test } from "node:test";
import { type VerdictRow, verdictOf } from "./verdict.ts";

const row = (name: string, change: Partial<VerdictRow> = {}): VerdictRow => ({
  name,
  cost: 1,
  known: 1,
  overWindow: 0,
  compactions: 0,
  ...change,
});

test("a transcript that fits the window is said to fit: most policies did nothing", () => {
  const rows = [row("ours"), row("none"), row("last 20", { cost: 2, compactions: 5 })];
  assert.deepEqual(verdictOf(rows), { kind: "fits", idle: 2 });
});

test("a policy that goes over the window is best at nothing, however much it knows", () => {
  const verdict = verdictOf([
    row("ours", { cost: 0.4, known: 0.8, compactions: 2 }),
    row("none", { overWindow: 9 }),
    row("last 20", { cost: 0.3, known: 0.2, compactions: 9 }),
  ]);
  assert.deepEqual(verdict, {
    kind: "compared",
    figures: [
      { name: "Costs least", policy: "last 20", value: 0.3 },
      { name: "Knows most", policy: "ours", value: 0.8 },
      { name: "Ours costs", policy: "of never pruning", value: 0.4 },
    ],
  });
});

test("where nothing is known of what was known, and every policy goes over, only what is left is said", () => {
  const rows = [row("ours", { known: null, overWindow: 1 }), row("none", { known: null, overWindow: 3 })];
  assert.deepEqual(verdictOf(rows), {
    kind: "compared",
    figures: [{ name: "Ours costs", policy: "of never pruning", value: 1 }],
  });
});
