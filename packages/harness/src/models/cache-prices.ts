/** What a prompt costs a model's maker to be asked again: prices, and how long its cache lives. Pure. */
import { type Prices, RELATIVE_PRICES } from "@palimpsest/core/pricing";
import type { ModelEntry } from "./entry.ts";
import { knownPrices, type TokenPrices } from "./known-prices.ts";

/** A model's prices as somebody gives them, for as many tokens as they like: only their ratios matter here. */
export interface GivenPrices extends Pick<TokenPrices, "input" | "output"> {
  /** Absent: in the ratio to input that is known of the model; of another model the price of input. */
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  /** How long an entry lives without use; five minutes unless told, with OpenAI's models ten. */
  readonly ttlMs?: number | undefined;
}

/** What is given comes first, then the list of well-known models, then shares of an input token's price. */
export function cachePrices(model: string, given: GivenPrices | null = null): Prices {
  const listed = knownPrices(model);
  if (given === null && listed === null) return RELATIVE_PRICES;
  // OpenAI says 5 to 10 minutes without use; Anthropic's default is 5, and what others do isn't documented.
  const ttlMs = given?.ttlMs ?? (/^(?:gpt|o\d)/.test(model) ? 10 * 60_000 : RELATIVE_PRICES.ttlMs);
  if (given === null) return { ...listed!, ttlMs };
  const { input, output } = given;
  const inRatio = (price: "cacheRead" | "cacheWrite"): number =>
    given[price] ?? (listed === null ? input : (input * listed[price]) / listed.input);
  return { input, output, cacheRead: inRatio("cacheRead"), cacheWrite: inRatio("cacheWrite"), ttlMs };
}

/** As the configuration spells them; null: it says nothing. */
export function pricingOf({ pricing }: { readonly pricing?: ModelEntry["pricing"] | null }): GivenPrices | null {
  if (pricing == null) return null;
  const { input, output, cache_read: cacheRead, cache_write: cacheWrite } = pricing;
  return { input, output, cacheRead, cacheWrite };
}
