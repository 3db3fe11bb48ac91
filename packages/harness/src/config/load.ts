/**
 * Finds and reads the configuration file: in the home, in the working directory, then in its parents. Read once at start;
 * no file, or an empty one, is the defaults.
 */
import { readFileSync } from "node:fs";
import { findConfig } from "./find.ts";
import { type ParsedConfig, parseConfig } from "./parse.ts";

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
    return { kind: "invalid", problems: [`can't be read (${(error as NodeJS.ErrnoException).code})`], path };
  }
  return { ...parseConfig(text, { env }), path };
}
