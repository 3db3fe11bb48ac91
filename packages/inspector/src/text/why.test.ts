import assert from "node:assert/strict";
import { test } from "node:test";
import { type EntryFacts, isErased, whyOf } from "./why.ts";

test("each entry has one reason, the strangest first", () => {
  const entry: EntryFacts = { seq: 4, source: "message", role: "tool", tokens: 9 };
  const label = (facts: Partial<EntryFacts>) => whyOf({ ...entry, ...facts }, 83).label;
  assert.deepEqual(
    [
      label({}),
      label({ source: "summary", seq: null }),
      label({ shortened: ["superseded"], pinned: true }),
      label({ shortened: ["of-tomorrow"] }),
      label({ pinned: true }),
      label({ evidence: 3 }),
    ],
    [
      "verbatim",
      "summary of #1 to #83",
      "shortened: read again later",
      "shortened: of-tomorrow",
      "pinned",
      "with evidence, 3",
    ],
  );
});

test("a message speaks of the last compaction only where one stands", () => {
  const entry: EntryFacts = { seq: 4, source: "message", role: "user", tokens: 9 };
  assert.deepEqual(
    [whyOf(entry, 0).sentence, whyOf(entry, 3).sentence],
    ["As it was said.", "As it was said: newer than what the last compaction hid."],
  );
});

test("a message is redacted if a whole part of it is, not if it quotes the word", () => {
  assert.equal(isErased([{ text: "" }, { text: "[redacted]" }]), true);
  assert.equal(isErased([{ text: "what does [redacted] mean?" }]), false);
});
