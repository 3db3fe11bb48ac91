/**
 * A thread of millions of tokens through a summarizer that can read a few thousand, killed at chosen calls and started
 * again. Every word of user and assistant is its own, so that the report can say which of them were never read.
 */

import { NO_OWN_WORDS } from "@palimpsest/core/internal/compaction";
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/internal/message";
import { NO_QUOTES, NOWHERE } from "@palimpsest/core/internal/summary";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import type { DraftTable } from "../../src/compaction/drafts.ts";
import { createModelWriter } from "../../src/compaction/model-writer.ts";
import { type Summarize, SummarizeError, type SummaryJob, type SummaryResult } from "../../src/compaction/summarize.ts";
import { SUMMARIZERS } from "./summarizers.ts";

export interface LongSummaryOptions {
  readonly tokens: number;
  /** Of the summarizer. */
  readonly window: number;
  /** Where finished parts are kept; they are all that survives a kill. */
  readonly drafts: DraftTable;
  /** The process dies before this many calls in a row have been answered; Infinity: never. */
  readonly killAfter: number;
}

export interface LongSummaryReport {
  readonly messages: number;
  readonly tokens: number;
  /** Tokens of user's and assistant's words, which are never shortened. */
  readonly wordTokens: number;
  readonly words: number;
  readonly wordsNeverRead: number;
  /** Calls answered, and how many it would take at least to read the words alone. */
  readonly calls: number;
  readonly leastCalls: number;
  /** Answered calls that had been answered before. */
  readonly repeated: number;
  readonly kills: number;
  /** Tool outputs read as digests. */
  readonly digested: number;
  readonly largestPrompt: number;
  readonly items: number;
  readonly ms: number;
}

const count = charsPerToken(4);
const WORDS = /\bw[0-9a-z]+q\b/g;

export async function summarizeLongThread(options: LongSummaryOptions): Promise<LongSummaryReport> {
  const started = performance.now();
  const messages = longThread(options.tokens);
  const job = jobOf(messages);
  const seen = new Set<string>();
  const asked = new Map<string, number>();
  let largestPrompt = 0;
  let kills = 0;
  let result: SummaryResult;
  do {
    let left = options.killAfter;
    const summarize: Summarize = async (request, signal) => {
      if (left-- <= 0) throw new SummarizeError("killed", { retry: "never" });
      const size = count(request.system) + count(request.prompt);
      if (size + request.maxOutputTokens > options.window) throw new Error(`a prompt of ${size} tokens is too long`);
      largestPrompt = Math.max(largestPrompt, size);
      for (const [word] of request.prompt.matchAll(WORDS)) seen.add(word);
      asked.set(request.prompt, (asked.get(request.prompt) ?? 0) + 1);
      return SUMMARIZERS.extractive(request, signal);
    };
    result = await createModelWriter({ ...SETTINGS, ...options, summarize })(job, new AbortController().signal);
    if (result.kind === "failed") {
      if (result.detail !== "killed") throw new Error(`the summary failed: ${result.reason}, ${result.detail}`);
      kills++;
    }
  } while (result.kind === "failed");

  const calls = [...asked.values()].reduce((sum, times) => sum + times, 0);
  const wordTexts = messages.filter(({ role }) => role !== "tool").map(({ content }) => String(content ?? ""));
  const words = wordTexts.flatMap((text) => text.match(WORDS) ?? []);
  const wordTokens = wordTexts.reduce((sum, text) => sum + count(text), 0);
  return {
    messages: messages.length,
    tokens: job.hiddenTokens,
    wordTokens,
    words: words.length,
    wordsNeverRead: words.filter((word) => !seen.has(word)).length,
    calls,
    leastCalls: Math.ceil(wordTokens / (options.window * 0.75)),
    repeated: calls - asked.size,
    kills,
    digested: result.digested,
    largestPrompt,
    items: Object.values(result.state.sections).flat().length,
    ms: Math.round(performance.now() - started),
  };
}

const SETTINGS = {
  reservedOutputTokens: 4096,
  trimTokensToSummarize: null,
  maxSummarizerCalls: 8,
  summaryPrompt: null,
  concurrency: 1,
} as const;

/** A fifth of it is words, the rest what tools were asked and answered. */
function longThread(tokens: number): OpenAiMessage[] {
  const messages: OpenAiMessage[] = [];
  let serial = 0;
  const words = (amount: number): string =>
    Array.from({ length: amount }, () => `w${(serial++).toString(36)}q`).join(" ");
  for (let turn = 0, size = 0; size < tokens; turn++) {
    const id = `call-${turn}`;
    const output = Array.from(
      { length: 400 },
      (_, line) => `src/module-${turn % 97}.ts:${line} reads ${turn * 31 + line}`,
    );
    const round: OpenAiMessage[] = [
      { role: "user", content: `Question ${turn}: ${words(60)}` },
      {
        role: "assistant",
        content: `Let me look. ${words(300)}`,
        tool_calls: [
          { id, type: "function", function: { name: "bash", arguments: `{"command":"grep -rn ${turn} src"}` } },
        ],
      },
      { role: "tool", tool_call_id: id, content: output.join("\n") },
      { role: "assistant", content: `Found it. ${words(300)}` },
    ];
    messages.push(...round);
    size += round.reduce((sum, message) => sum + sizeOf(message), 0);
  }
  return messages;
}

function jobOf(messages: readonly OpenAiMessage[]): SummaryJob<OpenAiMessage> {
  return {
    input: {
      prior: null,
      entries: messages.map((message, index) => ({ seq: index + 1, message })),
      pins: [],
      userTurns: [],
      own: NO_OWN_WORDS,
      quotes: NO_QUOTES,
      lines: { todos: [], delegations: [], skills: [] },
      originals: NOWHERE,
    },
    shape: openaiShape,
    maxTokens: 4000,
    count,
    focus: null,
    hiddenTokens: messages.reduce((sum, message) => sum + sizeOf(message), 0),
    onProgress: () => undefined,
  };
}

function sizeOf(message: OpenAiMessage): number {
  return openaiShape
    .parts(message)
    .reduce((sum, part) => sum + count(part.kind === "call" ? part.input : "text" in part ? part.text : ""), 0);
}
