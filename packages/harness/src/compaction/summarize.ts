/**
 * The port of a summarizer: what it is asked, what it answers, how it fails. A model's is in model-summarize.ts, any
 * function's is made here. Runs in a browser: no import of the AI SDK.
 */
import type { SummaryInput } from "@palimpsest/core/internal/compaction";
import { PalimpsestError } from "@palimpsest/core/internal/errors";
import type { Shape } from "@palimpsest/core/internal/message";
import type { SummaryState } from "@palimpsest/core/internal/summary";
import type { Usage } from "../models/facts.ts";
import type { DraftTable } from "./drafts.ts";
import type { SummaryCorrection } from "./events.ts";

export interface SummaryRequest {
  readonly kind: "patch" | "prose";
  /** Empty with a cached prefix, which has its own. */
  readonly system: string;
  readonly prompt: string;
  /** For answer and reasoning together. */
  readonly maxOutputTokens: number;
  /** JSON Schema of a patch, for providers with structured output; null for prose and on a cached prefix. */
  readonly schema: object | null;
  /** What stands before the prompt, exactly as the provider saw it last; null when the prompt holds the conversation. */
  readonly prefix: CachedPrefix | null;
}

/** The request the conversation's own model answered last, so that its cache serves the summary too [F10]. */
export interface CachedPrefix {
  readonly instructions: string;
  /** Messages of the AI SDK, as they were sent. */
  readonly messages: readonly unknown[];
  /** Tools of the AI SDK, as they were sent; they are never run. */
  readonly tools: Readonly<Record<string, unknown>>;
  readonly tokens: number;
}

export interface SummaryAnswer {
  readonly text: string;
  /** `length`: it was cut at the output limit. */
  readonly finish: "stop" | "length" | "other";
  readonly usage?: Usage;
}

export type Summarize = (request: SummaryRequest, signal: AbortSignal) => Promise<SummaryAnswer>;

/** A summarizer from any function that answers a prompt. */
export function summarizeBy(answer: (prompt: string, signal: AbortSignal) => Promise<string> | string): Summarize {
  return async ({ system, prompt }, signal) => ({
    text: await answer(system === "" ? prompt : `${system}\n\n${prompt}`, signal),
    finish: "stop",
  });
}

/** A failed call and whether asking again can help. Any other error counts as `retry: "now"`. */
export class SummarizeError extends PalimpsestError<"summarizer-failed"> {
  static override readonly kind = "SummarizeError";
  readonly retry: "now" | "never";
  /** What the provider asked us to wait. */
  readonly afterMs: number;
  constructor(message: string, options: { retry: "now" | "never"; afterMs?: number; cause?: unknown }) {
    super("summarizer-failed", message, options);
    this.retry = options.retry;
    this.afterMs = options.afterMs ?? 0;
  }
}

/*
 * Who writes a summary. A writer turns the hidden messages into a summary state, or says why it could not; it never
 * touches the thread. Without one, or when it fails, the extract does the same without a model.
 */

export interface SummaryJob<M> {
  readonly input: SummaryInput<M>;
  readonly shape: Shape<M>;
  /** The most the rendered summary may count, and how it is counted. */
  readonly maxTokens: number;
  readonly count: (text: string) => number;
  /** What the person asked to keep in view, for a manual compaction. */
  readonly focus: string | null;
  /** Tokens the summary must stay below to be of any use. */
  readonly hiddenTokens: number;
  readonly onProgress: (done: number, of: number) => void;
  /** What there is room for beside what is quoted and listed; not known: enough. */
  readonly wordTokens?: number;
  /** Where finished parts of this summary may be kept, so that a crash repeats none of them. */
  readonly drafts?: DraftTable | null;
}

export type SummaryResult =
  | {
      readonly kind: "written";
      readonly state: SummaryState;
      readonly calls: number;
      /** Tool outputs it saw only as digests. */
      readonly digested: number;
      /** What the summarizer said that could not stand, or not as it was said. */
      readonly corrected?: readonly SummaryCorrection[];
      readonly usage?: Usage;
    }
  | {
      readonly kind: "failed";
      readonly reason: SummaryFailure;
      readonly detail: string;
      readonly calls: number;
      readonly usage?: Usage;
    };

export type SummaryFailure = "error" | "timeout" | "aborted" | "empty" | "refusal" | "no-shrink" | "invalid";

export type SummaryWriter = <M>(job: SummaryJob<M>, signal: AbortSignal) => Promise<SummaryResult>;
