import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type openaiShape, shapeOf } from "../message/internal.ts";
import type { LogRecord } from "./record.ts";
import {
  type Folded,
  liveAfter,
  liveStructure,
  NOTHING_LIVE,
  planRedo,
  planUndo,
  type Structural,
  viewAfter,
} from "./structure.ts";
import { view } from "./view.ts";

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

test("an older compaction takes those with it that fold it, and brings them back", () => {
  const plan = { kind: "undo", of: 11, restores: "compaction" } as const;
  assert.deepEqual(planUndo(CHAIN, 11), { ...plan, dependents: [20] });
  assert.deepEqual(planUndo([...CHAIN, undo(30, 20)], 11), { ...plan, dependents: [] });
  const undone = [...CHAIN, undo(30, 11)];
  assert.equal(liveStructure(undone).compaction, null);
  assert.deepEqual(planUndo(undone, 20), { kind: "refused", reason: "already-undone", target: 20 });
  assert.equal(liveStructure([...undone, undo(31, 30)]).compaction, 20);
});

test("an older prune can be taken back by name", () => {
  assert.deepEqual(planUndo([prune(5, 1), prune(6, 2)], 5), { kind: "undo", of: 5, restores: "prune", dependents: [] });
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
  assert.deepEqual(planUndo(redone), { kind: "undo", of: 20, restores: "compaction", dependents: [] });
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

type Step = "user" | "assistant" | "system" | "evidence" | "prune" | "compaction" | "state";
const step = fc.constantFrom<Step>("user", "assistant", "user", "system", "evidence", "prune", "compaction", "state");

test("a view folded on from the one before it is the view folded at once, whatever was appended", () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 40 }),
      fc.constantFrom("pair" as const, "user" as const, "system" as const),
      fc.nat(),
      (steps, format, pick) => {
        const shape = shapeOf("openai");
        const read = ({ body }: { readonly body: string }) => JSON.parse(body);
        const messages: number[] = [];
        let live = NOTHING_LIVE;
        let before: Folded<Parameters<typeof openaiShape.role>[0]> = { live, entries: [] };
        for (const [index, kind] of steps.entries()) {
          const record = recordOf(kind, index + 1, { messages, format, pick });
          if (record === null) continue;
          if (record.kind === "message") messages.push(record.seq);
          live = liveAfter(live, record as Exclude<LogRecord, { kind: "undo" }>);
          const entries = viewAfter(before, live, { shape, read });
          assert.deepEqual(entries, view(live, { shape, read }));
          before = { live, entries };
        }
      },
    ),
    { numRuns: 500 },
  );
});

interface Given {
  readonly messages: readonly number[];
  readonly format: "pair" | "user" | "system";
  readonly pick: number;
}

function recordOf(kind: Step, seq: number, { messages, format, pick }: Given): LogRecord | null {
  const stamp = { v: 2, seq, at: "2026-01-01T00:00:00.000Z", runId: null } as const;
  const one = messages[pick % Math.max(1, messages.length)] ?? 0;
  if (kind === "state") return { ...stamp, kind, patch: {} };
  if (kind === "user" || kind === "assistant" || kind === "system") {
    const body = JSON.stringify({ role: kind, content: `${kind} ${seq}` });
    return { ...stamp, kind: "message", id: `m${seq}`, dialect: "openai", origin: "user", body };
  }
  if (messages.length === 0) return null;
  // Evidence is added to a user's turn, which the newest message need not be.
  if (kind === "evidence") return { ...stamp, kind, of: one, text: `of use ${seq}`, ids: [], hash: "" };
  if (kind === "prune") {
    const entries = [{ target: one, part: 0, replacement: `cut ${seq}`, reason: "clamped" as const }];
    return { ...stamp, kind, entries, tokensBefore: 0, tokensAfter: 0 };
  }
  const last = messages[Math.floor((messages.length - 1) / 2)]!;
  const summary = { format, text: `summary ${seq}`, digest: pick % 2 === 0 ? "open calls" : null, state: null };
  return {
    ...stamp,
    kind: "compaction",
    covers: [1, last],
    folds: null,
    request: pick % 3 === 0 ? last : null,
    systems: [],
    summary,
    rung: "extract",
    reason: "manual",
    tokensBefore: 0,
    tokensAfter: 0,
    archive: null,
  };
}
