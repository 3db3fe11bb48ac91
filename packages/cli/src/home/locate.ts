/** Which home and configuration the command line means; in a terminal the person is asked about what isn't known to be theirs. */

import type { Admission } from "palimpsest/home";
import { type LocatedHome, locateHome } from "palimpsest/internal/home";
import type { GlobalOptions } from "../command/arguments.ts";
import type { Command, Context } from "../command/command.ts";
import { sentence, UsageError } from "../command/failure.ts";
import { ask, canAsk, isYes } from "./ask.ts";

export function locate(
  { home, config, store, verbose }: GlobalOptions,
  userId: string,
  { access }: Pick<Command, "access">,
  asking: Asking,
): LocatedHome {
  if (home === "") throw new UsageError("--home is empty: name a directory.");
  const { output } = asking;
  return locateHome({
    home: home ?? null,
    config: config ?? null,
    store: store ?? null,
    userId,
    access: access ?? "write",
    cwd: process.cwd(),
    env: process.env,
    trust: (admission) => isTrustedNow(admission, asking),
    // The rest is said by "config check" and "doctor"; otherwise it would be said again at every command.
    onWarning: (text, told) => (verbose || told === "always" ? output.note(`warning: ${text}`) : undefined),
    onError: (text) => output.note(`error: ${text}`),
  });
}

type Asking = Pick<Context, "format" | "output" | "signal">;

/** What it would be allowed to do, a line each. */
export function powerLines({ powers }: Admission): string[] {
  return powers.map(({ key, detail }) => `  ${detail} (${key})`);
}

async function isTrustedNow(admission: Admission, { format, output, signal }: Asking): Promise<boolean> {
  if (!canAsk(format)) return false;
  const changed = admission.state === "changed" ? "has changed since you trusted it" : "is not known to be yours";
  await output.line(
    sentence(`this ${admission.kind === "home" ? "home" : "configuration"} ${changed}: ${admission.path}`),
  );
  const lines = powerLines(admission);
  if (lines.length > 0) await output.line(["It would", ...lines].join("\n"));
  return isYes(await ask("Trust it as it is now? [y/N] ", signal));
}
