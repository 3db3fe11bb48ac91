import { checkHome, type HomeCheck, loadConfig, parseConfig } from "palimpsest/home";
import type { ChosenConfig } from "palimpsest/internal/home";
import {
  admitConfig,
  admitHome,
  type ChosenHome,
  isStoreThere,
  personHere,
  readConfig,
  refusalOf,
  requireDirectory,
} from "palimpsest/internal/home";
import { storeTarget } from "palimpsest/internal/stores";
import type { IndexProgress } from "palimpsest/session";
import { openStore } from "palimpsest/stores";
import type { CommandRun, Context } from "../command/command.ts";
import { namedStore } from "../home/home.ts";
import { counted, throttled } from "../terminal/output.ts";

export const run: CommandRun<{ readonly rebuild?: boolean }> = async ({ options }, context) => {
  const checks = await checksOf(context, options.rebuild ? "rebuild" : "skip");
  const { format, output } = context;
  if (format === "json") await output.json({ checks });
  else for (const { name, ok, detail } of checks) await output.line(`${ok ? "ok  " : "BAD "} ${name}: ${detail}`);
  return checks.every(({ ok }) => ok) ? 0 : 1;
};

/** Asks nothing and changes no trust: what may not be used is a check that says so. */
async function checksOf(context: Context, derived: "skip" | "rebuild"): Promise<readonly HomeCheck[]> {
  const { home } = context;
  const { place, person } = context.located;
  const env = process.env;
  requireDirectory(home);
  const admitted = admitHome(place, person);
  if (admitted.verdict !== "use")
    return [{ name: "home", ok: false, detail: `${home} (${HOME_REASONS[place.reason]}) ${refusalOf(admitted)}` }];
  const chosen = await context.located.configuration();
  const refused = chosen === null ? null : refusalFor(chosen, home);
  const file = chosen === null || refused !== null ? null : chosen.path;
  const loaded =
    file === null ? { ...parseConfig("", { env }), path: null } : loadConfig({ home, cwd: home, env, file });
  const url = loaded.kind === "config" ? loaded.config.store.url : null;
  const target = context.store === null ? storeTarget(url, home) : namedStore(context.store);
  const checks = await checkHome({
    home,
    cwd: home,
    env,
    derived,
    loaded,
    folders: context.store === null ? "own" : "shared",
    onProgress: throttled(context.output, (done: number, threadId: string, index?: IndexProgress) =>
      index === undefined
        ? `reading ${threadId} (${counted(done, "thread")} done) ...`
        : `indexing ${threadId}: ${index.indexed} of ${counted(index.records, "record")} (${counted(done, "thread")} done) ...`,
    ),
    reasons: { home: HOME_REASONS[place.reason], config: chosen === null ? "" : CONFIG_REASONS[chosen.reason] },
    open: isStoreThere(target) ? () => openStore(target, { access: derived === "skip" ? "read" : "write" }) : null,
  });
  return refused === null ? checks : [{ name: "config", ok: false, detail: refused }, ...checks.slice(1)];
}

/** Null where it may be used. */
function refusalFor(chosen: ChosenConfig, home: string): string | null {
  const text = readConfig(chosen);
  if (typeof text !== "string") return null;
  const admission = admitConfig(chosen, { text, home, person: personHere() });
  return admission.verdict === "use"
    ? null
    : `${chosen.path} (${CONFIG_REASONS[chosen.reason]}) ${refusalOf(admission)}`;
}

const HOME_REASONS: Readonly<Record<ChosenHome["reason"], string>> = {
  option: "--home",
  environment: "PALIMPSEST_HOME",
  found: "the nearest .palimpsest above the working directory",
  user: "your own: no .palimpsest above the working directory",
};

const CONFIG_REASONS: Readonly<Record<ChosenConfig["reason"], string>> = {
  option: "--config",
  environment: "PALIMPSEST_CONFIG",
  home: "the home's",
  directory: "found in the working directory or above it",
};
