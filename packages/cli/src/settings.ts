/** The configuration, for commands that need more of it than where the threads are. Loaded only when one asks. */
import type { Policy } from "@palimpsest/core/compaction";
import type { ConfigFile, RequestWindow } from "palimpsest/config";
import { findConfig } from "palimpsest/config/find";
import type { Context } from "./command.ts";
import { Failure } from "./failure.ts";

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
  if (findConfig(context.home, process.cwd()) === null) return null;
  const { requestWindow } = await import("palimpsest/config");
  return requestWindow(await loadSettings(context));
}

async function load({ home, output, verbose }: Context): Promise<ConfigFile> {
  const { loadConfig } = await import("palimpsest/config");
  const loaded = loadConfig({ home, cwd: process.cwd(), env: process.env });
  if (loaded.kind === "invalid") {
    const [first, ...others] = loaded.problems;
    const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
    throw new Failure(
      "config",
      `${loaded.path}: ${first}${more}. Nothing was done: "palimpsest config check" shows all there is to repair.`,
    );
  }
  // Said by "config check" and "doctor"; here it would be said again at every command.
  if (verbose) for (const warning of loaded.warnings) output.note(`warning: ${loaded.path}: ${warning}`);
  return loaded.config;
}
