/**
 * Finds and reads the configuration file: in the home, in the working directory, then in its parents. Read once at start;
 * no file, or an empty one, is the defaults.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type ParsedConfig, parseConfig } from "./parse.ts";

export const CONFIG_NAME = "config.yaml";

export interface LoadOptions {
  readonly home: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** An exact file instead of the search. */
  readonly file?: string;
}

export type LoadedConfig = ParsedConfig & { readonly path: string | null };

export function loadConfig({ home, cwd, env, file }: LoadOptions): LoadedConfig {
  const path = file ?? findConfig(home, cwd);
  if (path === null) return { ...parseConfig("", { env }), path };
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    return { kind: "invalid", problems: [`${path} can't be read: ${(error as Error).message}`], path };
  }
  return { ...parseConfig(text, { env }), path };
}

function findConfig(home: string, cwd: string): string | null {
  const candidates = [resolve(cwd, home), ...parents(resolve(cwd))].map((folder) => join(folder, CONFIG_NAME));
  return candidates.find((path) => existsSync(path)) ?? null;
}

function parents(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...parents(parent)];
}
