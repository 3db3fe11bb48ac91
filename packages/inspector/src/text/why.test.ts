import assert from "node:assert/strict";
import { test } from "node:test";
import { type EntryFacts, whyOf } from "./why.ts";

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
