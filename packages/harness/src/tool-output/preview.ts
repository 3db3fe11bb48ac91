/**
 * A long output in short, by what it is: the shape and first items of JSON, header, rows and count of a table, the
 * outline of code, head and tail of everything else. Lines that say what failed are always in it, with their numbers
 * [F50]. Pure; never longer than asked for, by much.
 */
import { isFailingLine } from "@palimpsest/core/internal/text";
import { shapeOfJson } from "./json-shape.ts";
import { columnsOf, definitionOf, type OutputKind, type Recognized, recognize } from "./output-kind.ts";

export interface Preview {
  readonly kind: OutputKind;
  readonly text: string;
  readonly lines: number;
}

/** `maxChars` bounds the text; about half of it is kept for failing lines. */
export function preview(text: string, { maxChars }: { readonly maxChars: number }): Preview {
  const recognized = recognize(text);
  const lines = text.endsWith("\n") ? text.slice(0, -1).split("\n") : text.split("\n");
  const failing = failures(recognized, lines, Math.floor(maxChars / 2));
  const body = bodyOf(recognized, lines, maxChars - failing.length);
  return {
    kind: recognized.kind,
    text: [body, failing].filter((part) => part !== "").join("\n\n"),
    lines: lines.length,
  };
}

function bodyOf({ kind, value, delimiter }: Recognized, lines: readonly string[], room: number): string {
  switch (kind) {
    case "json":
      return shapeOfJson(value, room);
    case "json-lines":
      return jsonLines(lines, room);
    case "csv":
      return table(lines, delimiter!, room);
    case "code":
      return outline(lines, room);
    case "log":
    case "text":
      return headAndTail(lines, room);
  }
}

function jsonLines(lines: readonly string[], room: number): string {
  const shape = shapeOfJson(JSON.parse(lines[0]!), Math.floor(room / 2));
  return `${lines.length} lines of JSON. The first one:\n${shape}\n\n${headAndTail(lines, Math.floor(room / 2))}`;
}

function table(lines: readonly string[], delimiter: string, room: number): string {
  const [header = "", ...rows] = lines;
  const columns = columnsOf(header, delimiter).length;
  const last = rows.at(-1) ?? "";
  const fit = fitting(rows.slice(0, -1), room - header.length - shortLine(last).length - 120);
  const left = rows.length - fit.length - 1;
  return [
    `A table of ${rows.length} rows and ${columns} columns. Header and rows:`,
    shortLine(header),
    ...fit,
    ...(left > 0 ? [`... ${left} rows ...`] : []),
    shortLine(last),
  ].join("\n");
}

function outline(lines: readonly string[], room: number): string {
  const defined = lines.flatMap((line, index) => {
    const definition = definitionOf(line);
    return definition === null ? [] : [`${index + 1}: ${definition}`];
  });
  const fit = fitting(defined, Math.floor(room * 0.7));
  const more = defined.length - fit.length;
  const head = fitting(lines, Math.floor(room * 0.3) - 100);
  return [
    "Code. It begins:",
    ...head,
    `\nOutline (line: definition)${more > 0 ? `, the first ${fit.length} of ${defined.length}` : ""}:`,
    ...fit,
  ].join("\n");
}

function headAndTail(lines: readonly string[], room: number): string {
  const half = Math.floor((room - 60) / 2);
  const head = fitting(lines, half);
  const tail = fitting(lines.slice(head.length).toReversed(), half).toReversed();
  const left = lines.length - head.length - tail.length;
  const first = lines.length - tail.length + 1;
  return [...head, ...(left > 0 ? [`... ${left} lines, then from line ${first} on ...`] : []), ...tail].join("\n");
}

/** Level words that stand alone in logs; in prose and code they are seldom in capitals. */
const LEVEL = /\b(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC)\b/;

/** The failing lines with their numbers: the first ones, and the last, as many as fit. */
function failures({ kind, value }: Recognized, lines: readonly string[], room: number): string {
  const failingLines = kind === "json" ? failingLeaves(value) : numbered(lines, kind);
  const distinct = [...new Map(failingLines.map((one) => [one.text, one])).values()];
  if (distinct.length === 0) return "";
  const all = distinct.map(({ where, text }) => `${where}: ${shortLine(text)}`);
  const last = all.at(-1)!;
  const fit = fitting(all.slice(0, -1), room - last.length - 80);
  const left = all.length - fit.length - 1;
  const title = `Failing lines (${failingLines.length})${left > 0 ? `, ${left} not shown: search for them with grep` : ""}:`;
  return [title, ...fit, last].join("\n");
}

interface Failing {
  readonly where: string;
  readonly text: string;
}

function numbered(lines: readonly string[], kind: OutputKind): Failing[] {
  return lines.flatMap((line, index) => {
    const head = line.slice(0, 600);
    const failing = isFailingLine(head) || (kind !== "code" && LEVEL.test(head));
    return failing ? [{ where: `line ${index + 1}`, text: line.trim() }] : [];
  });
}

/** Tools put whole logs into a field: look into every string. */
function failingLeaves(value: unknown): Failing[] {
  const failingLines: Failing[] = [];
  const waiting: { value: unknown; where: string }[] = [{ value, where: "$" }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value: one, where } = next;
    if (typeof one === "string")
      failingLines.push(...numbered(one.split("\n"), "log").map(({ text }) => ({ where, text })));
    else if (Array.isArray(one))
      for (let i = one.length - 1; i >= 0; i--) waiting.push({ value: one[i], where: `${where}[${i}]` });
    else if (typeof one === "object" && one !== null) {
      for (const [key, inner] of Object.entries(one).toReversed())
        waiting.push({ value: inner, where: `${where}.${key}` });
    }
  }
  return failingLines;
}

const MAX_LINE = 300;

function shortLine(line: string): string {
  const content = line.endsWith("\r") ? line.slice(0, -1) : line;
  return content.length <= MAX_LINE ? content : `${content.slice(0, MAX_LINE)}… [${content.length} characters]`;
}

/** The first lines that fit, each clipped. */
function fitting(lines: readonly string[], room: number): string[] {
  const rows: string[] = [];
  let left = room;
  for (const line of lines) {
    const clipped = shortLine(line);
    left -= clipped.length + 1;
    if (left < 0) break;
    rows.push(clipped);
  }
  return rows;
}
