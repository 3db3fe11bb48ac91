import assert from "node:assert/strict";
import { test } from "node:test";
import { shapeOf } from "../message/dialects.ts";
import type { MessageRecord } from "./record.ts";
import { liveAfter, NOTHING_LIVE, sent, viewAfter } from "./structure.ts";
import { type LiveRecords, view } from "./view.ts";

const shape = shapeOf("openai");
const read = (record: MessageRecord) => JSON.parse(record.body);
const options = { shape, read };

function said(seq: number, role: "user" | "assistant" | "tool", at: string): MessageRecord {
  const body = role === "tool" ? { role, content: "done", tool_call_id: "c1" } : { role, content: `Words ${seq}.` };
  const common = { v: 3, runId: null, kind: "message", dialect: "openai", id: `m${seq}` } as const;
  return { ...common, seq, at, origin: "user", body: JSON.stringify(body) };
}

function live(...tail: readonly MessageRecord[]): LiveRecords {
  return { ...NOTHING_LIVE, tail };
}

function texts(records: LiveRecords, times?: "behind-summary"): string[] {
  return view(records, { ...options, times }).map((entry) => JSON.stringify(sent(entry, shape)));
}

const LINE = /\[14 hours after the message before: 2026-11-18 08:30 UTC\]/;
const talk = [said(1, "user", "2026-11-17T18:00:00.000Z"), said(2, "assistant", "2026-11-17T18:00:05.000Z")];

test("more than six hours before a user's message are told in one line of it, the same in every view", () => {
  const records = live(...talk, said(3, "user", "2026-11-18T08:30:00.000Z"));
  const [first, second, third] = texts(records);
  assert.doesNotMatch(`${first}${second}`, /after the message before/);
  assert.match(third ?? "", LINE);
  const grown = liveAfter(records, said(4, "assistant", "2026-11-18T08:30:09.000Z"));
  assert.equal(texts(grown)[2], third);
  const before = { live: live(...talk), entries: view(live(...talk), options) };
  assert.deepEqual(viewAfter(before, records, options), view(records, options));
});

for (const [what, role, at] of [
  ["six hours sharp", "user", "2026-11-18T00:00:05.000Z"],
  ["less", "user", "2026-11-17T21:00:00.000Z"],
  ["a time before the last message's", "user", "2026-11-16T08:00:00.000Z"],
  ["no time", "user", ""],
  ["an answer that took long", "assistant", "2026-11-18T08:30:00.000Z"],
  ["a tool's result that took long", "tool", "2026-11-18T08:30:00.000Z"],
] as const)
  test(`nothing is said for ${what}`, () => {
    assert.doesNotMatch(texts(live(...talk, said(3, role, at))).join(), /after the message before/);
  });

test("days are told as days, and where messages must stay as given only behind a summary", () => {
  const late = said(3, "user", "2026-11-21T08:30:00.000Z");
  assert.match(texts(live(...talk, late))[2] ?? "", /\[3 days after the message before: 2026-11-21 08:30 UTC\]/);
  assert.doesNotMatch(texts(live(...talk, late), "behind-summary").join(), /after the message before/);
  const summary = { format: "user", text: "So far.", digest: null, state: null } as const;
  const compaction = {
    kind: "compaction",
    covers: [1, 1],
    folds: null,
    request: null,
    systems: [],
    summary,
    rung: "extract",
    reason: "test",
    tokensBefore: 9,
    tokensAfter: 8,
    archive: null,
    v: 3,
    seq: 4,
    at: late.at,
    runId: null,
  } as const;
  const hidden = liveAfter(live(...talk, late), compaction);
  assert.match(texts(hidden, "behind-summary").join(), /3 days after/);
});
