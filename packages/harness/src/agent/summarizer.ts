/**
 * Who writes an agent's summaries: its own model, another one, a function, or nobody. With its own model and a warm cache
 * one call on the conversation's own prefix is enough; any other reads the hidden messages in chunks.
 */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { DraftTable } from "../compaction/draft-table.ts";
import { modelSummarize } from "../compaction/model-summarize.ts";
import { createModelWriter } from "../compaction/model-writer.ts";
import type { Summarization } from "../compaction/summarization.ts";
import type { CachedPrefix } from "../compaction/summarize.ts";
import type { SummaryWriter } from "../compaction/summary-writer.ts";
import { knownWindow } from "../models/known-windows.ts";
import { withoutThinking } from "../models/without-thinking.ts";
import { assertModel, type ModelObject, type ModelSettings, settingsFor } from "./model.ts";

/** `agent`: the agent's own model. Null: no model, summaries are extracted. */
export type Summarizer = "agent" | ModelObject | SummaryWriter | null;

export function assertSummarizer(given: unknown): asserts given is Summarizer {
  if (given !== null && given !== "agent" && typeof given !== "function") assertModel(given, "summarizer");
}

export interface WriterDeps {
  readonly settings: Summarization;
  /** The agent's own model, its window, and what it was sent last while its cache may still hold it. */
  readonly model: ModelObject;
  /** What the agent's own calls carry: a summary on their cached prefix is the same kind of call. */
  readonly providerOptions: ModelSettings["providerOptions"];
  readonly window: () => number;
  readonly prefix: () => CachedPrefix | null;
  readonly drafts: DraftTable;
  /** The same today and tomorrow, so that a resumed summary is cut where it was cut before. */
  readonly count: (text: string) => number;
}

export function writerFor(summarizer: Summarizer, deps: WriterDeps): SummaryWriter | null {
  if (summarizer === null || typeof summarizer === "function") return summarizer;
  const { settings, drafts, count } = deps;
  const own = summarizer === "agent" || summarizer === deps.model;
  const model = summarizer === "agent" ? deps.model : summarizer;
  const { providerOptions } = own ? deps : settingsFor(model, {});
  return createModelWriter({
    // The SDK adapts models of older versions itself.
    summarize: modelSummarize(model as LanguageModelV4, providerOptions === undefined ? {} : { providerOptions }),
    window: own ? deps.window() : (knownWindow(model.modelId) ?? settings.fallbackContextWindow),
    reservedOutputTokens: settings.reservedOutputTokens,
    trimTokensToSummarize: settings.trimTokensToSummarize,
    maxSummarizerCalls: settings.maxSummarizerCalls,
    summaryPrompt: settings.summaryPrompt,
    drafts,
    count,
    ...(own && keepsCache(deps) ? { prefix: deps.prefix } : {}),
  });
}

/** Anthropic reads the messages anew when thinking is turned off, so that a call on the whole prefix would cost it whole. */
function keepsCache({ model, providerOptions }: WriterDeps): boolean {
  const { reasoning } = withoutThinking(model, providerOptions);
  return reasoning === undefined || !/anthropic|claude/i.test(`${model.provider} ${model.modelId}`);
}

/** What a draft depends on beside the conversation. */
export function summarizerLabel(
  summarizer: Summarizer,
  { settings, model }: Pick<WriterDeps, "settings" | "model">,
): string {
  const name =
    summarizer === null || typeof summarizer === "function"
      ? "given"
      : summarizer === "agent"
        ? model.modelId
        : summarizer.modelId;
  return JSON.stringify([name, settings.summaryPrompt]);
}
