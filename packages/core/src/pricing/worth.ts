/**
 * Whether taking tokens out of the middle of a prompt pays: what the coming requests no longer read from the cache against
 * writing again everything behind the first change.
 */
import type { Prices } from "./prices.ts";

export interface PruneBalance {
  /** Tokens times requests: what would not have to be read again. */
  readonly savedReads: number;
  /** Tokens taken out, and tokens behind the first change after they are gone. */
  readonly savedTokens: number;
  readonly rewriteTokens: number;
  /** What fetching some of it again is expected to cost, in the unit of the prices. */
  readonly expectedFetches: number;
  readonly cache: "warm" | "cold";
}

/** What pruning is expected to save, in the unit of the prices; negative when it costs more than it brings. */
export function pruneGain(balance: PruneBalance, prices: Prices): number {
  const reads = balance.savedReads * prices.cacheRead;
  // On a cold cache everything is written anyway, and less of it.
  if (balance.cache === "cold") return reads + balance.savedTokens * prices.cacheWrite - balance.expectedFetches;
  const rewriteSurplus = Math.max(0, prices.cacheWrite - prices.cacheRead);
  return reads - balance.rewriteTokens * rewriteSurplus - balance.expectedFetches;
}

export function worthPruning(balance: PruneBalance, prices: Prices): boolean {
  return balance.savedTokens > 0 && pruneGain(balance, prices) >= 0;
}

/** Getting something back: a request that asks for it on the whole context, and the result written again. */
export function costOfFetching(
  tokens: { readonly context: number; readonly result: number; readonly asking: number },
  prices: Prices,
): number {
  return tokens.context * prices.cacheRead + tokens.asking * prices.output + tokens.result * prices.cacheWrite;
}
