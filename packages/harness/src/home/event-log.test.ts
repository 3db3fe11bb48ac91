import assert from "node:assert/strict";
import { test } from "node:test";
import { eventLog, type HomeEvent } from "./from-config.ts";

const FAILURES: readonly HomeEvent[] = [
  { type: "summary-failed", reason: "model-failed", detail: "429" },
  { type: "breaker-open", failures: 3, until: "12:00" },
  { type: "memory-failed", threadId: "t", reason: "no answer" },
];

test("a warning at the default level names no class of the program", () => {
  assert.deepEqual(linesOf("info", FAILURES), [
    "Summarizer failed (model-failed): 429",
    "Summarizer not asked until 12:00 after 3 failures",
    "Memory failed for t: no answer",
  ]);
});

test("at the level debug, and with --verbose, every line says which part wrote it", () => {
  const lines = [
    "[SummarizationMiddleware] Summarizer failed (model-failed): 429",
    "[SummarizationMiddleware] Summarizer not asked until 12:00 after 3 failures",
    "[MemoryUpdater] Memory failed for t: no answer",
  ];
  assert.deepEqual(linesOf("debug", FAILURES), lines);
  assert.deepEqual(linesOf({ summarization: "debug", memory: "debug" }, FAILURES), lines);
  assert.deepEqual(linesOf("info", FAILURES, true), lines);
});

function linesOf(log_level: "info" | "debug" | Record<string, "debug">, events: readonly HomeEvent[], verbose = false) {
  const lines: string[] = [];
  const log = eventLog({ log_level }, { line: (text) => lines.push(text), verbose });
  events.forEach(log);
  return lines;
}
