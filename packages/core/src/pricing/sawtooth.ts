/**
 * How far a prompt should grow before it is compacted, where nothing but the price asks for it. A prompt grows by so much
 * with each request and is read from the cache each time; a compaction writes what is left of it anew. Between the two lies
 * the height at which both together cost least.
 */
import type { Prices } from "./prices.ts";

export interface Sawtooth {
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
export interface Tooth {
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
