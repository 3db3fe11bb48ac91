/**
 * Cuts a file's bytes into JSON values while they come in: the lines of JSON lines, the elements of one array, or one
 * document. Holds one value at a time, so that a file may be as large as it likes. Says where bytes are not UTF-8 or not
 * JSON; a byte order mark at the start is skipped, nothing else is changed.
 */
import { isUtf8 } from "node:buffer";
import { errorText } from "@palimpsest/core/internal/text";
import type { Problem } from "./conversation.ts";

interface FileValue {
  readonly value: unknown;
  /** Its JSON text as it stands in the file. */
  readonly text: string;
  readonly place: string;
}

export type ValueCut = FileValue | { readonly problem: Problem };

export interface ValueSplitter {
  push(chunk: Buffer): readonly ValueCut[];
  /** What is left at the end of the file. */
  end(rest?: Rest): readonly ValueCut[];
}

/** `report`: nothing follows, so what isn't whole is named. `wait`: a last line that isn't whole is left for later. */
type Rest = "report" | "wait";

type Layout = "unknown" | "lines" | "array" | "document";

/** The most bytes of one line, element or document. */
export interface ValueLimit {
  readonly bytes: number;
  /** The setting that changes it; null: none does. */
  readonly setting: string | null;
}

/** No longer text can be held in one string. */
const LONGEST: ValueLimit = { bytes: 500 * 1024 * 1024, setting: null };

export function valueSplitter(most: ValueLimit = LONGEST): ValueSplitter {
  let layout: Layout = "unknown";
  let head = new SplitPieces(most);
  let splitter: ValueSplitter | null = null;
  const settle = (isWhole: boolean): readonly ValueCut[] => {
    const bytes = withoutByteOrderMark(head.joined());
    layout = layoutOf(bytes, isWhole && !head.isTooLong);
    // Too long to wait for more of it: it is refused as what it seems to be.
    if (layout === "unknown" && head.isTooLong) layout = bytes.includes(NEWLINE) ? layoutOf(bytes, true) : "lines";
    if (layout === "unknown") return [];
    splitter =
      layout === "array" ? new ArraySplitter(most) : layout === "lines" ? lineSplitter(most) : documentSplitter(most);
    head = new SplitPieces(most);
    return splitter.push(bytes);
  };
  return {
    push(chunk) {
      if (splitter !== null) return splitter.push(chunk);
      const isFirst = head.length === 0;
      head.add(chunk);
      // A first line can be long: it is looked at again only where a line has ended.
      return isFirst || head.isTooLong || chunk.includes(NEWLINE) ? settle(false) : [];
    },
    end(rest) {
      const cuts = splitter === null ? settle(true) : [];
      return splitter === null ? cuts : [...cuts, ...splitter.end(rest)];
    },
  };
}

/** JSON lines begin with a line that is JSON by itself; anything else that parses as a whole is one document. */
function layoutOf(bytes: Buffer, isWhole: boolean): Layout {
  const lines: (string | null)[] = [];
  for (let start = 0; start < bytes.length && lines.length < 2; ) {
    const newline = bytes.indexOf(NEWLINE, start);
    if (newline === -1 && !isWhole) {
      const text = lines.length === 0 ? bytes.toString("latin1", start, start + 200).trimStart() : "";
      return text.startsWith("[") ? "array" : "unknown";
    }
    const end = newline === -1 ? bytes.length : newline;
    const line = decoded(bytes.subarray(start, end));
    if (line !== "") lines.push(line);
    start = end + 1;
  }
  const [first, second] = lines;
  if (first === undefined) return isWhole ? "lines" : "unknown";
  if (first === null) return "lines";
  if (first.startsWith("[")) return "array";
  // One line is one value, whatever it holds: parsing it twice takes long where it is large.
  if (second === undefined && isWhole) return "lines";
  if (isJson(first)) return "lines";
  if (second === undefined) return "unknown";
  return second?.startsWith("{") === true && isJson(second) ? "lines" : "document";
}

