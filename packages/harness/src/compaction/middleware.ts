/**
 * Automatic compaction as a middleware: before every model call the request is measured, and where a threshold is met the
 * thread is compacted first. Its settings also hold for compactions that a person or the agent asks for.
 */
import type { Middleware } from "../agent/middleware.ts";
import type { Summarizer } from "../agent/summarizer.ts";
import { type Summarization, type SummarizationOptions, summarizationFromOptions } from "../config/summarization.ts";

export interface SummarizationMiddlewareOptions extends SummarizationOptions {
  /** Who writes the summaries: by default the agent's own model. */
  readonly summarizer?: Summarizer;
}

export function summarization({ summarizer = "agent", ...options }: SummarizationMiddlewareOptions = {}): Middleware {
  return summarizationWith(summarizationFromOptions(options), summarizer);
}

/** Internal: the same from settings that were resolved before, such as a config file's. */
export function summarizationWith(settings: Summarization, summarizer: Summarizer = "agent"): Middleware {
  return {
    name: "summarization",
    compaction: { settings, summarizer },
    async beforeModel(run) {
      if (settings.automatic) await run.compact({ cause: "automatic", signal: run.signal });
    },
  };
}
