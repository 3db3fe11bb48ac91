/** The configuration, for commands that need more of it than where the threads are. Loaded only when one asks. */
import type { Policy } from "@palimpsest/core/compaction";
import type { ChosenConfig, ConfigFile, RequestWindow } from "palimpsest/config";
import { personHere } from "palimpsest/trust";
import type { Context } from "../command/command.ts";
import { Failure } from "../command/failure.ts";
import { admit, admittedHome, configOf } from "./places.ts";

/** Read once: every part of a command sees the same. */
const read = new WeakMap<Context, Promise<ConfigFile>>();

export function loadSettings(context: Context): Promise<ConfigFile> {
  const known = read.get(context) ?? load(context);
  read.set(context, known);
  return known;
}

/** How a simulated window is made to fit. */
export async function squeezePolicy(context: Context): Promise<Policy> {
  const { summarizationForThreads } = await import("palimpsest/config");
  return summarizationForThreads((await loadSettings(context)).summarization).policy;
}

/** The configured model's window, or the fallback; null where nothing is configured. */
export async function configuredWindow(context: Context): Promise<RequestWindow | null> {
  if ((await configOf(context)) === null) return null;
  const { requestWindow } = await import("palimpsest/config");
  return requestWindow(await loadSettings(context));
}

async function load(context: Context): Promise<ConfigFile> {
  const { configSchema, parseConfig } = await import("palimpsest/config");
  await admittedHome(context);
  const chosen = await configOf(context);
  if (chosen === null) return configSchema.parse({});
  const parsed = parseConfig(await admittedText(chosen, context), { env: process.env });
  if (parsed.kind === "invalid") throw unusable(chosen.path, parsed.problems);
  // Said by "config check" and "doctor"; here it would be said again at every command.
  if (context.verbose)
    for (const warning of parsed.warnings) context.output.note(`warning: ${chosen.path}: ${warning}`);
  return parsed.config;
}

/** The text that was judged is the text that is used. */
async function admittedText(chosen: ChosenConfig, context: Context): Promise<string> {
  const { admitConfig, readConfig } = await import("palimpsest/config");
  const text = readConfig(chosen);
  if (typeof text !== "string") throw unusable(chosen.path, [text.problem]);
  await admit(admitConfig(chosen, { text, home: context.home, person: personHere() }), context);
  return text;
}

function unusable(path: string, [first, ...others]: readonly string[]): Failure {
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  const advice = `Nothing was done: "palimpsest config check" shows all there is to repair`;
  return new Failure("config", `${path}: ${first}${more}. ${advice}.`);
}
