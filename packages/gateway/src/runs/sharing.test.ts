import assert from "node:assert/strict";
import { test } from "node:test";
import { isBatchDue } from "./published-run.ts";
import { abortedResult, heardIn } from "./remote-run.ts";
import { readEventId } from "./run.ts";

test("events are written when they have waited for 100 ms, fill 4 kB, or are the last", () => {
  for (const [chars, ms, run, expected] of [
    [0, 0, "live", false],
    [0, 500, "live", false],
    [10, 99, "live", false],
    [10, 100, "live", true],
    [4096, 0, "live", true],
    [4095, 0, "live", false],
    [0, 0, "ended", true],
  ] as const)
    assert.equal(isBatchDue({ chars, ms, run }), expected, `${chars} ${ms} ${run}`);
});

test("an event is named by its number, alone or behind its run's name; another run's is none of ours", () => {
  for (const [text, expected] of [
    ["17", 17],
    ["r:17", 17],
    ["0", 0],
    ["other:17", null],
    ["r:", null],
    ["-1", null],
    ["1e3", null],
    ["9999999999999999", null],
  ] as const)
    assert.equal(readEventId(text, "r"), expected, text);
});

test("of a run that broke off, what is in no record yet was heard last", () => {
  const lines = [
    { type: "run-start", threadId: "t-fork", runId: "r" },
    { type: "message-append", seq: 3, role: "user" },
    { type: "text-delta", id: "1", text: "Let me see." },
    { type: "message-append", seq: 4, role: "assistant" },
    { type: "message-append", seq: 5, role: "tool" },
    { type: "text-delta", id: "2", text: "It " },
    { type: "text-delta", id: "2", text: "is" },
  ].map((event) => JSON.stringify(event));
  const heard = heardIn(lines);
  assert.deepEqual(heard, { threadId: "t-fork", seq: 5, text: "It is", steps: 1 });
  const { end, text, steps, threadId } = abortedResult(heard, { id: "r", threadId: "t-fork" });
  assert.deepEqual(
    { end, text, steps, threadId },
    { end: { kind: "aborted" }, text: "It is", steps: 1, threadId: "t-fork" },
  );
  assert.deepEqual(heardIn([]), { threadId: null, seq: null, text: "", steps: 0 });
});
