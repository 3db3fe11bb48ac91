import assert from "node:assert/strict";
import { test } from "node:test";
import { targetOf } from "./cut-target.ts";

const SUMMARIZED = 214;
const entry = (seq: number) => {
  const shown = { key: String(seq), part: "user", name: "user", seq, tokens: 10 };
  return { ...shown, why: "verbatim", tone: "quiet", text: null } as const;
};
const target = (...rows: Parameters<typeof targetOf>[0]) => {
  const { from, until, messages, state } = targetOf(rows, [], SUMMARIZED)!;
  return { from, until, messages, state };
};

test("a range that begins in what the summary stands for is cut to the messages after it", () => {
  const rows = [entry(210), entry(218), entry(220)];
  assert.deepEqual(target(...rows), { from: 218, until: 220, messages: 2, state: "shown" });
});

test("a message that is kept though the summary stands for it can be pinned, not hidden or folded", () => {
  assert.deepEqual(target(entry(210)), { from: 210, until: 210, messages: 1, state: "summarized" });
});
