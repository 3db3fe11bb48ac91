/**
 * What a thread has cost so far, from its log: every model call has a usage record, and each prune says what it freed. A
 * fork counts what it shares with its parent too. Calls whose model has no price are named instead of guessed.
 */
import type { UsageRecord } from "@palimpsest/core/log";
import { costOf, type ModelPrices, pricesOf, savingOf } from "../models/cost.ts";
import type { ModelsConfig } from "../models/entry.ts";
import { addUsage, NO_USAGE, type Usage } from "../models/usage.ts";
import type { Store } from "../stores/store.ts";

export interface ThreadCost {
  readonly spent: number;
  readonly savedByCache: number;
  /** What prunes kept out of later prompts. */
  readonly savedByPruning: number;
  /** Null: the configuration's own. */
  readonly currency: "USD" | null;
  readonly usage: Usage;
  /** Models without a price: their calls are in `usage` and not in the figures. */
  readonly unpriced: readonly string[];
}

/** Null where no call has a price. */
export async function threadCost(store: Store, threadId: string, config: ModelsConfig): Promise<ThreadCost | null> {
  const total = { spent: 0, savedByCache: 0, savedByPruning: 0 };
  const sources = new Set<ModelPrices["source"]>();
  const unpriced = new Set<string>();
  const prunes = new Map<number, number>();
  const undone = new Set<number>();
  const undos = new Map<number, number>();
  let usage = NO_USAGE;
  for await (const { record } of store.records(threadId, { kinds: ["usage", "prune", "undo"] })) {
    if (record.kind === "prune") prunes.set(record.seq, record.tokensBefore - record.tokensAfter);
    if (record.kind === "undo") {
      const act = undos.get(record.of) ?? record.of;
      undos.set(record.seq, act);
      // An undo of an undo brings back what that one took away.
      if (!undone.delete(act)) undone.add(act);
    }
    if (record.kind !== "usage") continue;
    usage = addUsage(usage, record);
    const prices = pricesOfModel(config, record.model);
    if (prices === null) {
      unpriced.add(record.model);
      continue;
    }
    sources.add(prices.source);
    const { spent, savedByCache } = costOf(record, prices);
    total.spent += spent;
    total.savedByCache += savedByCache;
    total.savedByPruning += savingOf(leftOut(record, prunes, undone), record, prices);
  }
  if (sources.size === 0) return null;
  const currency = sources.size === 1 && sources.has("table") ? "USD" : null;
  return { ...total, currency, usage, unpriced: [...unpriced] };
}

/** By the provider's id for it, as the log names it. */
function pricesOfModel({ models }: ModelsConfig, model: string): ModelPrices | null {
  const entry = models.find((one) => one.model === model);
  return entry === undefined ? null : pricesOf(entry);
}

/** Tokens that the prunes of the view that was measured kept out of it; a compaction has made its own count. */
function leftOut({ measured }: UsageRecord, prunes: ReadonlyMap<number, number>, undone: ReadonlySet<number>): number {
  const { compaction, prune } = measured;
  if (prune === null) return 0;
  let tokens = 0;
  for (const [seq, freed] of prunes)
    if (seq > (compaction ?? 0) && seq <= prune && !undone.has(seq)) tokens += Math.max(0, freed);
  return tokens;
}
