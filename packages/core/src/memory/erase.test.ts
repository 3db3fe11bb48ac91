import assert from "node:assert/strict";
import { test } from "node:test";
import { applyChanges, type NewChange, planMemoryUndo } from "./changes.ts";
import { emptyDocument, type Fact, type MemoryDocument } from "./document.ts";
import { type MemoryErasureRequest, planMemoryErasure } from "./erase.ts";

const AT = "2026-11-15T10:00:00Z";
const refs = (...list: string[]) => new Set(list);

test("with a turn go the facts that rest on it, from the audit too, and the turn is fenced", () => {
  const [boat, tea] = [fact("f1", "User's boat is called Zebra", ["t#1"]), fact("f2", "User likes tea", ["t#3"])];
  const { document, plan } = erased(made(added(boat), added(tea), superseded(tea, "f9")), { refs: refs("t#1") });
  assert.deepEqual([[...plan.ids], plan.contents, plan.sections], [["f1"], ["User's boat is called Zebra"], false]);
  assert.deepEqual(
    document.facts.map(({ id }) => id),
    ["f2"],
  );
  assert.deepEqual(document.fenced, ["t#1"]);
  assert.ok(!JSON.stringify(document).includes("Zebra"));
  assert.equal(planMemoryUndo(document, "c1.1").kind === "refused" && planMemoryUndo(document, "c1").kind, "refused");
  const again = planMemoryErasure(document, { refs: refs("t#1") });
  assert.deepEqual([[...again.ids], again.done], [["f1"], true], "what went is still known by its id");
});

test("a fact that was forgotten before leaves the audit, and one that took its place stays", () => {
  const [old, next] = [fact("f1", "User lives in Zebra", ["t#1"]), fact("f2", "User lives in Oslo", ["t#5"])];
  const document = made(added(old), added(next), superseded(old, "f2"), {
    ...added(old),
    kind: "forget",
    before: old,
    after: null,
  });
  const { document: left, plan } = erased(document, { refs: refs("t#1") });
  assert.deepEqual([...plan.ids], ["f1"]);
  assert.ok(!JSON.stringify(left).includes("Zebra"));
  assert.deepEqual(
    left.facts.map(({ id }) => id),
    ["f2"],
  );
});

test("a fact that other turns carry stays and no longer names the one that went", () => {
  const both = fact("f1", "User likes tea", ["t#1", "u#4"]);
  const kept = erased(made(added(both)), { refs: refs("t#1"), carried: () => true });
  assert.deepEqual([kept.document.facts[0]!.sourceMessageIds, kept.plan.ids.size], [["u#4"], 0]);
  const gone = erased(made(added(both)), { refs: refs("t#1"), carried: () => false });
  assert.deepEqual([gone.document.facts, [...gone.plan.ids]], [[], ["f1"]]);
});

test("a section goes back to what it said before the turn, unless a person has written it since", () => {
  const first = rewritten("", "A baker.", ["t#1"]);
  const second = rewritten("A baker.", "A baker with a boat called Zebra.", ["t#3"]);
  const third = rewritten("A baker with a boat called Zebra.", "A baker with a boat called Zebra and a dog.", ["t#9"]);
  const { document, plan } = erased(made(first, second, third), { refs: refs("t#3") });
  assert.deepEqual([document.userContext.workContext, plan.sections], ["A baker.", true]);
  assert.ok(!JSON.stringify(document).includes("Zebra"));
  const again = planMemoryErasure(document, { refs: refs("t#3") });
  assert.deepEqual([again.sections, again.done], [true, true]);

  const edited = applyChanges(made(first, second), [rewritten("A baker with a boat called Zebra.", "A cook.", [])], {
    at: AT,
    by: "manual",
  });
  const own = erased(edited, { refs: refs("t#3") }).document;
  assert.equal(own.userContext.workContext, "A cook.");
  assert.ok(!JSON.stringify(own).includes("Zebra"));
});

test("a fact that is asked for goes with the sentences of sections that say it", () => {
  const boat = fact("f1", "User's boat is called Zebra", []);
  const section = rewritten("", "They bake. Their boat is called Zebra! They have a dog.", []);
  const { document } = erased(made(added(boat), section), { refs: refs(), ids: refs("f1") });
  assert.equal(document.userContext.workContext, "They bake. They have a dog.");
  assert.ok(!JSON.stringify(document).includes("Zebra"));
});

function erased(document: MemoryDocument, request: MemoryErasureRequest) {
  const plan = planMemoryErasure(document, request);
  return { plan, document: plan.also(applyChanges(document, plan.changes, { at: AT, by: "manual" })) };
}

function made(...changes: NewChange[]): MemoryDocument {
  return applyChanges(emptyDocument(), changes, { at: AT, by: "conversation" });
}

function fact(id: string, content: string, sourceMessageIds: string[]): Fact {
  return {
    id,
    content,
    category: "context",
    confidence: 0.9,
    createdAt: AT,
    source: "conversation",
    sourceMessageIds,
  };
}

function added(one: Fact): NewChange & { on: "fact" } {
  return { kind: "add", on: "fact", target: one.id, before: null, after: one, sources: one.sourceMessageIds ?? [] };
}

function superseded(one: Fact, by: string): NewChange {
  const after = { ...one, validTo: AT, supersededBy: by };
  return { kind: "supersede", on: "fact", target: one.id, before: one, after, sources: ["t#1"] };
}

function rewritten(before: string, after: string, sources: string[]): NewChange {
  return { kind: "rewrite", on: "section", target: "userContext.workContext", before, after, sources };
}
