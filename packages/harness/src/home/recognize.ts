/**
 * Whether a `config.yaml` that merely stands in the working directory is ours. It is one of the commonest file names there
 * are: a site generator's or an editor plug-in's must neither be obeyed nor complained about. Pure.
 */

import { isRecord } from "@palimpsest/core/internal/text";
import { nearest } from "../nearest.ts";
import { shapeOf } from "./parse.ts";
import { readYaml } from "./read-yaml.ts";
import { configSchema } from "./schema.ts";

/** It states `config_version`, or more of its sections are ours than not. Of a broken file only the keys are looked at. */
export function isOurs(text: string): boolean {
  const read = readYaml(text);
  const root = read.kind === "value" ? read.value : undefined;
  if (read.kind === "value" && !isRecord(root)) return false;
  const entries: [string, unknown][] = isRecord(root) ? Object.entries(root) : brokenKeys(text);
  if (entries.some(([key, value]) => key === "config_version" && Number.isInteger(Number(value ?? 0)))) return true;
  const ours = entries.filter(([key, value]) => isSection(key, value)).length;
  const strange = entries.filter(([key]) => !KNOWN.includes(key) && nearest(key, KNOWN) === null).length;
  const mistaken = entries.filter(([key, value]) => KNOWN.includes(key) && value !== undefined && !fits(key, value));
  return ours > 0 && ours > strange && mistaken.length === 0;
}

const shapes = configSchema.shape as Readonly<Record<string, unknown>>;
const KNOWN = Object.keys(shapes);

/** A section with a key of ours in it; one word such as `log_level: info` is anybody's. */
function isSection(key: string, value: unknown): boolean {
  if (value === undefined) return membersOf(shapes[key]) !== null;
  const members = membersOf(shapes[key]);
  if (members === null) return false;
  const inner = Array.isArray(value) ? value[0] : value;
  return isRecord(inner) && Object.keys(inner).some((name) => members.includes(name));
}

/** As far as list and mapping go; what is wrong inside is for the check of the file. */
function fits(key: string, value: unknown): boolean {
  const members = membersOf(shapes[key]);
  if (members === null || value === null) return true;
  return Array.isArray(value) ? key === "models" : isRecord(value);
}

function membersOf(schema: unknown): readonly string[] | null {
  const shape = shapeOf(schema);
  return shape === null ? null : Object.keys(shape);
}

function brokenKeys(text: string): [string, undefined][] {
  return Array.from(text.matchAll(/^([A-Za-z_]\w*):/gm), ([, key]) => [key!, undefined]);
}
