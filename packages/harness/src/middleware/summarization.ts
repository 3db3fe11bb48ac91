/**
 * Automatic compaction as a middleware: before every model call the request is measured, and where a threshold is met the
 * thread is compacted first. Its settings also hold for compactions that a person or the agent asks for.
 */
import type { Middleware } from "../agent/middleware.ts";
import type { SummaryWriter } from "../compaction/summary-writer.ts";
import { type Summarization, type SummarizationOptions, summarizationFromOptions } from "../config/summarization.ts";

export interface SummarizationMiddlewareOptions extends SummarizationOptions {
  /** Who writes the summaries; null: they are extracted without a model. */
  readonly writer?: SummaryWriter | null;
}

export function summarization({ writer = null, ...options }: SummarizationMiddlewareOptions = {}): Middleware {
  return summarizationWith(summarizationFromOptions(options), writer);
}

/** The same from settings that were resolved before, such as a config file's. */
export function summarizationWith(settings: Summarization, writer: SummaryWriter | null): Middleware {
  return {
    name: "summarization",
    compaction: { settings, writer },
    async beforeModel(run) {
      if (settings.automatic) await run.compact({ cause: "automatic", signal: run.signal });
    },
  };
}
