/** What calls cost: prices of a model, from the configuration or the table, and what a usage comes to. Pure. */
import type { ModelEntry } from "./entry.ts";
import { knownPrices, type TokenPrices } from "./known-prices.ts";
import type { Usage } from "./usage.ts";

export interface ModelPrices extends TokenPrices {
  /** Both are US dollars. */
  readonly source: "config" | "table";
}

interface Priced extends Pick<ModelEntry, "provider" | "model" | "base_url"> {
  /** An embedder writes nothing. */
  readonly pricing?: (Partial<NonNullable<ModelEntry["pricing"]>> & { readonly input: number }) | undefined;
}

/** Per million tokens; null: not known. At another address than the maker's own the table says nothing. */
export function pricesOf({ provider, model, base_url, pricing }: Priced): ModelPrices | null {
  if (pricing !== undefined) {
    const { input, output = 0, cache_read: cacheRead = input, cache_write: cacheWrite = input } = pricing;
    return { input, output, cacheRead, cacheWrite, source: "config" };
  }
  if (base_url !== undefined || provider === "offline") return null;
  const listed = knownPrices(model);
  return listed === null ? null : { ...listed, source: "table" };
}

export interface Cost {
  readonly spent: number;
  /** Against reading the whole prompt anew each time; below zero where writing the cache cost more than it gave. */
  readonly savedByCache: number;
}

/** `input` is the whole prompt, cached part included. */
export function costOf(usage: Usage, prices: TokenPrices): Cost {
  const anew = Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite);
  const prompt = anew * prices.input + usage.cacheRead * prices.cacheRead + usage.cacheWrite * prices.cacheWrite;
  const uncached = (anew + usage.cacheRead + usage.cacheWrite) * prices.input;
  return {
    spent: (prompt + usage.output * prices.output) / MILLION,
    savedByCache: (uncached - prompt) / MILLION,
  };
}

/** What leaving tokens out of one call saved: they would have been read from the cache if the rest was. */
export function savingOf(tokens: number, { cacheRead }: Usage, prices: TokenPrices): number {
  return (tokens * (cacheRead > 0 ? prices.cacheRead : prices.input)) / MILLION;
}

const MILLION = 1_000_000;
