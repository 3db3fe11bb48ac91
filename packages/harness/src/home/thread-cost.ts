/**
 * What a thread has cost so far, with its sub-agents, summaries, embeddings and what was learned from it (`charges.ts`); each prune in
 * its log says what it freed. A fork counts what it shares with its parent's log too. Calls whose model has no price are
 * named instead of guessed.
 */
import type { UsageRecord } from "@palimpsest/core/log";
import { costOf, type ModelPrices, pricesOf, savingOf } from "../models/cost.ts";
import type { ModelsConfig } from "../models/entry.ts";
import { addUsage, NO_USAGE, type Usage } from "../models/usage.ts";
import type { Store } from "../stores/store.ts";
import { chargesOf, noSpending, type Use } from "./charges.ts";

export interface ThreadCost {
  readonly spent: number;
  /** The same by what it was spent for. */
  readonly spentOn: Readonly<Record<Use, number>>;
  readonly savedByCache: number;
  /** What prunes kept out of later prompts. */
  readonly savedByPruning: number;
  /** Null: the configuration's own. */
  readonly currency: "USD";
  readonly usage: Usage;
  /** Models without a price: their calls are in `usage` and not in the figures. */
  readonly unpriced: readonly string[];
}

export interface CostOptions {
  readonly config: ModelsConfig;
  /** Where calls beside the log are noted. */
  readonly home: string;
}

/** Null where no call has a price. */
export async function threadCost(
  store: Store,
  threadId: string,
  { config, home }: CostOptions,
): Promise<ThreadCost | null> {
  const spentOn = noSpending();
  let isPriced = false;
  const unpriced = new Set<string>();
  let usage = NO_USAGE;
  let saved = 0;
  for await (const charge of chargesOf(home, store, threadId)) {
    usage = addUsage(usage, charge);
    const prices = pricesOfModel(config, charge.model);
    if (prices === null) {
      unpriced.add(charge.model);
      continue;
    }
    isPriced = true;
    const { spent, savedByCache } = costOf(charge, prices);
    spentOn[charge.use] += spent;
    saved += savedByCache;
  }
  if (!isPriced) return null;
  return {
    spent: Object.values(spentOn).reduce((sum, part) => sum + part, 0),
    spentOn,
    savedByCache: saved,
    savedByPruning: await savedByPruning(store, threadId, config),
    currency: "USD",
    usage,
    unpriced: [...unpriced],
  };
}

/** By the calls of the thread's own log: each says which prunes the prompt stood on. */
async function savedByPruning(store: Store, threadId: string, config: ModelsConfig): Promise<number> {
  const prunes = new Map<number, number>();
  const undone = new Set<number>();
  const undos = new Map<number, number>();
  let saved = 0;
  for await (const { record } of store.records(threadId, { kinds: ["usage", "prune", "undo"] })) {
    if (record.kind === "prune") prunes.set(record.seq, record.tokensBefore - record.tokensAfter);
    if (record.kind === "undo") {
      const act = undos.get(record.of) ?? record.of;
      undos.set(record.seq, act);
      // An undo of an undo brings back what that one took away.
      if (!undone.delete(act)) undone.add(act);
    }
    const prices = record.kind === "usage" ? pricesOfModel(config, record.model) : null;
    if (record.kind === "usage" && prices !== null) saved += savingOf(leftOut(record, prunes, undone), record, prices);
  }
  return saved;
}

/** By the provider's id for it, as the log names it. */
function pricesOfModel({ models, recall }: ModelsConfig, model: string): ModelPrices | null {
  const entry = [...models, ...(recall?.embedder ? [recall.embedder] : [])].find((one) => one.model === model);
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
