/** What a long output is, by its text alone: how it is shown in short depends on it. Pure; looks at a sample of lines. */

export type OutputKind = "json" | "json-lines" | "csv" | "code" | "log" | "text";

export interface Recognized {
  readonly kind: OutputKind;
  /** The parsed value of `json`. */
  readonly value?: unknown;
  /** What parts the columns of `csv`. */
  readonly delimiter?: string;
}

const SAMPLE = 200;

export function recognize(text: string): Recognized {
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
  if (first === null || !/[\]}]\s*$/.test(text.slice(-100))) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
export function columnsOf(line: string, delimiter: string): string[] {
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
export function definitionOf(line: string): string | null {
  if (line.length > 400 || !DEFINITION.test(line)) return null;
  const declaration = line.replace(/(?<!\s)\s*(?:[{:=]\s*)?$/, "").trimEnd();
  return declaration.length <= 120 ? declaration : `${declaration.slice(0, 119)}…`;
}
