/**
 * One summary being written: what the summarizer may be shown per call and what its answer may take, and the calls
 * themselves, a few at a time, until all are answered or one has failed for good.
 */

import type { Asked, Asker, Question } from "./ask-summarizer.ts";
import type { DraftTable } from "./draft-table.ts";
import type { CachedPrefix, Summarize } from "./summarize.ts";
import type { SummaryJob, SummaryResult } from "./summary-writer.ts";

export interface ModelWriterOptions {
  readonly summarize: Summarize;
  /** Tokens of the summarizer's own window. */
  readonly window: number;
  /** Set aside in it for the answer, at most a quarter of the window. */
  readonly reservedOutputTokens: number;
  /** The most messages of one call may count; null: what the window leaves. */
  readonly trimTokensToSummarize: number | null;
  /** From how many calls on tool outputs are digested. */
  readonly maxSummarizerCalls: number;
  /** A prompt of one's own gives prose; null: the built-in patch. */
  readonly summaryPrompt: string | null;
  /** `prose` asks for prose with the built-in prompt when there is none of one's own. */
  readonly style?: "patch" | "prose";
  /** Where finished calls are kept, so that a crash repeats none of them; the thread's own table when not given. */
  readonly drafts?: DraftTable | null;
  /** The conversation's last request, when the summarizer is the same model: then one call on its cache is enough. */
  readonly prefix?: () => CachedPrefix | null;
  /** Counts for the summarizer; the conversation's count when not given, whose factor may change between two attempts. */
  readonly count?: (text: string) => number;
  /** Calls at the same time. */
  readonly concurrency?: number;
  /** For one call. */
  readonly timeoutMs?: number;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** A job, and what its calls share. */
export interface SummaryCall<M> {
  readonly job: SummaryJob<M>;
  readonly options: ModelWriterOptions;
  readonly count: (text: string) => number;
  readonly budget: Budget;
  readonly asker: Asker;
  readonly signal: AbortSignal;
}

export interface Budget {
  /** The most one prompt may count. */
  readonly input: number;
  /** What an answer may take at first; reasoning counts too. */
  readonly output: number;
}

export function budgetOf({ window, reservedOutputTokens }: ModelWriterOptions): Budget {
  const output = Math.max(1, Math.floor(Math.min(reservedOutputTokens, window / 4)));
  return { input: window - output, output };
}

/** What is left for messages beside the rest of the prompt; a little is kept back, since counts are estimates. */
export function roomFor<M>({ options, budget, count }: SummaryCall<M>, promptWithout: string, places = 1): number {
  const overhead = count(promptWithout) + 32 + Math.ceil(options.window / 50);
  const room = Math.floor((budget.input - overhead) / places);
  return Math.min(options.trimTokensToSummarize ?? Number.POSITIVE_INFINITY, room);
}

/** After a cut answer: four times the room, as far as the window has it. */
export function outputAfterCut<M>({ options, budget, count }: SummaryCall<M>, prompt: string): number {
  return Math.max(budget.output, Math.min(budget.output * 4, options.window - count(prompt) - 64));
}

const LEAST_ROOM = 64;

/** Below this no summary comes out of any number of calls. */
export function tooSmall(room: number): boolean {
  return room < LEAST_ROOM;
}

/** All answers in order, or the first failure; what is still running then is stopped. */
export async function askAll<M, T>(
  { options, asker, signal, job }: SummaryCall<M>,
  count: number,
  question: (index: number) => Question<T>,
): Promise<Asked<readonly T[]>> {
  const values = new Array<T>(count);
  const stop = new AbortController();
  const until = AbortSignal.any([signal, stop.signal]);
  let failure: Exclude<Asked<T>, { kind: "answered" }> | null = null;
  let next = 0;
  let done = 0;
  const work = async (): Promise<void> => {
    while (next < count && failure === null) {
      const index = next++;
      const asked = await asker.ask(question(index), until);
      if (asked.kind === "answered") {
        values[index] = asked.value;
        job.onProgress(++done, count);
      } else if (failure === null) {
        failure = asked;
        stop.abort();
      }
    }
  };
  const workers = Math.max(1, Math.min(options.concurrency ?? 4, count));
  await Promise.all(Array.from({ length: workers }, work));
  return failure ?? { kind: "answered", value: values };
}

export function failedResult<M>(call: SummaryCall<M>, reason: Failure["reason"], detail: string): Failure {
  return { kind: "failed", reason, detail, ...call.asker.spent() };
}

type Failure = Extract<SummaryResult, { kind: "failed" }>;