function lineSplitter(most: ValueLimit): ValueSplitter {
  let line = new SplitPieces(most);
  let number = 0;
  const take = (): ValueCut[] => {
    number += 1;
    const place = `line ${number}`;
    if (line.isTooLong) return [{ problem: tooLong(place, most) }];
    const bytes = line.joined();
    const text = decoded(bytes);
    if (text === null) return [{ problem: notUtf8(place, firstBadByte(bytes)) }];
    return text === "" ? [] : [parsed(text, place)];
  };
  return {
    push(chunk) {
      const cuts: ValueCut[] = [];
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        line.add(chunk.subarray(start, end));
        cuts.push(...take());
        line = new SplitPieces(most);
        start = end + 1;
      }
      if (start < chunk.length) line.add(chunk.subarray(start));
      return cuts;
    },
    end(rest = "report") {
      if (line.length === 0) return [];
      const cuts = take();
      return rest === "wait" ? cuts.filter((cut) => !("problem" in cut)) : cuts;
    },
  };
}

/** Depth and strings are followed byte by byte; what an element is, `JSON.parse` says. */
class ArraySplitter implements ValueSplitter {
  readonly #most: ValueLimit;
  #element: SplitPieces;
  #state: "before" | "between" | "value" | "after" = "before";
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #count = 0;
  #separated = true;
  #line = 1;
  /** Offsets in the file: of the chunk, and of the line. */
  #offset = 0;
  #lineStart = 0;
  /** Where the element begins: in the chunk, and for people. */
  #from = 0;
  #fromLine = 1;
  #fromColumn = 0;
  readonly #problems: ValueCut[] = [];

  constructor(most: ValueLimit) {
    this.#most = most;
    this.#element = new SplitPieces(most);
  }

