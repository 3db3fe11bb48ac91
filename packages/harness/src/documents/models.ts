/** The models of a configuration, and those the environment has a key for, as JSON. */
import type { ConfigFile } from "../home/schema.ts";
import { pricesOf } from "../models/cost.ts";
import { PRICES_AS_OF } from "../models/known-prices.ts";
import { offeredModels } from "../models/offers.ts";
import { windowNow, windowOf } from "../models/window.ts";

export function modelsDocument(
  config: ConfigFile,
  env: Readonly<Record<string, string | undefined>>,
  learned: Parameters<typeof windowNow>[2],
) {
  const { fallback_context_window: fallback } = config.summarization;
  const configured = config.models.map((entry, index) => {
    const { name, provider, model, lightweight } = entry;
    const use = [...(index === 0 ? ["default"] : []), ...(lightweight ? ["lightweight"] : [])].join(", ");
    return { name, use, provider, model, window: windowNow(entry, fallback, learned), prices: pricesOf(entry) };
  });
  const taken = new Set(config.models.map(({ provider, base_url }) => `${provider} ${base_url ?? ""}`));
  const possible = offeredModels(env)
    .filter(({ provider, baseUrl }) => !taken.has(`${provider} ${baseUrl ?? ""}`))
    .map((offer) => ({ ...offer, window: windowOf(offer, fallback) }));
  return { configured, possible, pricesAsOf: PRICES_AS_OF };
}
