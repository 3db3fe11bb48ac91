/** What the provider's prompt cache will find of a request, and at what prices: by these its thread is pruned. Pure. */
import { cachePrices, pricingOf } from "palimpsest/internal/models";
import type { OpenThreadOptions } from "palimpsest/session";
import type { Exchange } from "./exchange.ts";

type CacheOptions = Required<Pick<OpenThreadOptions<object>, "prices" | "promptCache">>;

export function cacheOf<M extends object>({ vendor, body, request, target }: Exchange<M>): CacheOptions {
  const { entry, model, way } = target;
  const given = pricingOf(entry);
  // What is put into another vendor's words carries no marks.
  if (way === "converted")
    return { prices: given ?? undefined, promptCache: entry.provider === "anthropic" ? "none" : "prefix" };
  const { promptCache, ttl } = vendor.cached?.(body, request) ?? { promptCache: "prefix", ttl: null };
  if (ttl === null) return { prices: given ?? undefined, promptCache };
  const prices = cachePrices(model, given);
  return {
    prices: { ...prices, cacheWrite: given?.cacheWrite ?? prices.input * HOUR_WRITES, ttlMs: HOUR_MS },
    promptCache,
  };
}

/** A request that is only counted needs no marks, and so says nothing of those that the conversation has. */
export function cacheWhenCounted<M extends object>(exchange: Exchange<M>): CacheOptions {
  const cache = cacheOf(exchange);
  return cache.promptCache === "none" ? { ...cache, promptCache: "end" } : cache;
}

/** Anthropic's price of an entry that lives for an hour, in prices of input. */
const HOUR_WRITES = 2;
const HOUR_MS = 60 * 60_000;
