/**
 * Which of the prunable parts make a batch worth breaking the cache for. The further back a pass begins, the more it saves
 * and the more is written again; what is likely to be fetched again is left for later. Knows prices, not messages.
 */
import type { Prices } from "../../pricing/prices.ts";
import { costOfFetching, type PruneBalance, pruneGain, worthPruning } from "../../pricing/worth.ts";
import { type PruneCandidate, REASONS } from "./candidates.ts";

export interface BatchPolicy {
  /** How likely a fresh part is used again, and after how many idle requests that has halved. */
  readonly useAgain: number;
  readonly halfLife: number;
  /** Requests a part would be carried on at least, if it were left to the next pass. */
  readonly horizon: number;
  /**
   * A thread's first pass must earn its rewrite back within this share of the requests made so far: a thread that has
   * just begun may just as well end, and has saved nothing yet to pay for it.
   */
  readonly payback: number;
}

export interface PricedPart {
  readonly candidate: PruneCandidate;
  /** Tokens freed. */
  readonly saved: number;
}

export interface BatchTerms {
  readonly policy: BatchPolicy;
  readonly prices: Prices;
  readonly cache: "warm" | "cold";
  /** Tokens of each message in the view. */
  readonly sizes: readonly number[];
  /** The first message that is written again when the one at this index changes. */
  readonly rewrittenFrom: (index: number) => number;
  /** Requests before the thread's first pass; null when there was a pass before. */
  readonly firstAfter: number | null;
}

/** Parts in the order of the view; the batch that gains most, empty when none pays. */
export function bestBatch<T extends PricedPart>(parts: readonly T[], terms: BatchTerms): readonly T[] {
  const { prices, cache, sizes, rewrittenFrom } = terms;
  const behind = tokensFrom(sizes);
  const context = behind[0]!;
  const batch: T[] = [];
  let best = { length: 0, gain: 0 };
  let all: PruneBalance = { savedReads: 0, savedTokens: 0, rewriteTokens: 0, expectedFetches: 0, cache };
  for (const part of parts.toReversed()) {
    const { candidate, saved } = part;
    const expectedFetches = expectedFetch(candidate, context, terms);
    if (!paysForItself(part, expectedFetches, terms)) continue;
    batch.push(part);
    all = {
      savedReads: all.savedReads + saved * candidate.carried,
      savedTokens: all.savedTokens + saved,
      rewriteTokens: behind[rewrittenFrom(candidate.index)]! - all.savedTokens - saved,
      expectedFetches: all.expectedFetches + expectedFetches,
      cache,
    };
    const gain = pruneGain(all, prices);
    if (gain >= best.gain && paysBackSoon(all, terms)) best = { length: batch.length, gain };
  }
  return batch.slice(0, best.length).reverse();
}

/** At each index: tokens from there to the end; one more than there are messages. */
function tokensFrom(sizes: readonly number[]): readonly number[] {
  const behind = [0];
  for (const tokens of sizes.toReversed()) behind.push(behind.at(-1)! + tokens);
  return behind.reverse();
}

/** Once a pass is made, a part joins it when what it would still cost outweighs the risk of fetching it again. */
function paysForItself({ candidate, saved }: PricedPart, expectedFetches: number, terms: BatchTerms): boolean {
  const { policy, prices, cache } = terms;
  const savedReads = saved * Math.max(candidate.carried, policy.horizon);
  return worthPruning({ savedReads, savedTokens: saved, rewriteTokens: 0, expectedFetches, cache }, prices);
}

/** The first pass must pay back soon, unless so much has been wasted by waiting that it should have come long ago. */
function paysBackSoon(balance: PruneBalance, { policy, prices, firstAfter }: BatchTerms): boolean {
  if (firstAfter === null) return true;
  const ahead = Math.max(balance.savedTokens * policy.payback * firstAfter, balance.savedReads / PATIENCE);
  return pruneGain({ ...balance, savedReads: ahead, expectedFetches: 0 }, prices) >= 0;
}

const PATIENCE = 3;
const ASKING_TOKENS = 60;

function expectedFetch(candidate: PruneCandidate, context: number, { policy, prices }: BatchTerms): number {
  if (!REASONS[candidate.reason].wantedAgain) return 0;
  const likelihood = policy.useAgain * 2 ** (-candidate.idle / Math.max(1, policy.halfLife));
  return likelihood * costOfFetching({ context, result: candidate.tokens, asking: ASKING_TOKENS }, prices);
}
