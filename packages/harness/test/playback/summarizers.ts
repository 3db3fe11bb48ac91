/**
 * Summarizers for tests and benches: one that works without a model, and the seven ways in which real ones don't [F1] to
 * [F4]. Deterministic; what they do depends on the request alone.
 */
import { setTimeout as delay } from "node:timers/promises";
import { createModelWriter } from "../../src/compaction/model-writer.ts";
import type { Summarize, SummaryAnswer, SummaryRequest, SummaryWriter } from "../../src/compaction/summarize.ts";

export type SummarizerName = "extractive" | "failing" | "empty" | "too-long" | "refusing" | "slow" | "garbage" | "echo";

/** Longer than anybody waits in a test; give the writer a `timeoutMs`. It ends at once when it is stopped. */
const SLOW_MS = 60_000;

export const SUMMARIZERS: Readonly<Record<SummarizerName, Summarize>> = {
  extractive: async (request) => answer(extract(request)),
  failing: async () => {
    throw new Error("429 Too Many Requests");
  },
  empty: async () => answer(" \n"),
  "too-long": async (request) => answer(tooLong(request)),
  refusing: async () => answer("I'm sorry, but I can't help with that."),
  slow: async (request, signal) => {
    await delay(SLOW_MS, undefined, { signal });
    return answer(extract(request));
  },
  garbage: async () => answer('{"add": {"goals": [{"text": 12}, ]]}, \u0000\ufffd undefined <|endoftext|> {{{"'),
  echo: async ({ prompt }) => answer(prompt),
};

/** A summary writer on one of them, with the patience of a test. */
export function misbehavingWriter(name: SummarizerName, window: number): SummaryWriter {
  return createModelWriter({
    summarize: SUMMARIZERS[name],
    window,
    reservedOutputTokens: 4096,
    trimTokensToSummarize: null,
    maxSummarizerCalls: 8,
    summaryPrompt: null,
    // Only the one that never answers may run out of time, however slow the machine is.
    timeoutMs: name === "slow" ? 20 : 600_000,
    sleep: async () => undefined,
  });
}

/** The first words of every user and assistant block, with their numbers. */
function extract({ kind, prompt }: SummaryRequest): string {
  const goals: SummarizedItem[] = [];
  const facts: SummarizedItem[] = [];
  for (const [, seq, who, text] of prompt.matchAll(/^\[#(\d+) (user|assistant)\]\n(.{1,160})/gm)) {
    (who === "user" ? goals : facts).push({ text: text!.trim(), seqs: [Number(seq)] });
  }
  const few = (items: readonly SummarizedItem[]): readonly SummarizedItem[] => items.slice(0, 8);
  if (kind === "prose") {
    const said = few([...goals, ...facts]).map(({ text }) => `- It was said: ${text}`);
    return said.length === 0 ? "A part of the conversation without words." : said.join("\n");
  }
  const now = facts.slice(-1);
  return JSON.stringify({ add: { goals: few(goals), facts: few(facts), now } });
}

interface SummarizedItem {
  readonly text: string;
  readonly seqs: readonly number[];
}

/** Half as much again as it was shown. */
function tooLong({ kind, prompt }: SummaryRequest): string {
  const words = "The user wants this and that done in one way or another, and more of it. ";
  const size = Math.ceil((prompt.length * 1.5) / words.length);
  if (kind === "prose") return words.repeat(size);
  const sections = ["goals", "decisions", "files", "facts", "errors"];
  const each = Math.ceil(size / (sections.length * 100));
  const items = Array.from({ length: 100 }, (_, index) => ({ text: `${index}: ${words.repeat(each)}`, seqs: [] }));
  return JSON.stringify({ add: Object.fromEntries(sections.map((section) => [section, items])) });
}

function answer(text: string): SummaryAnswer {
  return { text, finish: "stop" };
}
