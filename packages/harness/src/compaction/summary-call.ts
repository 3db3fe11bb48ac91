/**
 * One summary being written: what the summarizer may be shown per call, what its answer may take, and the calls, a few
 * at a time, until all are answered or one has failed for good. Each call is asked within a time limit, once more after a
 * failure, with more room after an answer that was cut. Finished answers are kept by what was asked, so that a crash
 * repeats none of them. What an answer is worth is the caller's to read.
 */
import type { InvalidReason, ParsedPatch, SummaryPatch } from "@palimpsest/core/internal/summary";
import { parsePatch, validateSummary } from "@palimpsest/core/internal/summary";
import { errorText } from "@palimpsest/core/internal/text";
import { within } from "../long-work.ts";
import { addUsage, NO_USAGE, type Usage } from "../models/facts.ts";
import type { DraftTable } from "./drafts.ts";
import type { SUMMARIZER_BOUNDS } from "./summarization.ts";
import {
  type CachedPrefix,
  type Summarize,
  SummarizeError,
  type SummaryAnswer,
  type SummaryFailure,
  type SummaryJob,
  type SummaryRequest,
  type SummaryResult,
} from "./summarize.ts";

export interface ModelWriterOptions {
  readonly summarize: Summarize;
  /** Tokens of the summarizer's own window. */
  readonly window: number;
  /** Set aside in it for the answer (4096), at most a quarter of the window. */
  readonly reservedOutputTokens?: number;
  /** The most messages of one call may count; null, as unless told: what the window leaves. */
  readonly trimTokensToSummarize?: number | null;
  /** From how many calls on (8) tool outputs are digested. */
  readonly maxSummarizerCalls?: number;
  /** A prompt of one's own gives prose; null, as unless told: the built-in patch. */
  readonly summaryPrompt?: string | null;
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

/** With what was left out. */
export type WriterSettings = ModelWriterOptions & typeof SUMMARIZER_BOUNDS;

/** A job, and what its calls share. */
export interface SummaryCall<M> {
  readonly job: SummaryJob<M>;
  readonly options: WriterSettings;
  readonly count: (text: string) => number;
  readonly budget: CallBudget;
  readonly asker: SummaryAsker;
  readonly signal: AbortSignal;
}

interface CallBudget {
  /** The most one prompt may count. */
  readonly input: number;
  /** What an answer may take at first; reasoning counts too. */
  readonly output: number;
}

export function budgetOf({ window, reservedOutputTokens }: WriterSettings): CallBudget {
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
): Promise<AskedSummary<readonly T[]>> {
  const values = new Array<T>(count);
  const stop = new AbortController();
  const until = AbortSignal.any([signal, stop.signal]);
  let failure: Exclude<AskedSummary<T>, { kind: "answered" }> | null = null;
  let next = 0;
  let done = 0;
  const work = async (): Promise<void> => {
    while (next < count && failure === null) {
      const index = next++;
      const reply = await asker.ask(question(index), until);
      if (reply.kind === "answered") {
        values[index] = reply.value;
        job.onProgress(++done, count);
      } else if (failure === null) {
        failure = reply;
        stop.abort();
      }
    }
  };
  const workers = Math.max(1, Math.min(options.concurrency ?? 4, count));
  await Promise.all(Array.from({ length: workers }, work));
  return failure ?? { kind: "answered", value: values };
}

export function failedResult<M>(
  call: SummaryCall<M>,
  reason: SummaryCallFailure["reason"],
  detail: string,
): SummaryCallFailure {
  return { kind: "failed", reason, detail, ...call.asker.spent() };
}

type SummaryCallFailure = Extract<SummaryResult, { kind: "failed" }>;

interface AskerOptions {
  readonly summarize: Summarize;
  readonly drafts: DraftTable | null;
  readonly timeoutMs: number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

type AnswerReading<T> =
  | { readonly kind: "usable"; readonly value: T }
  /** It was cut at the output limit; `value` is what could be saved of it. */
  | { readonly kind: "cut"; readonly value: T | null }
  | { readonly kind: "unusable"; readonly reason: SummaryFailure; readonly detail: string };

export interface Question<T> {
  readonly request: SummaryRequest;
  /** The most the answer may take when the first room was not enough. */
  readonly maxOutputTokens: number;
  readonly read: (answer: SummaryAnswer) => AnswerReading<T>;
}

type AskedSummary<T> = { readonly kind: "answered"; readonly value: T } | FailedCall;

interface FailedCall {
  readonly kind: "failed";
  readonly reason: SummaryFailure;
  readonly detail: string;
}

interface SummaryAsker {
  ask<T>(question: Question<T>, signal: AbortSignal): Promise<AskedSummary<T>>;
  /** What was spent so far. */
  spent(): { readonly calls: number; readonly usage: Usage };
}

const ATTEMPTS = 2;
const LONGEST_PAUSE_MS = 20_000;

export function createAsker({ summarize, drafts, timeoutMs, sleep }: AskerOptions): SummaryAsker {
  let calls = 0;
  let usage = NO_USAGE;

  const call = async (request: SummaryRequest, signal: AbortSignal): Promise<SummaryAnswer> => {
    calls++;
    const tooLong = (): TooSlow => new TooSlow(`no answer within ${Math.round(timeoutMs / 1000)} s`);
    const answer = await within({ ms: timeoutMs, signal, tooLong }, (limited) => summarize(request, limited));
    usage = addUsage(usage, answer.usage);
    return answer;
  };

  const askAnew = async <T>(question: Question<T>, signal: AbortSignal, keep: KeepParts): Promise<AskedSummary<T>> => {
    let { request } = question;
    let saved: { readonly value: T; readonly answer: SummaryAnswer } | null = null;
    let failure: FailedCall = failed("aborted", "it was stopped before the summarizer was asked");
    for (let attempt = 0; attempt < ATTEMPTS && !signal.aborted; attempt++) {
      const tried = await attemptOnce(() => call(request, signal), question, signal);
      if (tried.kind === "threw") {
        failure = tried.failure;
        if (tried.retry === "never") break;
        if (attempt + 1 < ATTEMPTS)
          await sleep(Math.min(LONGEST_PAUSE_MS, tried.afterMs), signal).catch(() => undefined);
        continue;
      }
      const { reading, answer } = tried;
      if (reading.kind === "usable") {
        await keep(answer);
        return { kind: "answered", value: reading.value };
      }
      if (reading.kind === "unusable") {
        failure = failed(reading.reason, reading.detail);
        continue;
      }
      if (reading.value !== null) saved = { value: reading.value, answer };
      failure = failed("invalid", `the answer was cut at ${request.maxOutputTokens} tokens`);
      if (question.maxOutputTokens <= request.maxOutputTokens) break;
      request = { ...request, maxOutputTokens: question.maxOutputTokens };
    }
    if (saved === null || signal.aborted) return signal.aborted ? failed("aborted", failure.detail) : failure;
    await keep(saved.answer);
    return { kind: "answered", value: saved.value };
  };

  return {
    spent: () => ({ calls, usage }),
    async ask(question, signal) {
      // A cached prefix is one call; there is nothing to resume.
      if (drafts === null || question.request.prefix !== null) return askAnew(question, signal, async () => undefined);
      const key = keyOf(question.request);
      const answer = readKept(await drafts.get(key));
      const reading = answer === null ? null : question.read(answer);
      if (reading !== null && reading.kind !== "unusable" && reading.value !== null)
        return { kind: "answered", value: reading.value };
      return askAnew(question, signal, ({ text, finish }) => drafts.put(key, JSON.stringify({ text, finish })));
    },
  };
}

type KeepParts = (answer: SummaryAnswer) => Promise<void>;

type Tried<T> =
  | { readonly kind: "answer"; readonly answer: SummaryAnswer; readonly reading: AnswerReading<T> }
  | { readonly kind: "threw"; readonly failure: FailedCall; readonly retry: "now" | "never"; readonly afterMs: number };

async function attemptOnce<T>(
  call: () => Promise<SummaryAnswer>,
  question: Question<T>,
  signal: AbortSignal,
): Promise<Tried<T>> {
  try {
    const answer = await call();
    return { kind: "answer", answer, reading: question.read(answer) };
  } catch (error) {
    const detail = errorText(error);
    if (signal.aborted) return { kind: "threw", failure: failed("aborted", detail), retry: "never", afterMs: 0 };
    // One that was too slow will hardly be faster at once, and the conversation has waited long enough.
    if (error instanceof TooSlow)
      return { kind: "threw", failure: failed("timeout", detail), retry: "never", afterMs: 0 };
    const { retry, afterMs } = error instanceof SummarizeError ? error : { retry: "now" as const, afterMs: 0 };
    return { kind: "threw", failure: failed("error", detail), retry, afterMs };
  }
}

class TooSlow extends Error {}

function keyOf({ kind, system, prompt }: SummaryRequest): string {
  return `chunk ${JSON.stringify([kind, system, prompt])}`;
}

function readKept(stored: string | null): SummaryAnswer | null {
  try {
    const { text, finish } = JSON.parse(stored ?? "null") as Partial<SummaryAnswer>;
    return typeof text === "string" ? { text, finish: finish === "length" ? "length" : "stop" } : null;
  } catch {
    return null;
  }
}

function failed(reason: SummaryFailure, detail: string): FailedCall {
  return { kind: "failed", reason, detail };
}

/*
 * Reads what a summarizer answered: a patch, prose, or the reason why it is neither [F1] to [F4]. Lenient about the
 * packaging, strict about the content; an answer cut at the output limit keeps its complete items, prose does not.
 */

export interface ReadPatch {
  readonly patch: SummaryPatch;
  /** What was there but not understood. */
  readonly ignored: readonly string[];
}

/** `shown` is the whole prompt, to recognize an echo of it. */
export function readPatchAnswer(answer: SummaryAnswer, shown: string): AnswerReading<ReadPatch> {
  const verdict = validateSummary(answer.text, { hiddenTokens: 1, count: () => 0, transcript: shown });
  const refused = verdict.kind === "invalid" ? verdict.reason : null;
  if (refused === "echo" || refused === "error-text" || refused === "html") return unusable(refused, answer);
  const parsed = parsePatch(answer.text);
  if (parsed.kind === "patch") {
    const read = { patch: parsed.patch, ignored: parsed.ignored };
    return answer.finish === "length" ? { kind: "cut", value: read } : { kind: "usable", value: read };
  }
  if (answer.finish === "length") return { kind: "cut", value: null };
  if (isEmptyPatch(parsed, answer.text)) return { kind: "usable", value: { patch: EMPTY, ignored: [] } };
  if (refused !== null) return unusable(refused, answer);
  return { kind: "unusable", reason: "invalid", detail: `no patch in the answer (${parsed.reason}): ${start(answer)}` };
}

export function readProseAnswer(
  answer: SummaryAnswer,
  options: { readonly hiddenTokens: number; readonly count: (text: string) => number; readonly transcript: string },
): AnswerReading<string> {
  if (answer.finish === "length") return { kind: "cut", value: null };
  const verdict = validateSummary(answer.text, options);
  if (verdict.kind === "invalid") return unusable(verdict.reason, answer);
  if (!isText(verdict.text)) return { kind: "unusable", reason: "invalid", detail: `no text: ${start(answer)}` };
  return { kind: "usable", value: verdict.text };
}

/** Mostly letters, digits and spaces, and nothing that only broken decoding leaves behind. */
function isText(text: string): boolean {
  const words = text.match(/[\p{L}\p{M}\p{N}\s]/gu)?.length ?? 0;
  return words >= [...text].length / 2 && !text.includes("\u0000") && !text.includes("\ufffd");
}

const EMPTY: SummaryPatch = { add: {}, update: [], resolve: [] };

export function isEmpty({ patch }: ReadPatch): boolean {
  return Object.keys(patch.add).length + patch.update.length + patch.resolve.length === 0;
}

/** A part of the conversation may hold nothing worth recording; then the answer is a patch without content, not prose. */
function isEmptyPatch(parsed: Exclude<ParsedPatch, { kind: "patch" }>, text: string): boolean {
  return parsed.reason === "nothing-in-it" && (/"(?:add|update|resolve)"/.test(text) || /\{\s*\}/.test(text));
}

const FAILURE: Readonly<Record<InvalidReason, SummaryFailure>> = {
  empty: "empty",
  "only-reasoning": "empty",
  "nothing-in-it": "empty",
  refusal: "refusal",
  "error-text": "error",
  html: "error",
  "no-shrink": "no-shrink",
  echo: "invalid",
};

function unusable(reason: InvalidReason, answer: SummaryAnswer): Extract<AnswerReading<never>, { kind: "unusable" }> {
  return { kind: "unusable", reason: FAILURE[reason], detail: `${reason}: ${start(answer)}` };
}

function start({ text }: SummaryAnswer): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
