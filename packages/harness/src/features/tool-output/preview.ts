/**
 * A long output in short, by what it is: the shape and first items of JSON, header, rows and count of a table, the
 * outline of code, head and tail of everything else. Lines that say what failed are always in it, with their numbers
 * [F50]. Pure; never longer than asked for, by much.
 */
import { jsonOr } from "@palimpsest/core/internal/message";
import { clip, isFailingLine } from "@palimpsest/core/internal/text";

interface Preview {
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

function bodyOf({ kind, value, delimiter }: RecognizedOutput, lines: readonly string[], room: number): string {
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
function failures({ kind, value }: RecognizedOutput, lines: readonly string[], room: number): string {
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

/** What a long output is, by its text alone: how it is shown in short depends on it. Pure; looks at a sample of lines. */

export type OutputKind = "json" | "json-lines" | "csv" | "code" | "log" | "text";

interface RecognizedOutput {
  readonly kind: OutputKind;
  /** The parsed value of `json`. */
  readonly value?: unknown;
  /** What parts the columns of `csv`. */
  readonly delimiter?: string;
}

const SAMPLE = 200;

export function recognize(text: string): RecognizedOutput {
  const json = parsed(text);
  if (json !== undefined) return { kind: "json", value: json };
  const lines = sample(text);
  if (isJsonLines(lines)) return { kind: "json-lines" };
  const delimiter = delimiterOf(lines);
  if (delimiter !== null) return { kind: "csv", delimiter };
  if (isLog(lines)) return { kind: "log" };
  return { kind: isCode(lines) ? "code" : "text" };
}

function parsed(text: string): unknown {
  const first = /^\s*([[{])/.exec(text);
  return first === null || !/[\]}]\s*$/.test(text.slice(-100)) ? undefined : jsonOr(text, undefined);
}

/** The first lines, whole ones only. */
function sample(text: string): readonly string[] {
  const head = text.slice(0, SAMPLE * 200).split("\n", SAMPLE + 1);
  if (head.length > 1) head.pop();
  return head.filter((line) => line.trim() !== "");
}

function isJsonLines(lines: readonly string[]): boolean {
  return lines.length >= 2 && lines.slice(0, 5).every((line) => typeof parsed(line) === "object");
}

function delimiterOf(lines: readonly string[]): string | null {
  if (lines.length < 3) return null;
  for (const delimiter of [",", "\t", ";", "|"]) {
    const columns = lines.map((line) => columnsOf(line, delimiter).length);
    const [wanted = 0] = columns;
    const regular = columns.filter((count) => count === wanted).length;
    // Prose has commas too, but not the same number in every line.
    if (wanted >= 2 && regular >= columns.length * 0.95 && isHeader(columnsOf(lines[0]!, delimiter))) return delimiter;
  }
  return null;
}

function isHeader(names: readonly string[]): boolean {
  return names.every((name) => name.trim().length > 0 && name.length <= 60 && !/[.!?;{}()]\s*$/.test(name));
}

/** Quoted fields may hold the delimiter. */
function columnsOf(line: string, delimiter: string): string[] {
  if (!line.includes('"')) return line.split(delimiter);
  const columns: string[] = [""];
  let quoted = false;
  for (const char of line) {
    if (char === '"') quoted = !quoted;
    if (char === delimiter && !quoted) columns.push("");
    else columns[columns.length - 1] += char;
  }
  return columns;
}

const STAMPED =
  /^\W{0,2}(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\d{1,3}(?:\.\d{1,3}){3} |[A-Z][a-z]{2} [ \d]\d \d\d:\d\d|\d{10,13}\b)|^\W{0,2}(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b|\b(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b[\]:| ]/;
const REPORTED =
  /^\s*(?:✓|✔|✗|✖|ok \d|not ok \d|PASS|FAIL|npm (?:ERR!|warn|error)|\[\d+\/\d+\]|\S+:\d+:\d+:? (?:error|warning))/;

function isLog(lines: readonly string[]): boolean {
  const marked = lines.filter((line) => STAMPED.test(line.slice(0, 120)) || REPORTED.test(line.slice(0, 120))).length;
  return lines.length >= 3 && marked >= lines.length * 0.3;
}

function isCode(lines: readonly string[]): boolean {
  const defined = lines.filter((line) => definitionOf(line) !== null).length;
  const shaped = lines.filter((line) => /[{};]\s*$|^\s*(?:\/\/|\/?\*|#)|^\s+\S|:\s*$/.test(line)).length;
  return defined >= 2 && shaped >= lines.length * 0.4;
}

const DEFINITION =
  /^\s{0,8}(?:export |default |async |public |private |protected |static |abstract |final |pub(?:\([^)]{0,20}\))? |unsafe |inline |virtual |override )*(?:function\*?|class|interface|type|enum|struct|trait|impl|mod|module|namespace|def|fn|func|fun|sub|package|const|object|protocol|extension)\s+[\w$<(*].{0,200}$/;

/** A line that defines something others may use; shortened. */
function definitionOf(line: string): string | null {
  if (line.length > 400 || !DEFINITION.test(line)) return null;
  const declaration = line.replace(/(?<!\s)\s*(?:[{:=]\s*)?$/, "").trimEnd();
  return declaration.length <= 120 ? declaration : `${declaration.slice(0, 119)}…`;
}

/* A JSON value in short: what its keys hold, how long its lists are, and its first items. Pure; bounded by characters. */

function shapeOfJson(value: unknown, maxChars: number): string {
  const shape = clip(`JSON, shape: ${shapeOf(value, 0)}`, Math.floor(maxChars * 0.4));
  const first = firstItems(value, maxChars - shape.length - 40);
  return first === "" ? shape : `${shape}\n${first}`;
}

const MAX_DEPTH = 4;
const MAX_KEYS = 30;

function shapeOf(value: unknown, depth: number): string {
  if (value === null) return "null";
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return `[${value.length} × ${depth >= MAX_DEPTH ? "..." : shapeOf(value[0], depth + 1)}]`;
  }
  if (typeof value === "string") return value.length > 200 ? `string of ${value.length} characters` : "string";
  if (typeof value !== "object") return typeof value;
  const entries = Object.entries(value);
  if (depth >= MAX_DEPTH) return `{${entries.length} keys}`;
  const fields = entries.slice(0, MAX_KEYS).map(([key, inner]) => `${key}: ${shapeOf(inner, depth + 1)}`);
  const more = entries.length > MAX_KEYS ? [`... ${entries.length - MAX_KEYS} more keys`] : [];
  return `{ ${[...fields, ...more].join(", ")} }`;
}

function firstItems(value: unknown, room: number): string {
  if (typeof value !== "object" || value === null || room < 20) return "";
  const list = Array.isArray(value);
  const lines: string[] = [list ? "First items:" : "Values:"];
  let left = room - lines[0]!.length;
  for (const [key, inner] of Object.entries(value)) {
    const line = `${list ? "" : `${key}: `}${clip(JSON.stringify(shortened(inner)), 300)}`;
    left -= line.length + 1;
    if (left < 0) break;
    lines.push(line);
  }
  return lines.length === 1 ? "" : lines.join("\n");
}

/** Long strings and lists inside an item by their starts, so that the item's other keys show. */
function shortened(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return clip(value, 80);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= 3) return Array.isArray(value) ? `[${value.length} items]` : "{...}";
  if (Array.isArray(value)) {
    const items = value.slice(0, 2).map((item) => shortened(item, depth + 1));
    return value.length > 2 ? [...items, `... ${value.length - 2} more`] : items;
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_KEYS)
      .map(([key, inner]) => [key, shortened(inner, depth + 1)]),
  );
}
