import { modelsDocument } from "palimpsest/internal/documents";
import type { ModelPrices } from "palimpsest/models";
import type { Printing, Remote, Run } from "../command/command.ts";
import { grouped } from "../terminal/grouped.ts";
import { table } from "../terminal/table.ts";

export const run: Run = async (_input, context) => {
  const { located } = context;
  return show(modelsDocument(await located.settings(), process.env, await located.learned()), context);
};

export const remote: Remote = async (_input, context) => show(await context.server.get("/api/models"), context);

async function show(document: Document, { output, format }: Printing): Promise<number> {
  const { configured, possible } = document;
  if (format === "json") {
    await output.json(document);
    return 0;
  }
  if (configured.length === 0) await output.line("No model is configured: the offline model answers.");
  else {
    const rows = configured.map(({ name, use, provider, model, window, prices }) => [
      name,
      use,
      provider,
      model,
      windowText(window),
      prices === null ? "-" : `${prices.input} / ${prices.output} (${PRICE_SOURCES[prices.source]})`,
    ]);
    await output.line(table(["name", "use", "provider", "model", "window", "price in / out"], rows));
    output.note(`Prices are US dollars per million tokens; those of the list are of ${document.pricesAsOf}.`);
  }
  if (configured.some(({ window }) => window.source === "learned"))
    output.note('A provider refused more than its window says here: "palimpsest models forget NAME" forgets that.');
  for (const { from, variable, model } of possible)
    await output.line(`Could be used: ${from} ($${variable} is set), for example ${model}.`);
  if (configured.length === 0) output.note('"palimpsest config init" writes a configuration.');
  return 0;
}

export function windowText({ tokens, source }: Document["configured"][number]["window"]): string {
  return `${grouped(tokens)} (${WINDOW_SOURCES[source]})`;
}

type Document = ReturnType<typeof modelsDocument>;

const WINDOW_SOURCES = {
  config: "max_input_tokens",
  table: "known",
  fallback: "assumed",
  learned: "stated by the provider",
} as const;
const PRICE_SOURCES: Readonly<Record<ModelPrices["source"], string>> = { config: "pricing", table: "list" };
