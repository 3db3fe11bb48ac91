import { probeModel } from "palimpsest/internal/assistant";
import { costOf, pricesOf } from "palimpsest/internal/models";
import { resolveModel } from "palimpsest/models";
import type { Run } from "../command/command.ts";
import { money } from "../home/money.ts";
import { requireModel } from "../home/talk.ts";

export const run: Run = async ({ positionals }, context) => {
  const { output, format, located, signal } = context;
  const config = await located.settings();
  const name = positionals[0] ?? null;
  await requireModel(context, name);
  const model = await resolveModel(config, name);
  const { ms, text, usage } = await probeModel(model, signal);
  const entry = config.models.find((one) => one.name === model.name);
  const prices = entry === undefined ? null : pricesOf(entry);
  const spent = prices === null ? null : costOf(usage, prices).spent;
  const { modelId, provider, window } = model;
  if (format === "json")
    await output.json({
      ok: true,
      model: model.name,
      provider,
      id: modelId,
      window,
      ms,
      usage,
      text,
      spent,
    });
  else {
    const cost = spent === null ? "" : `, ${money(spent)}`;
    const tokens = `${usage.input} tokens in, ${usage.output} out${cost}`;
    await output.line(`${model.name} (${provider} ${modelId}) answered in ${(ms / 1000).toFixed(1)} s: ${tokens}.`);
  }
  return 0;
};
