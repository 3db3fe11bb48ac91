/** How threads of the compatible endpoints are compacted: as the configuration says, by a model only where one is meant for it. */
import type { ConfigFile } from "palimpsest/home";
import { configuredWriter } from "palimpsest/internal/compaction";
import { summarizationForThreads } from "palimpsest/internal/config";
import type { OpenThreadOptions } from "palimpsest/session";
import type { Store } from "palimpsest/stores";
import { type Caller, isProviderUser } from "../access/admit.ts";
import type { LengthRule } from "./policy.ts";

interface Use {
  readonly store: Store;
  readonly thread: string;
  readonly length: LengthRule["ours"];
  readonly caller: Caller;
}

type Settings = Pick<OpenThreadOptions<object>, "summarization" | "writer">;

export function sessionSettings(settings: ConfigFile, { store, thread, length, caller }: Use): Settings {
  if (length === "pass") return { summarization: null };
  const chosen = summarizationForThreads(settings.summarization);
  const { policy, prune, drafts, reservedOutputTokens, summaryPrompt, maxSummarizerCalls } = chosen;
  const { trigger, keep, lowWater, minGain, maxSummaryTokens, summaryFormat } = policy;
  const summarization = {
    trigger,
    keep,
    lowWater,
    minGain,
    maxSummaryTokens,
    summaryFormat,
    prune,
    drafts,
    reservedOutputTokens,
    summaryPrompt,
    maxSummarizerCalls,
  };
  // Nobody asked for a call to the model of the conversation: it costs, and the client would wait for it. Who brings a
  // provider's key alone pays with that key; the operator's writes no summary for them.
  const hasWriter =
    !isProviderUser(caller) &&
    (settings.summarization.model_name !== null || settings.models.some(({ lightweight }) => lightweight));
  const writer = hasWriter ? configuredWriter(settings, chosen, { store, threadId: thread }) : null;
  return { summarization, ...(writer !== null && { writer }) };
}
