/**
 * Reduces a tool's input or output to what tells most in few lines: how it begins and ends, every kind of failing line,
 * and the names in between. Never longer than the original.
 */

import { clip } from "../../text/clip.ts";
import { failingLines, linesOf } from "../../text/failing-lines.ts";
import { namesIn } from "../../text/names.ts";

const EDGE_LINES = 3;
const LINE_CHARS = 200;
const FAILING = 8;
const NAMES = 20;

export function digest(text: string): string {
  const lines = [...linesOf(text)].filter((line) => line.trim() !== "");
  const head = lines.slice(0, EDGE_LINES).map((line) => clip(line, LINE_CHARS));
  const tail = lines.slice(Math.max(EDGE_LINES, lines.length - EDGE_LINES)).map((line) => clip(line, LINE_CHARS));
  const excerpt = [...head, ...tail].join("\n");
  const failing = failingLines(text, FAILING).filter((line) => !excerpt.includes(line));
  const names = frequentNames(text).filter(
    (name) => !excerpt.includes(name) && !failing.some((line) => line.includes(name)),
  );
  const note = `(digest of ${lines.length} lines, ${text.length} characters${names.length === 0 ? "" : `; names: ${names.join(", ")}`})`;
  const reduced = [...head, note, ...failing, ...tail].join("\n");
  return reduced.length < text.length ? reduced : text;
}

/** The names that occur most, in order of first occurrence. */
function frequentNames(text: string): string[] {
  const counts = new Map<string, number>();
  for (const { text: name } of namesIn(text)) if (name.length <= 80) counts.set(name, (counts.get(name) ?? 0) + 1);
  const chosen = new Set(
    [...counts]
      .sort((a, b) => b[1] - a[1])
      .slice(0, NAMES)
      .map(([name]) => name),
  );
  return [...counts.keys()].filter((name) => chosen.has(name));
}
