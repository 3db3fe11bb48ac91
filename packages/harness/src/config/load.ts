/**
 * Finds and reads the configuration file. Read once at start; no file, or an empty one, is the defaults. A file that was
 * found outside of the home and would do more than set things is used only when the person has trusted it.
 */
import { readFileSync } from "node:fs";
import { personHere } from "../trust/person.ts";
import { admitConfig, refusalOf } from "./admission.ts";
import { type ChosenConfig, chooseConfig, isFile, smallText } from "./find.ts";
import { type ParsedConfig, parseConfig } from "./parse.ts";
import { isOurs } from "./recognize.ts";

export interface LoadOptions {
  readonly home: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** An exact file instead of the search. */
  readonly file?: string;
}

export type LoadedConfig = ParsedConfig & { readonly path: string | null };

export function loadConfig({ home, cwd, env, file }: LoadOptions): LoadedConfig {
  const recognized = (path: string): boolean => isOurs(smallText(path));
  const chosen = chooseConfig({ option: file ?? null, env, home, cwd }, { exists: isFile, isOurs: recognized });
  if (chosen === null) return { ...parseConfig("", { env }), path: null };
  const { path } = chosen;
  const text = readConfig(chosen);
  if (typeof text !== "string") return { kind: "invalid", problems: [text.problem], path };
  const admission = admitConfig(chosen, { text, home, person: personHere(env) });
  if (admission.verdict !== "use") return { kind: "invalid", problems: [refusalOf(admission)], path };
  return { ...parseConfig(text, { env }), path };
}

export function readConfig({ path }: ChosenConfig): string | { readonly problem: string } {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: code === "ENOENT" ? "does not exist" : `can't be read (${code})` };
  }
}
