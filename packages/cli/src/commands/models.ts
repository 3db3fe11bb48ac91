import type { ConfigFile } from "palimpsest/config";
import { offeredModels, PRICES_AS_OF, pricesOf } from "palimpsest/internal/models";
import { type ModelPrices, windowOf } from "palimpsest/models";
import type { Run } from "../command/command.ts";
import { grouped } from "../terminal/grouped.ts";
import { table } from "../terminal/table.ts";

export const run: Run = async (_input, context) => {
  const { output, format, located } = context;
  const config = await located.settings();
  const configured = config.models.map((entry, index) => described(entry, config, index === 0));
  const taken = new Set(config.models.map(({ provider, base_url }) => `${provider} ${base_url ?? ""}`));
  const possible = offeredModels(process.env)
    .filter(({ provider, baseUrl }) => !taken.has(`${provider} ${baseUrl ?? ""}`))
    .map((offer) => ({ ...offer, window: windowOf(offer, config.summarization.fallback_context_window) }));
  if (format === "json") {
    await output.json({ configured, possible, pricesAsOf: PRICES_AS_OF });
    return 0;
  }
  if (configured.length === 0) await output.line("No model is configured: the offline model answers.");
  else {
    const rows = configured.map(({ name, use, provider, model, window, prices }) => [
      name,
      use,
      provider,
      model,
      `${grouped(window.tokens)} (${WINDOW_SOURCES[window.source]})`,
      prices === null ? "-" : `${prices.input} / ${prices.output} (${PRICE_SOURCES[prices.source]})`,
    ]);
    await output.line(table(["name", "use", "provider", "model", "window", "price in / out"], rows));
    output.note(`Prices are per million tokens; list prices are US dollars as of ${PRICES_AS_OF}.`);
  }
  for (const { from, variable, model } of possible)
    await output.line(`Could be used: ${from} ($${variable} is set), for example ${model}.`);
  if (configured.length === 0) output.note('"palimpsest config init" writes a configuration.');
  return 0;
};

type ModelEntry = ConfigFile["models"][number];

function described(entry: ModelEntry, { summarization }: ConfigFile, isFirst: boolean) {
  const { name, provider, model, lightweight } = entry;
  const use = [...(isFirst ? ["default"] : []), ...(lightweight ? ["lightweight"] : [])].join(", ");
  const window = windowOf(entry, summarization.fallback_context_window);
  return { name, use, provider, model, window, prices: pricesOf(entry) };
}

const WINDOW_SOURCES = { config: "max_input_tokens", table: "known", fallback: "assumed" } as const;
const PRICE_SOURCES: Readonly<Record<ModelPrices["source"], string>> = { config: "pricing", table: "list" };
