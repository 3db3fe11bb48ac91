/**
 * Where the configuration file is: the one named, the home's, then one in the working directory or its parents if it is
 * recognizably ours. Apart from what reads it, so that a command without a configuration never loads the schema.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { upwards } from "./choose-home.ts";

export const CONFIG_NAME = "config.yaml";

export interface ChosenConfig {
  readonly path: string;
  readonly reason: "option" | "environment" | "home" | "directory";
}

export interface ConfigQuestion {
  /** `--config`. */
  readonly option?: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
}

export function chooseConfig(
  { option = null, env, home, cwd }: ConfigQuestion,
  { exists, isOurs }: { readonly exists: (path: string) => boolean; readonly isOurs: (path: string) => boolean },
): ChosenConfig | null {
  if (option !== null) return { path: resolve(cwd, option), reason: "option" };
  const named = env["PALIMPSEST_CONFIG"] ?? "";
  if (named !== "") return { path: resolve(cwd, named), reason: "environment" };
  const own = join(resolve(cwd, home), CONFIG_NAME);
  if (exists(own)) return { path: own, reason: "home" };
  const near = upwards(cwd)
    .map((folder) => join(folder, CONFIG_NAME))
    .find((path) => exists(path) && isOurs(path));
  return near === undefined ? null : { path: near, reason: "directory" };
}

/** Loads what it takes to recognize a file only where there is one. */
export async function findConfig(question: ConfigQuestion): Promise<ChosenConfig | null> {
  const near = upwards(question.cwd).some((folder) => isFile(join(folder, CONFIG_NAME)));
  const isOurs = near ? (await import("./recognize.ts")).isOurs : () => false;
  return chooseConfig(question, { exists: isFile, isOurs: (path) => isOurs(smallText(path)) });
}

export function readConfig({ path }: ChosenConfig): string | { readonly problem: string } {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: code === "ENOENT" ? "does not exist" : `can't be read (${code})` };
  }
}

export function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}

/** Another program's file may be of any size, and may be none of our business to read. */
export function smallText(path: string): string {
  try {
    return statSync(path).size > MOST_BYTES ? "" : readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

const MOST_BYTES = 1 << 20;
