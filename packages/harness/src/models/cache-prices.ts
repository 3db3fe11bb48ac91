/** What a prompt costs a model's maker to be asked again: its list prices and how long its cache lives. Pure. */
import { type Prices, RELATIVE_PRICES } from "@palimpsest/core/pricing";
import { knownPrices } from "./known-prices.ts";

/** Only their ratios matter. Relative ones for a model whose prices aren't known. */
export function cachePrices(model: string): Prices {
  const listed = knownPrices(model);
  if (listed === null) return RELATIVE_PRICES;
  // OpenAI says 5 to 10 minutes without use; Anthropic's default is 5, and what others do isn't documented.
  const ttlMs = /^(?:gpt|o\d)/.test(model) ? 10 * 60_000 : RELATIVE_PRICES.ttlMs;
  return { ...listed, ttlMs };
}
