/**
 * What a token costs. Only ratios matter to a decision, so the default table is relative to one uncached input token.
 * Any price may be zero (a local model, a flat rate): nothing here divides by one.
 */

export interface Prices {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  /** How long the provider keeps a cached prefix after its last use. */
  readonly ttlMs: number;
}

export const RELATIVE_PRICES: Prices = { input: 1, cacheRead: 0.1, cacheWrite: 1.25, output: 5, ttlMs: 5 * 60_000 };

/*
 * How far a prompt should grow before it is compacted, where nothing but the price asks for it. A prompt grows by so much
 * with each request and is read from the cache each time; a compaction writes what is left of it anew. Between the two lies
 * the height at which both together cost least.
 */

interface Sawtooth {
  /** Tokens that each request adds. */
  readonly growth: number;
  /** Tokens right after a compaction. */
  readonly low: number;
  /** Tokens of a summary that a model writes on the cached prompt; null: it costs nothing. */
  readonly summary: number | null;
}

/** What is hidden may have to be read again, and what is seen again costs nothing: so a little less than the formula says. */
const HASTE = 0.7;

/** Tokens above `low`, on a warm cache; infinite where reading costs nothing. */
export function cheapestHeight(prices: Prices, { growth, low, summary }: Sawtooth): number {
  if (!(prices.cacheRead > 0)) return Number.POSITIVE_INFINITY;
  return HASTE * Math.sqrt((2 * growth * changeCost(prices, { tokens: low, summary, read: low })) / prices.cacheRead);
}

/** A prompt that is changed once and then grows. */
interface Tooth {
  /** Tokens after the change, and at the last of its requests. */
  readonly from: number;
  readonly to: number;
  readonly requests: number;
  /** What the change writes to the cache again, and a model's summary; null: none. */
  readonly rewrite: { readonly tokens: number; readonly summary: number | null };
}

/** In the unit of the prices, without the answers. */
export function costPerRequest(prices: Prices, { from, to, requests, rewrite }: Tooth): number {
  const read = (prices.cacheRead * (from + Math.max(from, to))) / 2;
  return read + changeCost(prices, { ...rewrite, read: from }) / Math.max(1, requests);
}

/** `read`: what a model reads from the cache to write its summary. */
function changeCost(
  { cacheRead, cacheWrite, output }: Prices,
  { tokens, summary, read }: { tokens: number; summary: number | null; read: number },
): number {
  const rewritten = Math.max(0, cacheWrite - cacheRead) * tokens;
  return rewritten + (summary === null ? 0 : cacheRead * read + output * summary);
}

/*
 * Whether taking tokens out of the middle of a prompt pays: what the coming requests no longer read from the cache against
 * writing again everything behind the first change.
 */

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
