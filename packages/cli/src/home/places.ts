/**
 * Which home and which configuration a command uses, found once, and used only when they are the person's own or
 * trusted: in a terminal the person is asked, elsewhere the command refuses and says how to allow it.
 */
import { existsSync, statSync } from "node:fs";
import { type Admission, admitHome, refusalOf } from "palimpsest/config/admission";
import { type ChosenConfig, findConfig } from "palimpsest/config/find";
import { type ChosenHome, chooseHome, personHere } from "palimpsest/trust";
import type { Context, Input } from "../command/command.ts";
import { Failure, sentence, UsageError } from "../command/failure.ts";

export function chosenHome({ options }: Input): ChosenHome {
  const { env } = process;
  const option = options["home"];
  if (option === "") throw new UsageError("--home is empty: name a directory.");
  return chooseHome({
    option: typeof option === "string" ? option : null,
    env,
    cwd: process.cwd(),
    userHome: personHere(env).folders.data,
    isDirectory: (path) => existsSync(path) && statSync(path).isDirectory(),
  });
}

/** Null: there is none, the defaults are used. */
export function configOf(context: Context): Promise<ChosenConfig | null> {
  return once(configs, context, () =>
    findConfig({ option: context.config, env: process.env, home: context.home, cwd: process.cwd() }),
  );
}

/** Before anything of the home is read. */
export function admittedHome(context: Context): Promise<Admission> {
  return once(homes, context, async () => {
    const admission = admitHome(context.place, personHere());
    await admit(admission, context);
    return admission;
  });
}

export async function admit(admission: Admission, context: Context): Promise<void> {
  if (admission.verdict === "use") return;
  if (admission.verdict === "ask" && (await isTrustedNow(admission, context))) return admission.trust();
  throw new Failure("untrusted", `${admission.path} ${refusalOf(admission)}.`);
}

/** What it would be allowed to do, a line each. */
export function powerLines({ powers }: Admission): string[] {
  return powers.map(({ key, detail }) => `  ${detail} (${key})`);
}

async function isTrustedNow(admission: Admission, { format, output, signal }: Context): Promise<boolean> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY || format === "json") return false;
  const changed = admission.standing === "changed" ? "has changed since you trusted it" : "is not known to be yours";
  await output.line(
    sentence(`this ${admission.kind === "home" ? "home" : "configuration"} ${changed}: ${admission.path}`),
  );
  const lines = powerLines(admission);
  if (lines.length > 0) await output.line(["It would", ...lines].join("\n"));
  const { createInterface } = await import("node:readline/promises");
  const keyboard = createInterface({ input: stdin, output: stdout });
  try {
    const answer = await keyboard.question("Trust it as it is now? [y/N] ", { signal });
    return /^\s*y(?:es)?\s*$/i.test(answer);
  } finally {
    keyboard.close();
  }
}

const configs = new WeakMap<Context, Promise<ChosenConfig | null>>();
const homes = new WeakMap<Context, Promise<Admission>>();

function once<T>(known: WeakMap<Context, Promise<T>>, context: Context, find: () => Promise<T>): Promise<T> {
  const value = known.get(context) ?? find();
  known.set(context, value);
  return value;
}
