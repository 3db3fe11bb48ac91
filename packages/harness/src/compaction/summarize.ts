/**
 * The call that makes a summarizer: one prompt in, one text out. Functions are the plug-ins; what the answer is worth is
 * decided by the writer that asked, never here.
 */
import { PalimpsestError } from "@palimpsest/core/errors";
import type { Usage } from "../models/usage.ts";

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
  readonly usage?: SummaryUsage;
}

/** Tokens of the summarizer's calls, counted apart from the conversation's. */
export type SummaryUsage = Usage;

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
