import assert from "node:assert/strict";
import { test } from "node:test";
import { type EntryFacts, keptOf, whyOf } from "./why.ts";

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
      "with evidence",
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

test("of a redacted message behind a summary it is said that its words were erased", () => {
  assert.equal(keptOf([{ text: "[redacted]" }]), "Its words were erased, in the log too.");
  const quoted = [{ text: "what does [redacted] mean?" }];
  assert.equal(keptOf(quoted), "The log has it word for word.");
});
