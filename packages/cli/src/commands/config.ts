/** The configuration: written at first, checked, brought to the newest form, described for an editor. */

import { constants, existsSync } from "node:fs";
import { copyFile, open, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "@palimpsest/core/internal/text";
import type { ConfigFinding, StarterAnswers } from "palimpsest/internal/config";
import {
  answerProblem,
  checkConfig,
  configJsonSchema,
  configSchema,
  rewriteConfig,
  starterConfig,
} from "palimpsest/internal/config";
import { CONFIG_NAME, makeHome, readConfig } from "palimpsest/internal/home";
import { knownWindow, offeredModels } from "palimpsest/internal/models";
import type { ModelOffer } from "palimpsest/models";
import type { CommandRun, Context } from "../command/command.ts";
import { Failure, sentence, UsageError } from "../command/failure.ts";
import { askSeveral, canAsk } from "../terminal/output.ts";

interface ConfigInitOptions {
  readonly provider?: string;
  readonly model?: string;
  readonly key?: string;
  readonly "base-url"?: string;
  readonly window?: number;
}

const runConfigInit: CommandRun<ConfigInitOptions> = async ({ options }, context) => {
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
function given(options: ConfigInitOptions): StarterAnswers {
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

export const initializing = { run: runConfigInit };

const runConfigCheck: CommandRun = async ({ positionals }, context) => {
  const { home, format, output } = context;
  // Looked at, not obeyed: it need not be trusted for that.
  const path = positionals[0] ?? (await context.located.configuration())?.path ?? null;
  const findings = path === null ? [] : findingsOf(path, home);
  const messages = (wanted: ConfigFinding["severity"]) =>
    findings.filter(({ severity }) => severity === wanted).map(({ message }) => message);
  const [problems, warnings] = [messages("problem"), messages("warning")];
  const ok = problems.length === 0;
  const place = (line: number | null): string => `${path}${line === null ? "" : `:${line}`}`;
  for (const { severity, line, message } of findings)
    if (severity === "warning") output.note(`warning: ${place(line)}: ${message}`);
  if (format === "json") await output.json({ ok, path, problems, warnings, findings });
  else if (ok) await output.line(path === null ? "No config.yaml: the defaults are used." : `${path} is fine.`);
  else
    for (const { severity, line, message } of findings)
      if (severity === "problem") await output.line(`${place(line)}: ${message}`);
  return ok ? 0 : 1;
};

function findingsOf(path: string, home: string): readonly ConfigFinding[] {
  const text = readConfig({ path, reason: "option" });
  if (typeof text !== "string") return [{ severity: "problem", line: null, message: text.problem }];
  return checkConfig(text, { env: process.env, home, exists: existsSync });
}

export const checking = { run: runConfigCheck };

const runConfigUpgrade: CommandRun = async ({ positionals }, context) => {
  const { format, output } = context;
  const path = positionals[0] ?? (await context.located.configuration())?.path;
  if (path === undefined)
    throw new Failure("missing", "There is no config.yaml: the defaults are used, nothing to upgrade.");
  const result = rewriteConfig(await readFile(path, "utf8"), { env: process.env });
  if (result.kind === "invalid") {
    for (const problem of result.problems.slice(1)) output.note(`${path}: ${problem}`);
    throw new Failure("invalid", `${path}: ${result.problems[0]}. The file is as it was.`);
  }
  if (result.kind === "current") {
    if (format === "json") await output.json({ path, from: result.version, to: result.version, backup: null });
    else await output.line(`${path} is at version ${result.version} already.`);
    return 0;
  }
  const backup = await keepCopy(path);
  await replace(path, result.text);
  const { from, to } = result;
  if (format === "json") await output.json({ path, from, to, backup });
  else await output.line(`${path} is at version ${to} now; the old file is ${backup}.`);
  return 0;
};

/** Beside the file, under the first name that is free: an earlier backup is never overwritten. */
async function keepCopy(path: string): Promise<string> {
  for (let count = 0; ; count += 1) {
    const backup = `${path}.bak${count === 0 ? "" : `-${count}`}`;
    try {
      await copyFile(path, backup, constants.COPYFILE_EXCL);
      return backup;
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
  }
}

/** Whole or not at all; the file keeps its mode. */
async function replace(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`;
  const file = await open(temporary, "w", (await stat(path)).mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

export const upgrading = { run: runConfigUpgrade };

/** JSON with and without `--json`: it is meant for an editor or another program. */
const runConfigSchema: CommandRun = async (_input, { output }) => {
  await output.json(configJsonSchema());
  return 0;
};

export const printingSchema = { run: runConfigSchema };
