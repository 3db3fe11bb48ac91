/**
 * Reads JSON as models write it: prose or fences around it, comments, trailing commas, raw line breaks in strings, single
 * quotes, an answer cut off in the middle. Of a cut-off value only what is complete is kept: an object that was not
 * closed is dropped from a list, so half an item never passes for a whole one. Linear, never throws.
 */

export type LenientJson =
  | { readonly kind: "value"; readonly value: unknown; readonly truncated: boolean }
  | { readonly kind: "none" };

/** The first object in the text that has any content, else the first that is empty. */
export function findObject(text: string): LenientJson {
  const all = findObjects(text);
  const object = all.find(({ value }) => Object.keys(value).length > 0) ?? all[0];
  return object === undefined ? { kind: "none" } : { kind: "value", ...object };
}

/** The objects in the text, one after another. Prose may hold stray braces; a handful of them is looked past. */
export function findObjects(text: string): { readonly value: object; readonly truncated: boolean }[] {
  const objects: { readonly value: object; readonly truncated: boolean }[] = [];
  let at = text.indexOf("{");
  for (let attempt = 0; attempt < 20 && at !== -1; attempt++) {
    const reader = { text, at, truncated: false, depth: 0 };
    const value = readValue(reader);
    if (value !== CUT && typeof value === "object" && value !== null)
      objects.push({ value, truncated: reader.truncated });
    at = text.indexOf("{", Math.max(reader.at, at + 1));
  }
  return objects;
}

interface JsonReader {
  readonly text: string;
  at: number;
  truncated: boolean;
  depth: number;
}

const CUT = Symbol("cut off or unreadable");
const MAX_DEPTH = 40;

function readValue(reader: JsonReader): unknown {
  skipBlank(reader);
  const char = reader.text[reader.at];
  if (char === undefined) return cut(reader);
  if (char === "{" || char === "[") {
    if (reader.depth >= MAX_DEPTH) return cut(reader);
    reader.depth++;
    const value = char === "{" ? readObject(reader) : readList(reader);
    reader.depth--;
    return value;
  }
  if (char === '"' || char === "'") return readString(reader, char);
  const word = /[^\s,:{}[\]"']+/y;
  word.lastIndex = reader.at;
  const match = word.exec(reader.text);
  if (match === null) return CUT;
  reader.at += match[0].length;
  if (reader.at >= reader.text.length) return cut(reader);
  const known = new Map<string, unknown>([
    ["true", true],
    ["false", false],
    ["null", null],
    ["None", null],
    ["True", true],
    ["False", false],
  ]);
  if (known.has(match[0])) return known.get(match[0]);
  const number = Number(match[0]);
  return Number.isNaN(number) ? CUT : number;
}

/** At the top level an unclosed object still counts for the members that were complete. */
function readObject(reader: JsonReader): unknown {
  const members: Record<string, unknown> = {};
  const outer = reader.depth <= 2;
  reader.at++;
  for (;;) {
    skipBlank(reader, ",");
    const char = reader.text[reader.at];
    if (char === "}") {
      reader.at++;
      return members;
    }
    if (char === undefined) return outer ? endOfText(reader, members) : cut(reader);
    const key = char === '"' || char === "'" ? readString(reader, char) : readBareKey(reader);
    skipBlank(reader);
    if (typeof key !== "string" || reader.text[reader.at] !== ":") return outer && reader.truncated ? members : CUT;
    reader.at++;
    const value = readValue(reader);
    if (value === CUT) return outer && reader.truncated ? members : CUT;
    Object.defineProperty(members, key, { value, enumerable: true, configurable: true, writable: true });
  }
}

function readList(reader: JsonReader): unknown {
  const list: unknown[] = [];
  reader.at++;
  for (;;) {
    skipBlank(reader, ",");
    const char = reader.text[reader.at];
    if (char === "]") {
      reader.at++;
      return list;
    }
    if (char === undefined) return endOfText(reader, list);
    const value = readValue(reader);
    if (value === CUT) return reader.truncated ? list : CUT;
    list.push(value);
  }
}

function readString(reader: JsonReader, quote: string): unknown {
  const pieces: string[] = [];
  let start = ++reader.at;
  for (; reader.at < reader.text.length; reader.at++) {
    const char = reader.text[reader.at]!;
    if (char === quote) {
      pieces.push(reader.text.slice(start, reader.at++));
      return pieces.join("");
    }
    if (char !== "\\") continue;
    pieces.push(reader.text.slice(start, reader.at));
    const escaped = reader.text[++reader.at] ?? "";
    if (escaped === "u" && /^[0-9a-fA-F]{4}$/.test(reader.text.slice(reader.at + 1, reader.at + 5))) {
      pieces.push(String.fromCharCode(Number.parseInt(reader.text.slice(reader.at + 1, reader.at + 5), 16)));
      reader.at += 4;
    } else pieces.push(ESCAPES[escaped] ?? escaped);
    start = reader.at + 1;
  }
  return cut(reader);
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

function readBareKey(reader: JsonReader): unknown {
  const key = /[A-Za-z_]\w*/y;
  key.lastIndex = reader.at;
  const match = key.exec(reader.text);
  if (match === null) return CUT;
  reader.at += match[0].length;
  return match[0];
}

function skipBlank(reader: JsonReader, also = ""): void {
  for (;;) {
    const char = reader.text[reader.at];
    if (char === undefined) return;
    if (/\s/.test(char) || char === also) reader.at++;
    else if (reader.text.startsWith("//", reader.at)) reader.at = endOr(reader, "\n", 0);
    else if (reader.text.startsWith("/*", reader.at)) reader.at = endOr(reader, "*/", 2);
    else return;
  }
}

function endOr(reader: JsonReader, mark: string, past: number): number {
  const end = reader.text.indexOf(mark, reader.at);
  return end === -1 ? reader.text.length : end + past;
}

function cut(reader: JsonReader): typeof CUT {
  reader.truncated = true;
  return CUT;
}

function endOfText<T>(reader: JsonReader, value: T): T {
  reader.truncated = true;
  return value;
}
