/**
 * Finds and reads the configuration file. Read once at start; no file, or an empty one, is the defaults. A file that was
 * found outside of the home and would do more than set things is used only when the person has trusted it.
 */
import { admitConfig, refusalOf } from "./admission.ts";
import { chooseConfig, isFile, readConfig, smallText } from "./find.ts";
import { type ParsedConfig, parseConfig } from "./parse.ts";
import { personHere } from "./person.ts";
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
