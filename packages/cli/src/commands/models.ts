/** Models: listed, tried, and what a provider stated about one forgotten. */
import { forgetWindows, probeModel } from "palimpsest/internal/assistant";
import { models } from "palimpsest/internal/catalog-operations";
import { costOf, OFFLINE, pricesOf, windowNow } from "palimpsest/internal/models";
import { type ModelPrices, resolveModel } from "palimpsest/models";
import type { CommandRun, Input } from "../command/command.ts";
import { performing, print, withHome } from "../home/home.ts";
import { requireModel } from "../home/talk.ts";
import { grouped, money } from "../terminal/output.ts";
import { table } from "../terminal/table.ts";

export const listing = performing(models, {
  input: (_: Input) => ({}),
  async show({ configured, possible, pricesAsOf }, { output }) {
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
      output.note(`Prices are US dollars per million tokens; those of the list are of ${pricesAsOf}.`);
    }
    if (configured.some(({ window }) => window.source === "learned"))
      output.note('A provider refused more than its window says here: "palimpsest models forget NAME" forgets that.');
    for (const { from, variable, model } of possible)
      await output.line(`Could be used: ${from} ($${variable} is set), for example ${model}.`);
    if (configured.length === 0) output.note('"palimpsest config init" writes a configuration.');
  },
});

const PRICE_SOURCES: Readonly<Record<ModelPrices["source"], string>> = { config: "pricing", table: "list" };

function windowText({ tokens, source }: ReturnType<typeof windowNow>): string {
  return `${grouped(tokens)} (${WINDOW_SOURCES[source]})`;
}

const WINDOW_SOURCES = {
  config: "max_input_tokens",
  table: "known",
  fallback: "assumed",
  learned: "stated by the provider",
} as const;

export const testing: { readonly run: CommandRun } = {
  async run({ positionals }, context) {
    const { located, signal } = context;
    const config = await located.settings();
    const name = positionals[0] ?? null;
    await requireModel(context, name);
    const model = await resolveModel(config, name);
    const { ms, text, usage } = await probeModel(model, signal);
    const entry = config.models.find((one) => one.name === model.name);
    const prices = entry === undefined ? null : pricesOf(entry);
    const spent = prices === null ? null : costOf(usage, prices).spent;
    const { modelId, provider, window } = model;
    const document = { ok: true, model: model.name, provider, id: modelId, window };
    const tokens = `${usage.input} tokens in, ${usage.output} out${spent === null ? "" : `, ${money(spent)}`}`;
    await print(
      context,
      { ...document, ms, usage, text, spent },
      () => `${model.name} (${provider} ${modelId}) answered in ${(ms / 1000).toFixed(1)} s: ${tokens}.`,
    );
    return 0;
  },
};

export const forgetting: { readonly run: CommandRun } = {
  async run({ positionals }, context) {
    const { located, home } = context;
    const config = await located.settings();
    const name = positionals[0] ?? null;
    await requireModel(context, name);
    const entry = config.models.find((one) => name === null || one.name === name) ?? OFFLINE;
    // Limits in the home's own file need no store.
    const forgotten = (await located.hasStore())
      ? await withHome(context, ({ store }) => forgetWindows(home, store.shared?.limits, entry))
      : await forgetWindows(home, undefined, entry);
    const window = windowNow(entry, config.summarization.fallback_context_window, await located.learned());
    const limits = forgotten.map(grouped).join(" and ");
    const done =
      forgotten.length === 0
        ? `Nothing was learned about ${entry.name}`
        : `Forgot that ${entry.name} takes no more than ${limits} tokens`;
    await print(
      context,
      { model: entry.name, forgotten, window },
      () => `${done}: its window is ${windowText(window)}.`,
    );
    return 0;
  },
};
