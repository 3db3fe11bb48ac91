import assert from "node:assert/strict";
import { test } from "node:test";
import { changesOf, groupsOf, NO_LONGER, turnOf } from "./memory-facts.ts";

const fact = (id: string, category: string, confidence: number, more: object = {}) => ({
  id,
  content: `Likes ${id}`,
  category,
  confidence,
  ...more,
});
const FACTS = [
  fact("a", "goal", 0.7),
  fact("b", "context", 0.8),
  fact("c", "goal", 0.9),
  fact("d", "goal", 1, { validTo: "2026-01-01" }),
];

for (const [what, words, groups] of [
  ["by category, the surest first, what has ended last", "", ["context: b", "goal: c,a", `${NO_LONGER}: d`]],
  ["those with all words", "likes GOAL c", ["goal: c"]],
  ["none", "elephant", []],
] as const)
  test(`facts are grouped: ${what}`, () => {
    const shown = groupsOf(FACTS, words).map(({ category, facts }) => `${category}: ${facts.map(({ id }) => id)}`);
    assert.deepEqual(shown, groups);
  });

for (const [source, turn] of [
  ["work#12", { thread: "work", seq: 12 }],
  ["a#b#3", { thread: "a#b", seq: 3 }],
  ["work", null],
  ["work#x", null],
  ["#3", null],
] as const)
  test(`a source turn ${source} is ${JSON.stringify(turn)}`, () => assert.deepEqual(turnOf(source), turn));

test("changes are told with what was there before, the newest first, and which were taken back", () => {
  const shown = changesOf([
    { id: "c1.1", kind: "add", on: "fact", before: null, after: { content: "Likes tea" } },
    { id: "c2.1", kind: "undo", on: "fact", undoes: "c1.1", before: { content: "Likes tea" }, after: null },
    { id: "c3.1", kind: "rewrite", on: "section", target: "history.recentMonths", before: "", after: "Moved" },
  ]);
  assert.deepEqual(
    shown.map(({ what, before, after, isUndone }) => [what, before, after, isUndone]),
    [
      ["rewritten: Recent months", "", "Moved", false],
      ["taken back", "Likes tea", "", false],
      ["added", "", "Likes tea", true],
    ],
  );
});
