import assert from "node:assert/strict";
import { test } from "node:test";
import { liveStructure, planRedo, planUndo, type Structural } from "./structure.ts";

const compaction = (seq: number, covers: readonly [number, number], folds: number | null): Structural => ({
  kind: "compaction",
  seq,
  covers,
  folds,
});
const prune = (seq: number, reach: number): Structural => ({ kind: "prune", seq, reach });
const undo = (seq: number, of: number): Structural => ({ kind: "undo", seq, of });
const evidence = (seq: number): Structural => ({ kind: "evidence", seq });

const CHAIN = [prune(10, 8), compaction(11, [1, 4], null), compaction(20, [5, 7], 11)];

test("hidden is the chain's union: the newest compaction says how far", () => {
  const live = liveStructure(CHAIN);
  assert.deepEqual([live.compaction, live.hiddenThrough, live.prunes, live.reach], [20, 7, [10], [8]]);
});

test("a prune whose messages are all hidden no longer shows, and shows again after the undo", () => {
  const hidden = [...CHAIN, compaction(30, [8, 9], 20)];
  assert.deepEqual(liveStructure(hidden).prunes, []);
  assert.deepEqual(liveStructure([...hidden, undo(31, 30)]).prunes, [10]);
});

test("[F43] undo without a target takes the newest live prune or compaction, one after the other", () => {
  const structure = [...CHAIN];
  const taken: number[] = [];
  for (let seq = 100; ; seq += 1) {
    const plan = planUndo(structure);
    if (plan.kind === "refused") break;
    taken.push(plan.of);
    structure.push(undo(seq, plan.of));
  }
  assert.deepEqual(taken, [20, 11, 10]);
  assert.deepEqual(liveStructure(structure).hiddenThrough, 0);
});

test("redo brings back one undo at a time, newest first", () => {
  const structure = [...CHAIN, undo(100, 20), undo(101, 11), undo(102, 10)];
  const back: number[] = [];
  for (let seq = 200; ; seq += 1) {
    const plan = planRedo(structure);
    if (plan.kind === "refused") break;
    back.push(plan.of);
    structure.push(undo(seq, plan.of));
  }
  assert.deepEqual(back, [102, 101, 100]);
  assert.deepEqual(liveStructure(structure), liveStructure(CHAIN));
});

test("an older compaction is refused while a newer one folds it", () => {
  assert.deepEqual(planUndo(CHAIN, 11), { kind: "refused", reason: "folded-by", target: 11, by: 20 });
  assert.deepEqual(planUndo([...CHAIN, undo(30, 20)], 11), { kind: "undo", of: 11, restores: "compaction" });
});

test("an older prune can be taken back by name", () => {
  assert.deepEqual(planUndo([prune(5, 1), prune(6, 2)], 5), { kind: "undo", of: 5, restores: "prune" });
});

test("a compaction returns only onto the one it folded", () => {
  const undone = [...CHAIN, undo(30, 20), undo(31, 11)];
  assert.deepEqual(planUndo(undone, 30), { kind: "refused", reason: "not-undoable", target: 30 });
  const replaced = [...CHAIN, undo(30, 20), compaction(40, [5, 6], 11)];
  assert.deepEqual(planUndo(replaced, 30), { kind: "refused", reason: "folded-by", target: 30, by: 40 });
});

test("what can't be undone is named", () => {
  assert.deepEqual(planUndo([]), { kind: "refused", reason: "nothing-to-undo" });
  assert.deepEqual(planRedo(CHAIN), { kind: "refused", reason: "nothing-to-redo" });
  assert.deepEqual(planUndo(CHAIN, 3), { kind: "refused", reason: "not-undoable", target: 3 });
  assert.deepEqual(planUndo([evidence(3)], 3), { kind: "refused", reason: "not-undoable", target: 3 });
  const redone = [...CHAIN, undo(30, 20), undo(31, 30)];
  assert.deepEqual(planUndo(redone, 30), { kind: "refused", reason: "already-undone", target: 30 });
  assert.deepEqual(planUndo(redone, 31), { kind: "refused", reason: "not-undoable", target: 31 });
  assert.deepEqual(planUndo(redone), { kind: "undo", of: 20, restores: "compaction" });
});

test("evidence is dropped by the next prune or compaction, and returns when that is undone", () => {
  const structure = [evidence(3), prune(5, 2), evidence(7)];
  assert.deepEqual(liveStructure(structure).evidence, [7]);
  assert.deepEqual(liveStructure([...structure, undo(8, 5)]).evidence, [3, 7]);
});

test("a standing undo is remembered until something new is compacted or pruned", () => {
  const undone = [...CHAIN, undo(30, 20)];
  assert.deepEqual(liveStructure(undone).undone, { seq: 30 });
  assert.equal(liveStructure([...undone, prune(40, 9)]).undone, null);
  assert.equal(liveStructure([...undone, undo(31, 30)]).undone, null);
});
