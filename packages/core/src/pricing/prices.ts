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

/** Whether a prefix cached at `lastAt` is gone at `now`. A clock that can't be read is taken as warm. */
export function isCold(lastAt: number | null, now: number, prices: Prices): boolean {
  if (lastAt === null) return true;
  return now - lastAt > prices.ttlMs;
}
