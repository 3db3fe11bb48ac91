/** What a run has come to, as JSON. */
import type { RunResult } from "../agent/events.ts";
import { costOf, pricesOf } from "../models/cost.ts";
import type { ModelsConfig } from "../models/entry.ts";

export interface RunDocumentOptions {
  readonly config: ModelsConfig;
  /** As the run named it; null: the default one. */
  readonly model: string | null;
}

export function runDocument(
  { threadId: thread, end, text, usage, steps }: RunResult,
  { config: { models }, model }: RunDocumentOptions,
) {
  const entry = model === null ? models[0] : models.find(({ name }) => name === model);
  const prices = entry === undefined ? null : pricesOf(entry);
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
    // Null: as configured.
    ...(prices !== null && { cost: { ...costOf(usage, prices), currency: prices.source === "table" ? "USD" : null } }),
  };
}
