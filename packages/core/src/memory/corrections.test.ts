import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  applyChanges,
  correctionOf,
  correctionsIn,
  type NewChange,
  planMemoryUndo,
  type StatedTurn,
} from "./changes.ts";
import { emptyDocument, type Fact, type MemoryDocument } from "./document.ts";

const LEARNED = "2026-11-01T10:00:00.000Z";
const CORRECTED = "2026-11-10T10:00:00.000Z";

test("an edited fact corrects the turn it came from, echoes of it and answers that gave it", () => {
  const document = edited("User lives in Oslo");
  for (const turn of [
    said("user", "My name is Ada and I live in Bergen.", "t#1"),
    said("assistant", "Noted: you live in Bergen."),
    said("assistant", "I remember: you said that you live in Bergen.", "u#2", "2026-11-12T10:00:00.000Z"),
    said("user", "As I live in Bergen, which train do I take?"),
  ])
    assert.equal(against(document, turn)?.now, "User lives in Oslo", turn.text);
});

test("an answer of one word is judged with the question that it replies to", () => {
  const document = edited("User lives in Oslo");
  const answer = said("assistant", "Bergen.");
  assert.equal(against(document, answer), null);
  assert.notEqual(against(document, answer, "Where do I live?"), null);
  assert.equal(against(document, answer, "Which fish market is the oldest?"), null);
});

test("an answer that names the old value rested on the fact if its question was shown the fact or its source turn", () => {
  const document = edited("User lives in Oslo");
  const answer = said("assistant", "Then take the ferry from the pier in Bergen.");
  for (const shown of [["a"], ["t#1"]]) assert.notEqual(against(document, answer, "Which ferry is near?", shown), null);
  assert.equal(against(document, answer, "Which ferry is near?", ["b", "t#2"]), null);
  assert.equal(against(document, answer, "How do I leave Bergen by sea?", ["a"]), null, "the question named it");
  const other = said("assistant", "Take the ferry from the pier.");
  assert.equal(against(document, other, "Which ferry is near?", ["a"]), null, "it says nothing that is wrong now");
});

test("what speaks of the same word otherwise, names the new value or is said after the correction stands", () => {
  const document = edited("User lives in Oslo");
  for (const turn of [
    said("user", "The train to Bergen was late."),
    said("assistant", "You lived in Bergen before; now you live in Oslo."),
    said("user", "I live in Bergen again.", "t#9", "2026-11-12T10:00:00.000Z"),
  ])
    assert.equal(against(document, turn), null, turn.text);
});

test("a fact in other words corrects nothing", () => {
  const document = edited("User lives in Bergen, Norway");
  assert.deepEqual(correctionsIn(document), []);
});

test("a correction that is taken back corrects nothing", () => {
  const document = edited("User lives in Oslo");
  const undo = planMemoryUndo(document);
  assert.equal(undo.kind, "changes");
  const back = applyChanges(document, undo.kind === "changes" ? undo.changes : [], { at: CORRECTED, by: "manual" });
  assert.deepEqual(correctionsIn(back), []);
});

test("a superseded fact is corrected by the last one that took its place", () => {
  const facts: Fact[] = [
    { ...BERGEN, validTo: CORRECTED, supersededBy: "b" },
    { ...BERGEN, id: "b", content: "User lives in Oslo", validTo: "2026-11-09T10:00:00.000Z", supersededBy: "c" },
    { ...BERGEN, id: "c", content: "User lives in Rome", sourceMessageIds: ["t#7"] },
  ];
  const corrections = correctionsIn({ ...emptyDocument(), facts });
  assert.deepEqual(
    corrections.map(({ before, now }) => [before, now]),
    [
      ["User lives in Bergen", "User lives in Rome"],
      ["User lives in Oslo", "User lives in Rome"],
    ],
  );
});

test("a forgotten fact corrects echoes of all it said, and a fact that was only evicted corrects nothing", () => {
  const gone = (kind: "forget" | "evict"): MemoryDocument =>
    changed({ kind, on: "fact", target: "a", before: BERGEN, after: null, sources: [] });
  assert.notEqual(against(gone("forget"), said("assistant", "So you live in Bergen.")), null);
  assert.equal(against(gone("forget"), said("assistant", "Bergen has a fish market.")), null);
  assert.deepEqual(correctionsIn(gone("evict")), []);
});

test("words that were erased are in no correction", () => {
  const before = { ...BERGEN, content: "[redacted]" };
  const document = changed({
    kind: "forget",
    on: "fact",
    target: "a",
    before,
    after: null,
    sources: [],
    note: "erased",
  });
  assert.deepEqual(correctionsIn(document), []);
});

test("a turn runs against a correction only if it holds all words of the old value or is its source", () => {
  const word = fc.constantFrom("Bergen", "Oslo", "live", "train", "harbor", "tea");
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), fc.constantFrom("user", "assistant"), (words, role) => {
      const text = words.join(" ");
      const hit = against(edited("User lives in Oslo"), said(role, text, "t#5"));
      assert.equal(hit !== null, words.includes("Bergen") && words.includes("live") && !words.includes("Oslo"));
    }),
  );
});

const BERGEN: Fact = {
  id: "a",
  content: "User lives in Bergen",
  category: "context",
  confidence: 0.9,
  createdAt: LEARNED,
  source: "conversation",
  sourceMessageIds: ["t#1"],
};

function edited(content: string): MemoryDocument {
  const change = { kind: "edit", on: "fact", target: "a", before: BERGEN, after: { ...BERGEN, content } } as const;
  return changed({ ...change, sources: [] });
}

function changed(change: NewChange): MemoryDocument {
  return applyChanges({ ...emptyDocument(), facts: [BERGEN] }, [change], { at: CORRECTED, by: "manual" });
}

function said(role: string, text: string, ref = "t#2", at = LEARNED): StatedTurn {
  return { role, text, ref, id: ref, at };
}

function against(document: MemoryDocument, turn: StatedTurn, asked = "", shown: readonly string[] = []) {
  return correctionOf(document, correctionsIn(document), turn, { text: asked, shown });
}
