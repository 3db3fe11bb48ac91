import assert from "node:assert/strict";
import { test } from "node:test";
import { oneLine } from "../text/names.ts";
import { addItems, emptyState, fewSeqs, MAX_ITEMS, MAX_SECTION_CHARS, readState, withSection } from "./state.ts";

test("a state survives being stored as JSON", () => {
  const state = addItems(emptyState(), "goals", [{ text: "Keep it small", seqs: [3, 1], why: "the user said so" }]);
  assert.deepEqual(readState(JSON.parse(JSON.stringify(state))), state);
});

for (const [name, stored] of [
  ["nothing", undefined],
  ["a text", "summary"],
  ["another version", { v: 99, sections: {} }],
  ["a list", []],
] as const)
  test(`${name} is not a state`, () => assert.equal(readState(stored), null));

test("unreadable items of a stored state are left out, the rest stays", () => {
  const read = readState({
    v: 1,
    through: -4,
    sections: { goals: [{ id: "g1", text: "kept", seqs: [1, "x", -2, 9.5] }, { id: 7 }, null], facts: "no list" },
    ledger: { files: [{ path: "a", did: "w", times: 1, seqs: [1] }, 3] },
  });
  assert.deepEqual(read?.sections.goals, [{ id: "g1", text: "kept", seqs: [1] }]);
  assert.equal(read?.through, 0);
  assert.equal(read?.ledger.files.length, 1);
});

test("the same text is one item with more sources, and ids are never used twice", () => {
  let state = addItems(emptyState(), "facts", [{ text: "Port is 8080", seqs: [4] }]);
  state = addItems(state, "facts", [{ text: "port is 8080", seqs: [9] }]);
  assert.deepEqual(
    state.sections.facts.map(({ id, seqs }) => [id, seqs]),
    [["f1", [4, 9]]],
  );
  state = addItems(withSection(state, "facts", []), "facts", [{ text: "Other", seqs: [] }]);
  assert.equal(state.sections.facts[0]?.id, "f2");
});

test("over its cap a section sheds obsolete items, then done ones, then the oldest", () => {
  const items = Array.from({ length: MAX_ITEMS.errors + 3 }, (_, index) => ({
    id: `e${index}`,
    text: `error ${index}`,
    seqs: [index + 1],
    ...(index === 50 ? { status: "obsolete" as const } : index === 60 ? { status: "done" as const } : {}),
  }));
  const kept = new Set(withSection(emptyState(), "errors", items).sections.errors.map((item) => item.id));
  assert.deepEqual(
    items.filter((item) => !kept.has(item.id)).map((item) => item.id),
    ["e0", "e50", "e60"],
  );
});

test("a section is bounded in characters, too, and the first thing the user asked for stays", () => {
  const items = Array.from({ length: 100 }, (_, index) => ({
    id: `g${index}`,
    text: `${index} ${"x".repeat(500)}`,
    seqs: [index + 1],
    ...(index === 0 ? { status: "done" as const } : {}),
  }));
  const kept = withSection(emptyState(), "goals", items).sections.goals;
  const characters = kept.reduce((sum, { text }) => sum + text.length, 0);
  assert.ok(characters <= MAX_SECTION_CHARS && characters > MAX_SECTION_CHARS - 600, `${characters}`);
  assert.deepEqual([kept[0]?.id, kept[1]?.id, kept.at(-1)?.id], ["g1", `g${101 - kept.length}`, "g99"]);
});

test("text becomes one line, is capped and never ends in half a character", () => {
  assert.equal(oneLine(" a\n\n## Heading\u0000\tb\u2028", 100), "a ## Heading b");
  assert.equal(oneLine("😀".repeat(10), 6), "😀😀…");
});

test("sources are few: the first and the newest", () => {
  assert.deepEqual(fewSeqs([9, 3, 3, 5, 7, 1, 8, 2]), [1, 5, 7, 8, 9]);
});
