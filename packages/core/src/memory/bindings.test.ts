import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bindTurns,
  isFenced,
  namedRefs,
  staleRefs,
  validWatermark,
  withoutStale,
  withoutThread,
  withWatermark,
} from "./bindings.ts";
import { applyChanges } from "./changes.ts";
import { emptyDocument, type Fact, type MemoryDocument, parseDocument, writeDocument } from "./document.ts";

const LEARNED = "2026-01-02T00:00:00.000Z";

function fact(id: string, ...refs: string[]): Fact {
  const rest = { category: "context", confidence: 1, source: "conversation" };
  return { id, content: `User says ${id}`, createdAt: LEARNED, sourceMessageIds: refs, ...rest };
}

function documentWith(...facts: Fact[]): MemoryDocument {
  const changes = facts.map((one) => ({
    ...({ kind: "add", on: "fact", before: null, note: "" } as const),
    target: one.id,
    after: one,
    sources: one.sourceMessageIds ?? [],
  }));
  return applyChanges(emptyDocument(), changes, { at: LEARNED, by: "conversation" });
}

test("a watermark stands while the record it was set at is there", () => {
  const marked = withWatermark(emptyDocument(), "t", { seq: 7, hash: "h7" });
  assert.equal(validWatermark(marked, "t", "h7"), 7);
  assert.equal(validWatermark(marked, "t", "another"), 0, "the id was used again");
  assert.equal(validWatermark(marked, "t", undefined), 0, "the log was restored from before it");
  assert.equal(validWatermark(marked, "other", "h"), 0);
  const old: MemoryDocument = { ...emptyDocument(), watermarks: { t: 7 } };
  assert.equal(validWatermark(old, "t", "whatever"), 7, "older documents don't say which record it was");
  assert.equal(validWatermark(old, "t", undefined), 0);
});

test("a fence holds for the message it was set on, not for another of that name", () => {
  const fenced = bindTurns({ ...documentWith(fact("a", "t#3")), fenced: ["t#3", "old#1"] }, [{ ref: "t#3", id: "m3" }]);
  assert.ok(isFenced(fenced, { ref: "t#3", id: "m3" }));
  assert.ok(!isFenced(fenced, { ref: "t#3", id: "another" }));
  assert.ok(isFenced(fenced, { ref: "old#1", id: "whatever" }), "one of before has no id");
  assert.ok(!isFenced(fenced, { ref: "t#4", id: "m4" }));
});

test("names that mean another message are found by its id, or by its time where none is known", () => {
  const document = bindTurns(documentWith(fact("a", "t#1", "t#2"), fact("b", "t#3", "t#4", "gone#1")), [
    { ref: "t#1", id: "m1" },
    { ref: "t#2", id: "m2" },
  ]);
  const [before, after] = ["2026-01-01T00:00:00.000Z", "2026-01-03T00:00:00.000Z"];
  const found = new Map([
    ["t#1", { id: "m1", at: after }],
    ["t#2", { id: "another", at: before }],
    ["t#3", { id: "m3", at: before }],
    ["t#4", { id: "m4", at: after }],
    ["t#9", { id: "m9", at: after }],
  ]);
  const stale = staleRefs(document, found);
  assert.deepEqual([...stale], ["t#2", "t#4"]);
  const left = withoutStale({ ...document, watermarks: { t: 4, other: 2 } }, stale);
  assert.deepEqual([...namedRefs(left)].sort(), ["gone#1", "t#1", "t#3"]);
  assert.deepEqual(left.watermarks, { other: 2 }, "a watermark that may be the old thread's is void");
  const marked = withWatermark(document, "t", { seq: 4, hash: "h" });
  assert.deepEqual(
    withoutStale(marked, stale).watermarks,
    { t: 4 },
    "one that says what it stands at speaks for itself",
  );
});

test("a thread that is gone leaves its facts and none of its names", () => {
  const learned = documentWith(fact("a", "t#1", "t.x#1"), fact("b", "t#2"));
  const bound = bindTurns({ ...learned, fenced: ["t#2", "t.x#1"] }, [
    { ref: "t#1", id: "m1" },
    { ref: "t.x#1", id: "m2" },
  ]);
  const marked = withWatermark(withWatermark(bound, "t", { seq: 2, hash: "h" }), "t.x", { seq: 1, hash: "x" });
  const left = withoutThread(marked, "t");
  assert.deepEqual(
    left.facts.map(({ content }) => content),
    ["User says a", "User says b"],
  );
  assert.deepEqual([...namedRefs(left)], ["t.x#1"]);
  assert.deepEqual([left.watermarks, left.marks, left.sources], [{ "t.x": 1 }, { "t.x": "x" }, { "t.x#1": "m2" }]);
  assert.deepEqual(withoutThread(left, "t"), left, "and the same again");
});

test("bindings survive being written and read, and only those that are named are kept", () => {
  const turns = ["t#1", "t#2"].map((ref) => ({ ref, id: `id of ${ref}` }));
  const document = withWatermark(bindTurns(documentWith(fact("a", "t#1")), turns), "t", { seq: 2, hash: "h" });
  assert.deepEqual(document.sources, { "t#1": "id of t#1" });
  const read = parseDocument(writeDocument(document));
  assert.deepEqual(read.kind === "document" && read.document, document);
  const strange = parseDocument('{"facts": [], "sources": {"t#1": 3, "t#2": "x"}, "marks": ["h"]}');
  assert.deepEqual(strange.kind === "document" && [strange.document.sources, strange.document.marks], [
    { "t#2": "x" },
    undefined,
  ]);
});
