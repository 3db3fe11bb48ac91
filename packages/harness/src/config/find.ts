/**
 * Where the configuration file is: in the home, in the working directory, then in its parents. Apart from what reads it,
 * so that a command without a configuration never loads the schema.
 */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

export const CONFIG_NAME = "config.yaml";

export function findConfig(home: string, cwd: string): string | null {
  const candidates = [resolve(cwd, home), ...parents(resolve(cwd))].map((folder) => join(folder, CONFIG_NAME));
  return candidates.find((path) => existsSync(path)) ?? null;
}

function parents(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...parents(parent)];
}
