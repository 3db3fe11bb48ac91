import assert from "node:assert/strict";
import { test } from "node:test";
import { shapeOf } from "../message/dialects.ts";
import { planFold, planHide, planShow } from "./folds.ts";
import type { CompactionRecord, MessageRecord, PruneEntry, PruneRecord, Range } from "./record.ts";
import { NOTHING_LIVE } from "./structure.ts";
import { type LiveRecords, view } from "./view.ts";

const shape = shapeOf("openai");
const call = (id: string) => ({ role: "assistant", content: null, tool_calls: [toolCall(id)] });
const toolCall = (id: string) => ({ id, type: "function", function: { name: "look", arguments: "{}" } });

/** Seqs from 1. */
const SAID = [
  { role: "system", content: "You help." },
  { role: "user", content: "Find the bug." },
  call("a"),
  { role: "tool", tool_call_id: "a", content: "line 7 fails" },
  { role: "assistant", content: "It is line 7." },
  { role: "user", content: "And the other one?" },
  call("b"),
  { role: "tool", tool_call_id: "b", content: "line 9 fails" },
  { role: "assistant", content: "Line 9." },
  { role: "user", content: "Fix both." },
];
const common = { v: 3, at: "", runId: null } as const;
const MESSAGE = { ...common, kind: "message", dialect: "openai", origin: "user", body: "" } as const;
const TAIL = SAID.map((_, index): MessageRecord => ({ ...MESSAGE, seq: index + 1, id: `m${index + 1}` }));
const options = { shape, read: ({ seq }: MessageRecord) => SAID[seq - 1]! as never };
const LIVE: LiveRecords = { ...NOTHING_LIVE, tail: TAIL };

function pruned(entries: readonly PruneEntry[], seq = 20): PruneRecord {
  return { ...common, kind: "prune", seq, entries, tokensBefore: 2, tokensAfter: 1 };
}

function fold(range: Range, live = LIVE): LiveRecords {
  const cut = planFold(live, range, { words: "The bug is in line 7.", reason: "reported" }, options);
  assert.equal(cut.kind, "cut");
  return cut.kind === "cut"
    ? { ...live, prunes: [...live.prunes, pruned(cut.entries, 20 + live.prunes.length)] }
    : live;
}

function shown(live: LiveRecords): readonly (number | string | null)[] {
  return view(live, options).map(({ source, seq }) => (source === "message" ? seq : source));
}

test("a fold stands for its range in the middle, system messages stay", () => {
  const live = fold([3, 5]);
  assert.deepEqual(shown(live), [1, 2, "fold", 6, 7, 8, 9, 10]);
  assert.deepEqual(shown(fold([1, 5])), [1, "fold", 6, 7, 8, 9, 10]);
  const text = shape.parts(view(live, options)[2]!.message);
  assert.match(JSON.stringify(text), /Messages 3 to 5 are folded.*line 7/);
});

test("a wider fold takes the place of the folds it holds", () => {
  assert.deepEqual(shown(fold([2, 9], fold([3, 5]))), [1, "fold", 10]);
});

test("a fold behind a compaction's range no longer shows, one that is half behind it neither", () => {
  const summary = { format: "user", text: "So far.", digest: null, state: null } as const;
  const compaction = { covers: [1, 5], systems: [1], request: null, summary } as unknown as CompactionRecord;
  const behind = { ...fold([3, 5]), compaction, systems: [TAIL[0]!], tail: TAIL.slice(5) };
  assert.deepEqual(shown(behind), ["system", "summary", 6, 7, 8, 9, 10]);
  assert.deepEqual(shown({ ...behind, prunes: fold([2, 9]).prunes }), ["system", "summary", 6, 7, 8, 9, 10]);
});

for (const [what, range, reason] of [
  ["between a call and its result", [6, 7], "parts-call"],
  ["that begins with a result", [8, 9], "parts-call"],
  ["with the current request in it", [9, 10], "current-request"],
  ["of no message", [30, 40], "no-message"],
  ["with its ends swapped", [5, 3], "bad-range"],
  ["that overlaps a fold", [5, 8], "overlaps-fold"],
] as const) {
  test(`a range ${what} is refused`, () => {
    const cut = planFold(fold([3, 5]), range, { words: "Report", reason: "reported" }, options);
    assert.equal(cut.kind === "refused" ? cut.reason : cut.kind, reason);
  });
}

test("a hidden message keeps its place and its pairs, and is shown again by undoing one record", () => {
  const cut = planHide(LIVE, { seq: 4, part: null }, options);
  assert.ok(cut.kind === "cut");
  const live = { ...LIVE, prunes: [pruned(cut.entries)] };
  const message = view(live, options)[3]!.message;
  assert.deepEqual([shape.answers(message), JSON.stringify(message).includes("line 7")], [["a"], false]);
  assert.deepEqual(planShow(live, { seq: 4, part: null }), { kind: "undo", of: [20] });
  assert.deepEqual(planShow(fold([3, 5]), { seq: 4, part: null }), { kind: "undo", of: [20] });
});

for (const [what, seq, reason] of [
  ["the current request", 10, "current-request"],
  ["a system message", 1, "nothing-to-hide"],
  ["a record that is no message", 30, "no-message"],
  ["a message that is folded", 4, "overlaps-fold"],
] as const) {
  test(`hiding ${what} is refused`, () => {
    const cut = planHide(fold([3, 5]), { seq, part: null }, options);
    assert.equal(cut.kind === "refused" ? cut.reason : cut.kind, reason);
  });
}

test("showing what is not hidden is refused", () => {
  const plan = planShow(LIVE, { seq: 4, part: null });
  assert.equal(plan.kind === "refused" && plan.reason, "not-hidden");
});

test("showing what a summary hides names its compaction and undo; what still stands is just not hidden", () => {
  const compaction = { seq: 11, covers: [1, 5], systems: [1], request: null } as unknown as CompactionRecord;
  const live = { ...LIVE, compaction, systems: [TAIL[0]!], tail: TAIL.slice(5) };
  const problem = "message 4 is behind the summary of #11; undo takes that back";
  assert.deepEqual(planShow(live, { seq: 4, part: null }), { kind: "refused", reason: "behind-summary", problem });
  for (const seq of [1, 6]) {
    const plan = planShow(live, { seq, part: null });
    assert.equal(plan.kind === "refused" && plan.reason, "not-hidden");
  }
});
