/** What a run has come to, as JSON. */
import type { RunResult } from "../agent/events.ts";
import type { ThreadCost, Use } from "../home/cost.ts";
import { costOf, pricesOf } from "../models/cost.ts";
import type { ModelsConfig } from "../models/entry.ts";
import type { Usage } from "../models/usage.ts";

interface RunDocumentOptions {
  readonly config: ModelsConfig;
  /** As the run named it; null: the default one. */
  readonly model: string | null;
  /** With what was spent beside the run's own calls; without it those alone are counted. */
  readonly cost?: RunCost | null;
}

type RunCost = {
  readonly spent: number;
  readonly savedByCache: number;
  readonly spentOn?: Readonly<Record<Use, number>>;
  /** Null: as configured. */
  readonly currency: "USD";
};

/** What a thread has cost more than before: its run with sub-agents, summaries and what was learned meanwhile. */
export function costSince(before: ThreadCost | null, after: ThreadCost | null): RunCost | null {
  if (after === null) return null;
  const { spent, spentOn, savedByCache, currency } = after;
  const more = ([use, part]: [string, number]) => [use, part - (before?.spentOn[use as Use] ?? 0)];
  return {
    spent: spent - (before?.spent ?? 0),
    savedByCache: savedByCache - (before?.savedByCache ?? 0),
    spentOn: Object.fromEntries(Object.entries(spentOn).map(more)) as ThreadCost["spentOn"],
    currency,
  };
}

export function runDocument(
  { threadId: thread, end, text, usage, steps }: RunResult,
  { config, model, cost = ownCost(usage, config, model) }: RunDocumentOptions,
) {
  return {
    thread,
    text,
    usage,
    steps,
    end: end.kind,
    ...(end.kind === "asked" && { question: end.question, options: end.options }),
    ...((end.kind === "approval" || end.kind === "client-calls") && { calls: end.calls }),
    ...(end.kind === "approval" && { clientCalls: end.clientCalls }),
    ...(end.kind === "budget" && { spent: { tokens: end.tokens, cost: end.cost } }),
    ...(end.kind === "step-limit" && { limit: end.limit }),
    ...(cost !== null && { cost }),
  };
}

function ownCost(usage: Usage, { models }: ModelsConfig, model: string | null): RunCost | null {
  const entry = model === null ? models[0] : models.find(({ name }) => name === model);
  const prices = entry === undefined ? null : pricesOf(entry);
  return prices === null ? null : { ...costOf(usage, prices), currency: "USD" };
}
