import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StarterAnswers } from "palimpsest/home";
import { answerProblem, configSchema, starterConfig } from "palimpsest/internal/config";
import { CONFIG_NAME, makeHome } from "palimpsest/internal/home";
import { knownWindow, offeredModels } from "palimpsest/internal/models";
import type { ModelOffer } from "palimpsest/models";
import type { Context, Run } from "../command/command.ts";
import { Failure, sentence, UsageError } from "../command/failure.ts";
import { askSeveral, canAsk } from "../home/ask.ts";

interface Options {
  readonly provider?: string;
  readonly model?: string;
  readonly key?: string;
  readonly "base-url"?: string;
  readonly window?: number;
}

export const run: Run<Options> = async ({ options }, context) => {
  const { located, output, format } = context;
  const named = await located.configuration();
  const isNamed = named?.reason === "option" || named?.reason === "environment";
  const path = isNamed ? named.path : join(context.home, CONFIG_NAME);
  if (existsSync(path))
    throw new Failure("exists", `${path} exists already and is left as it is: edit it, or name another with --config.`);
  const answers =
    canAsk(format) && options.provider === undefined
      ? await askSeveral(context.signal, (answer) => asked(answer, context))
      : given(options);
  const problem = answerProblem(answers);
  if (problem !== null) throw new UsageError(`${sentence(problem)}.`);
  if (!isNamed) makeHome(located.place, located.person);
  await writeFile(path, starterConfig(answers), { mode: 0o600, flag: "wx" });
  if (format === "json") await output.json({ path, provider: answers.provider, model: answers.model });
  else await output.line(`Wrote ${path}. "palimpsest models test" makes one small call to see that it works.`);
  return 0;
};

const PROVIDERS = ["anthropic", "openai", "google", "openai-compatible", "offline"] as const;

/** From flags alone, with what the environment offers for the rest. */
function given(options: Options): StarterAnswers {
  const offers = offeredModels(process.env);
  const provider = options.provider ?? offers[0]?.provider;
  if (provider === undefined)
    throw new UsageError(
      `--provider is missing, and no provider's key is in the environment: ${PROVIDERS.join(", ")}.`,
    );
  if (!isProvider(provider)) throw new UsageError(`--provider must be one of ${PROVIDERS.join(", ")}.`);
  const offer = offers.find((one) => one.provider === provider) ?? null;
  const model = options.model ?? (provider === "offline" ? "offline" : offer?.model);
  if (model === undefined) throw new UsageError("--model is missing: give the provider's id for it.");
  return {
    provider,
    model,
    baseUrl: options["base-url"] ?? (options.model === undefined ? (offer?.baseUrl ?? null) : null),
    keyVariable: options.key ?? offer?.variable ?? null,
    window: options.window ?? null,
  };
}

/** Four questions; an empty answer takes what stands in brackets. */
async function asked(answer: (question: string) => Promise<string>, { output }: Context): Promise<StarterAnswers> {
  const offers = offeredModels(process.env);
  if (offers.length > 0)
    await output.line(`Keys found: ${offers.map(({ from, variable }) => `${from} ($${variable})`).join(", ")}.`);
  const question = async (text: string, standard: string): Promise<string> =>
    (await answer(`${text}${standard === "" ? "" : ` [${standard}]`}: `)).trim() || standard;
  const provider = await question(`Provider (${PROVIDERS.join(", ")})`, offers[0]?.provider ?? "openai");
  if (!isProvider(provider)) throw new UsageError(`There is no provider "${provider}": ${PROVIDERS.join(", ")}.`);
  const offer: ModelOffer | undefined = offers.find((one) => one.provider === provider);
  const none = { baseUrl: null, keyVariable: null, window: null };
  if (provider === "offline") return { ...none, provider, model: "offline" };
  const isCompatible = provider === "openai-compatible";
  const baseUrl = isCompatible ? await question("Address", offer?.baseUrl ?? "http://127.0.0.1:11434/v1") : null;
  const model = await question("Model", offer?.model ?? "");
  const keyVariable = await question(
    `Variable that holds the key${isCompatible ? " (empty: none)" : ""}`,
    offer?.variable ?? (isCompatible ? "" : `${provider.toUpperCase()}_API_KEY`),
  );
  const key = keyVariable === "" ? null : keyVariable.replace(/^\$/, "");
  if (isCompatible) return { provider, model, baseUrl, keyVariable: key, window: null };
  const listed = knownWindow(model);
  const window = await question(
    `Input window in tokens${listed === null ? " (empty: not known)" : ""}`,
    `${listed ?? ""}`,
  );
  if (!/^\d*$/.test(window)) throw new UsageError(`The window is a whole number of tokens, not "${window}".`);
  const isKnown = window === "" || Number(window) === listed;
  return { provider, model, baseUrl, keyVariable: key, window: isKnown ? null : Number(window) };
}

function isProvider(text: string): text is StarterAnswers["provider"] {
  return configSchema.shape.models.safeParse([{ name: "x", provider: text, model: "x" }]).success;
}
