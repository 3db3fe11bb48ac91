/**
 * A configuration file's text brought to the present version: only what the upgrade changes is touched, so comments,
 * order and spelling stay. Pure; the caller that writes the file keeps the old one beside it.
 */
import { isRecord } from "@palimpsest/core/internal/text";
import type { YAMLMap } from "yaml";
import { yaml } from "../yaml.ts";
import { parseConfig } from "./parse.ts";
import { CONFIG_VERSION } from "./schema.ts";
import { upgradeConfig } from "./upgrade.ts";

export type RewrittenConfig =
  | { readonly kind: "current"; readonly version: number }
  | { readonly kind: "rewritten"; readonly text: string; readonly from: number | null; readonly to: number }
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

export function rewriteConfig(
  text: string,
  { env }: { readonly env: Readonly<Record<string, string | undefined>> },
): RewrittenConfig {
  const checked = parseConfig(text, { env });
  if (checked.kind === "invalid") return checked;
  const document = yaml().parseDocument(text);
  const before = (document.toJS() ?? {}) as Record<string, unknown>;
  const upgraded = upgradeConfig(before);
  if (upgraded.kind === "refused") return { kind: "invalid", problems: [upgraded.problem] };
  const stated = before["config_version"];
  if (Number(stated) === CONFIG_VERSION) return { kind: "current", version: CONFIG_VERSION };
  if (!yaml().isMap(document.contents)) document.contents = document.createNode({}) as never;
  const { config_version: _version, ...rest } = upgraded.value;
  apply(before, rest, [], {
    set: (path, value) => document.setIn(path, value),
    drop: (path) => document.deleteIn(path),
  });
  // First in the file where it is new; the comments above the old first key stay with that key.
  if (stated === undefined)
    (document.contents as YAMLMap).items.unshift(document.createPair("config_version", CONFIG_VERSION));
  else document.set("config_version", CONFIG_VERSION);
  // Long lines are the user's own.
  const rewritten = document.toString({ lineWidth: 0 });
  return { kind: "rewritten", text: rewritten, from: stated === undefined ? null : Number(stated), to: CONFIG_VERSION };
}

interface Edit {
  set(path: readonly string[], value: unknown): void;
  drop(path: readonly string[]): void;
}

/** Edits what differs, key by key; a list counts as one value. */
function apply(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  path: readonly string[],
  edit: Edit,
): void {
  for (const key of Object.keys(before))
    if (!(key in after) && !(path.length === 0 && key === "config_version")) edit.drop([...path, key]);
  for (const [key, value] of Object.entries(after)) {
    const old = before[key];
    if (isRecord(old) && isRecord(value)) apply(old, value, [...path, key], edit);
    else if (JSON.stringify(old) !== JSON.stringify(value)) edit.set([...path, key], value);
  }
}
