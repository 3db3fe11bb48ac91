/**
 * Prices a sequence of real requests: each is compared piece by piece with the one before it, the common prefix is read
 * from the cache while that is warm, the rest is written. Knows nothing of policies or messages.
 */
import { isCold, type Prices } from "./prices.ts";

/** One piece of a prompt. `key` is the same value exactly when the piece is the same to the provider: an object or a hash. */
export interface Piece {
  readonly key: unknown;
  readonly tokens: number;
}

export interface PricedRequest {
  /** Milliseconds, from the caller's clock. */
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly pieces: readonly Piece[];
  readonly output: number;
}

export interface Reuse {
  /** Tokens of the longest common prefix, and of everything after it. */
  readonly reused: number;
  readonly fresh: number;
}

export interface Charge extends Reuse {
  readonly cost: number;
  readonly cold: boolean;
}

export function prefixReuse(previous: readonly Piece[], request: readonly Piece[]): Reuse {
  let same = 0;
  while (same < request.length && same < previous.length && previous[same]!.key === request[same]!.key) same++;
  let reused = 0;
  let fresh = 0;
  for (const [index, { tokens }] of request.entries()) {
    if (index < same) reused += tokens;
    else fresh += tokens;
  }
  return { reused, fresh };
}

/** What one request costs after `previous`; null when it is the first. */
export function chargeRequest(previous: PricedRequest | null, request: PricedRequest, prices: Prices): Charge {
  const cold = isCold(previous?.answeredAt ?? null, request.sentAt, prices);
  const { reused, fresh } = prefixReuse(cold ? [] : (previous?.pieces ?? []), request.pieces);
  const cost = reused * prices.cacheRead + fresh * prices.cacheWrite + request.output * prices.output;
  return { reused, fresh, cost, cold };
}

/** A call apart from the conversation, such as a summarizer's: nothing of it is cached, before or after. */
export function costOfSideCall(tokens: { readonly input: number; readonly output: number }, prices: Prices): number {
  return tokens.input * prices.input + tokens.output * prices.output;
}
