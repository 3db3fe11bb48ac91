import { existsSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { Admission } from "palimpsest/home";
import {
  admitConfig,
  admitHome,
  admitWorkspace,
  CONFIG_NAME,
  HOME_NAME,
  personHere,
  readConfig,
  refusalOf,
} from "palimpsest/internal/home";
import type { CommandRun, Context } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { powerLines } from "../home/home.ts";

interface TrustOptions {
  readonly "dry-run"?: boolean;
  readonly remove?: boolean;
  readonly workspace?: boolean;
}

export const run: CommandRun<TrustOptions> = async ({ positionals, options }, context) => {
  const act = options.remove ? "remove" : options["dry-run"] ? "show" : "trust";
  if (act === "remove" && options["dry-run"]) throw new UsageError("--remove and --dry-run can't be combined.");
  const target = positionals[0];
  if (options.workspace) return trustWorkspace(resolve(target ?? "."), act, context);
  const admissions = target === undefined ? await usedHere(context) : namedBy(resolve(target), context);
  const strange = admissions.filter(({ state }) => state !== "own");
  for (const admission of strange) {
    if (admission.state === "other-user") throw new Failure("other-user", `${admission.path} ${refusalOf(admission)}.`);
    if (act === "remove") admission.distrust();
    if (act === "trust") admission.trust();
  }
  await report(strange, act, context);
  return 0;
};

type TrustAct = "trust" | "remove" | "show";

async function trustWorkspace(
  path: string,
  act: TrustAct,
  { home, located, output, format }: Context,
): Promise<number> {
  const admission = admitWorkspace(path, { home, person: located.person });
  const { directory } = admission;
  if (admission.kind === "missing") throw new Failure("missing", `There is no directory ${directory}.`);
  if (admission.kind === "other-user")
    throw new Failure("other-user", `${directory} belongs to another user of this machine.`);
  if (admission.kind === "holds-home")
    throw new Failure("holds-home", `${directory} holds the home ${home}: agents could change their own memory there.`);
  if (act === "trust" && admission.kind === "ask") admission.trust();
  if (act === "remove" && admission.kind === "use") admission.distrust();
  const allowed = act === "show" ? admission.kind === "use" : act === "trust";
  if (format === "json") await output.json({ act, workspace: directory, allowed });
  else await output.line(`Agents ${allowed ? "may" : "may not"} work in ${directory} with --workspace.`);
  return 0;
}

async function usedHere(context: Context): Promise<Admission[]> {
  const { place, person } = context.located;
  const config = await context.located.configuration();
  const home = admitHome(place, person);
  return config === null || config.reason === "home" ? [home] : [home, configAt(config.path, context, config.reason)];
}

/** A file is a configuration; a directory is a home, or holds one or the other. */
function namedBy(path: string, context: Context): Admission[] {
  if (!existsSync(path)) throw new Failure("missing", `There is no ${path}: name a configuration file or a home.`);
  if (!statSync(path).isDirectory()) return [configAt(path, context)];
  const isHome = basename(path) === HOME_NAME;
  const home = isHome ? path : join(path, HOME_NAME);
  const config = join(path, CONFIG_NAME);
  const admissions = [
    ...(existsSync(home) ? [admitHome({ directory: home, reason: "found" }, personHere())] : []),
    ...(!isHome && existsSync(config) ? [configAt(config, context)] : []),
  ];
  if (admissions.length > 0) return admissions;
  throw new Failure("missing", `${path} holds neither ${HOME_NAME} nor ${CONFIG_NAME}: there is nothing to trust.`);
}

/** Judged as found: that it is named here doesn't make it the person's own. */
function configAt(
  path: string,
  { home }: Context,
  reason: "option" | "environment" | "directory" = "directory",
): Admission {
  const chosen = { path, reason };
  const text = readConfig(chosen);
  if (typeof text !== "string") throw new Failure("unreadable", `${path} ${text.problem}.`);
  return admitConfig(chosen, { text, home, person: personHere() });
}

async function report(admissions: readonly Admission[], act: TrustAct, { format, output }: Context): Promise<void> {
  if (format === "json") {
    const trust = admissions.map(({ kind, path, state, powers }) => ({ kind, path, was: state, allows: powers }));
    return output.json({ act, trust });
  }
  if (admissions.length === 0) await output.line("Nothing here needs to be trusted.");
  for (const admission of admissions) {
    const sentences = {
      trust: "is trusted as it is now; you are asked again when it changes",
      remove: "is no longer trusted",
    };
    const now = act === "show" ? STATES[admission.state] : sentences[act];
    await output.line(`The ${admission.kind === "home" ? "home" : "configuration"} ${admission.path} ${now}.`);
    if (act === "remove" || admission.powers.length === 0) continue;
    await output.line([act === "trust" ? "It may" : "It would", ...powerLines(admission)].join("\n"));
  }
}

const STATES: Readonly<Record<Admission["state"], string>> = {
  own: "is your own",
  trusted: "is trusted",
  changed: "has changed since you trusted it",
  unknown: "is not known to be yours",
  "other-user": "belongs to another user",
};