  push(chunk: Buffer): readonly ValueCut[] {
    const cuts: ValueCut[] = [];
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at]!;
      if (byte === NEWLINE) {
        this.#line += 1;
        this.#lineStart = this.#offset + at + 1;
      }
      if (this.#inString) this.#inside(byte);
      else if (this.#state !== "value") this.#outside(byte, at);
      else if (this.#endsValue(byte)) {
        this.#element.add(chunk.subarray(this.#from, at));
        cuts.push(this.#take());
        this.#separated = byte === COMMA;
        this.#state = byte === COMMA ? "between" : "after";
      }
    }
    if (this.#state === "value") this.#element.add(chunk.subarray(this.#from));
    this.#from = 0;
    this.#offset += chunk.length;
    return cuts;
  }

  end(rest: Rest = "report"): readonly ValueCut[] {
    if (rest === "wait") return [];
    if (this.#state !== "after")
      this.#complain(`it ends in the middle of message ${this.#count + 1}: is the file truncated?`);
    return this.#problems;
  }

  #inside(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.#inString = false;
  }

  #endsValue(byte: number): boolean {
    if (byte === QUOTE) this.#inString = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth += 1;
    else if (this.#depth === 0) return byte === COMMA || byte === CLOSE_BRACKET;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#depth -= 1;
    return false;
  }

  #outside(byte: number, at: number): void {
    if (isSpace(byte)) return;
    if (this.#state === "before") this.#state = "between";
    else if (this.#state === "after") this.#complain(`something follows the end of the list in line ${this.#line}`);
    else if (byte === CLOSE_BRACKET) {
      if (this.#separated && this.#count > 0) this.#complain("a comma stands before the end of the list");
      this.#state = "after";
    } else if (byte === COMMA) this.#complain(`two commas follow one another in line ${this.#line}`);
    else {
      this.#state = "value";
      this.#depth = byte === OPEN_BRACE || byte === OPEN_BRACKET ? 1 : 0;
      this.#inString = byte === QUOTE;
      this.#from = at;
      this.#fromLine = this.#line;
      this.#fromColumn = this.#offset + at - this.#lineStart;
    }
  }

  #take(): ValueCut {
    this.#count += 1;
    const place = `message ${this.#count}`;
    const element = this.#element;
    this.#element = new SplitPieces(this.#most);
    if (element.isTooLong) return { problem: tooLong(place, this.#most) };
    const bytes = element.joined();
    const text = decoded(bytes);
    return text === null ? { problem: badByteIn(bytes, this.#fromLine, this.#fromColumn) } : parsed(text, place);
  }

  #complain(message: string): void {
    if (this.#problems.length === 0)
      this.#problems.push({ problem: { place: "", message: `not valid JSON: ${message}` } });
  }
}

function documentSplitter(most: ValueLimit): ValueSplitter {
  const whole = new SplitPieces(most);
  return {
    push(chunk) {
      whole.add(chunk);
      return [];
    },
    end(rest = "report") {
      if (whole.isTooLong) return [{ problem: tooLong("", most) }];
      const bytes = whole.joined();
      const text = decoded(bytes);
      const cut = text === null ? { problem: badByteIn(bytes, 1, 0) } : parsed(text, "");
      return rest === "wait" && "problem" in cut ? [] : [cut];
    },
  };
}

/** Bytes that come in pieces and are joined once. What is beyond the limit is counted and not kept. */
class SplitPieces {
  length = 0;
  readonly #most: number;
  readonly #pieces: Buffer[] = [];

  constructor(most: ValueLimit) {
    this.#most = most.bytes;
  }

  get isTooLong(): boolean {
    return this.length > this.#most;
  }

  add(piece: Buffer): void {
    if (!this.isTooLong) this.#pieces.push(piece);
    this.length += piece.length;
  }

  joined(): Buffer {
    const [first] = this.#pieces;
    return this.#pieces.length === 1 ? first! : Buffer.concat(this.#pieces);
  }
}

const tooLong = (place: string, { bytes, setting }: ValueLimit): Problem => ({
  place,
  message: `it is one value of over ${Math.round(bytes / 2 ** 14) / 64} MB${setting === null ? "" : ` (${setting})`}, which is more than can be read at once: split it`,
});

const notUtf8 = (place: string, byte: number): Problem => ({
  place,
  message: `byte ${byte} is not UTF-8: save the file as UTF-8`,
});

/** By its line in the file. `column`: how much of its first line stands before these bytes. */
function badByteIn(bytes: Buffer, firstLine: number, column: number): Problem {
  let [line, start, before] = [firstLine, 0, column];
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    if (!isUtf8(bytes.subarray(start, end))) break;
    [line, start, before] = [line + 1, end + 1, 0];
  }
  return notUtf8(`line ${line}`, before + firstBadByte(bytes.subarray(start)));
}

function parsed(text: string, place: string): ValueCut {
  try {
    return { value: JSON.parse(text), text, place };
  } catch (error) {
    const detail = errorText(error).replaceAll(/\s+/g, " ").slice(0, 160);
    const truncated = /end of JSON input|Unterminated/.test(detail)
      ? "; it ends in the middle: is the file truncated?"
      : "";
    return { problem: { place, message: `not valid JSON: ${detail}${truncated}` } };
  }
}

function isJson(text: string): boolean {
  return !("problem" in parsed(text, ""));
}

/** Without the white space around it; null: not UTF-8. */
function decoded(bytes: Buffer): string | null {
  return isUtf8(bytes) ? bytes.toString("utf8").trim() : null;
}

/** Counted from 1: where the lenient decoder puts a replacement mark that the bytes themselves don't spell. */
function firstBadByte(bytes: Buffer): number {
  const text = bytes.toString("utf8");
  const mark = Buffer.from("\ufffd");
  let offset = 0;
  for (let from = 0; ; ) {
    const position = text.indexOf("\ufffd", from);
    if (position === -1) return offset + 1;
    offset += Buffer.byteLength(text.slice(from, position));
    if (!bytes.subarray(offset, offset + 3).equals(mark)) return offset + 1;
    offset += 3;
    from = position + 1;
  }
}

function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** The four characters JSON calls white space. */
const isSpace = (byte: number): boolean => byte === 0x20 || byte === NEWLINE || byte === 0x0d || byte === 0x09;

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
