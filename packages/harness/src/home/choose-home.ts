/**
 * Which home a command works in: the one named, else the nearest `.palimpsest` above the working directory, else the
 * person's own. Decides only; whether a home that was found may be used is `trust-state.ts`.
 */
import { dirname, join, resolve } from "node:path";
import { HOME_NAME } from "../home-folders.ts";

export interface ChosenHome {
  readonly directory: string;
  readonly reason: "option" | "environment" | "found" | "user";
}

export interface HomeQuestion {
  /** `--home`. */
  readonly option: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The one home per user. */
  readonly userHome: string;
  readonly isDirectory: (path: string) => boolean;
}

export function chooseHome({ option, env, cwd, userHome, isDirectory }: HomeQuestion): ChosenHome {
  if (option !== null) return { directory: resolve(cwd, option), reason: "option" };
  const named = env["PALIMPSEST_HOME"] ?? "";
  if (named !== "") return { directory: resolve(cwd, named), reason: "environment" };
  const nearest = upwards(cwd)
    .map((folder) => join(folder, HOME_NAME))
    .find(isDirectory);
  if (nearest === undefined || nearest === userHome) return { directory: userHome, reason: "user" };
  return { directory: nearest, reason: "found" };
}

/** The folder itself, its parent, and so on to the root. */
export function upwards(folder: string): string[] {
  const here = resolve(folder);
  const parent = dirname(here);
  return parent === here ? [here] : [here, ...upwards(parent)];
}
