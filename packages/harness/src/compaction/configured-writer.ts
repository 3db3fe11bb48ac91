/**
 * The summary writer a configuration asks for: its summarization model, or none where only the offline model is there,
 * since the extract does the same without it. The model is made at the first summary; one that can't be made (no key, an
 * unknown provider) is a failed summary like any other, so the extract stands in and an event says why.
 */
import type { ConfigFile } from "../home/schema.ts";
import { lightweightModel } from "../models/resolve.ts";
import type { Store } from "../stores/store.ts";
import { draftTable } from "./drafts.ts";
import { modelSummarize } from "./model-summarize.ts";
import { createModelWriter } from "./model-writer.ts";
import type { Summarization } from "./summarization.ts";
import type { SummaryWriter } from "./summarize.ts";

export function configuredWriter(
  config: ConfigFile,
  settings: Summarization,
  /** Where finished parts are kept, for a caller whose jobs don't bring that along. */
  place: { readonly store: Store; readonly threadId: string } | null = null,
): SummaryWriter | null {
  if (config.models.every(({ provider }) => provider === "offline")) return null;
  return async (job, signal) => {
    const model = await lightweightModel(config, settings.modelName);
    const write = createModelWriter({
      summarize: modelSummarize(model.language),
      window: model.window.tokens,
      reservedOutputTokens: settings.reservedOutputTokens,
      trimTokensToSummarize: settings.trimTokensToSummarize,
      maxSummarizerCalls: settings.maxSummarizerCalls,
      summaryPrompt: settings.summaryPrompt,
      ...(place !== null && { drafts: draftTable(place.store.drafts, place.threadId, () => new Date()) }),
    });
    return write(job, signal);
  };
}
