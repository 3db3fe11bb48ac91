/**
 * Strings of a JSON value that stand word for word in a text kept beside it, replaced by where they stand there: a summary's
 * text and its state say much the same. `unquoted(quoting(value, text), text)` is the value, whatever both are. A
 * reference is spelled `@start+length`; a string that itself begins with `@` gets one more. The spelling belongs to the
 * log's format.
 */
import type { Json } from "./delta.ts";

/** Shorter ones cost less than a reference saves. */
const SHORTEST = 16;

export function quoting(value: Json, text: string): Json {
  return mapStrings(value, (string) => {
    const start = string.length < SHORTEST ? -1 : text.indexOf(string);
    if (start !== -1) return `@${start}+${string.length}`;
    return string.startsWith("@") ? `@${string}` : string;
  });
}

export function unquoted(value: Json, text: string): Json {
  return mapStrings(value, (string) => {
    if (!string.startsWith("@")) return string;
    if (string.startsWith("@@")) return string.slice(1);
    const [start, length] = string.slice(1).split("+").map(Number) as [number, number];
    return text.slice(start, start + length);
  });
}

function mapStrings(value: Json, map: (string: string) => string): Json {
  if (typeof value === "string") return map(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((one) => mapStrings(one, map));
  return Object.fromEntries(Object.entries(value).map(([field, one]) => [field, mapStrings(one, map)]));
}
