/**
 * JSON from a request's bytes. A long text is parsed in slices, so that others get their turn in between; what
 * comes out is what `JSON.parse` gives.
 */
import { jsonOr } from "@palimpsest/core/internal/message";
import { isRecord } from "@palimpsest/core/internal/text";
import { inTurns } from "palimpsest/internal/threads";

/** Bytes up to which a text is parsed at once. */
export const AT_ONCE = 2 * 1024 * 1024;

/** Throws a `SyntaxError` for what is no JSON. */
export async function parseJson(bytes: Buffer): Promise<unknown> {
  return bytes.length <= AT_ONCE ? JSON.parse(bytes.toString()) : inTurns(parseSteps(bytes));
}

/** A name that stands twice in one object, at any depth and however it is spelled; null: none does. Expects an object's JSON. */
export function repeatedName(bytes: Buffer): Promise<string | null> {
  return inTurns(repeatedSteps(bytes));
}

export const QUOTE = 0x22;
export const COMMA = 0x2c;
const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/** Bytes that are looked at or parsed in one step. */
export const STEP = 256 * 1024;

function* repeatedSteps(bytes: Buffer): Generator<void, string | null> {
  const open: (Set<string> | null)[] = []; // the names of each open object; null for a list
  let isName = false;
  let pause = STEP;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = stringEnd(bytes, at);
      const names = isName ? open.at(-1) : null;
      if (names != null) {
        const name: string = JSON.parse(bytes.toString("utf8", at, end));
        if (names.size === names.add(name).size) return name;
        isName = false;
      }
      at = end - 1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) open.push(byte === OPEN_BRACE ? new Set() : null);
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) open.pop();
    if (byte === OPEN_BRACE || byte === COMMA) isName = true;
    if (at < pause) continue;
    pause = at + STEP;
    yield;
  }
  return null;
}

/** Exported for its test. */
export function* parseSteps(bytes: Buffer, step = STEP): Generator<void, unknown> {
  const reader = new SliceReader(bytes, step);
  const value = yield* reader.value();
  reader.end();
  return value;
}

/** Reads a value that is longer than a step member by member; as many members at a time as a step holds. */
class SliceReader {
  readonly #bytes: Buffer;
  readonly #step: number;
  #at = 0;

  constructor(bytes: Buffer, step: number) {
    this.#bytes = bytes;
    this.#step = step;
  }

  *value(): Generator<void, unknown> {
    this.#space();
    yield;
    const first = this.#bytes[this.#at];
    if (first === OPEN_BRACKET) return yield* this.#list();
    if (first === OPEN_BRACE) return yield* this.#object();
    if (first === QUOTE) return yield* this.#string();
    const start = this.#at;
    this.#at = scalarEnd(this.#bytes, start);
    return this.#parse("", start, this.#at, "");
  }

  *#string(): Generator<void, string> {
    let text = "";
    for (let from = this.#at + 1; ; ) {
      const end = pieceEnd(this.#bytes, from, this.#step);
      text += String(this.#parse('"', from, end, '"'));
      this.#at = end + 1;
      if (end >= this.#bytes.length) throw new SyntaxError("Unexpected end of JSON input");
      if (this.#bytes[end] === QUOTE) return text;
      from = end;
      yield;
    }
  }

  end(): void {
    this.#space();
    if (this.#at < this.#bytes.length) throw this.#unexpected();
  }

  *#list(): Generator<void, unknown[]> {
    const list: unknown[] = [];
    this.#at += 1;
    if (this.#isNext(CLOSE_BRACKET)) return list;
    for (;;) {
      const end = this.#membersEnd(CLOSE_BRACKET);
      if (end === null) list.push(yield* this.value());
      else {
        const items = listIn(this.#parse("[", this.#at, end, "]"));
        // A comma stands before each member but the first.
        if (items.length === 0) throw this.#unexpected();
        for (const item of items) list.push(item);
        this.#at = end;
        yield;
      }
      if (this.#isNext(CLOSE_BRACKET)) return list;
      if (!this.#isNext(COMMA)) throw this.#unexpected();
    }
  }

  *#object(): Generator<void, Record<string, unknown>> {
    const object: Record<string, unknown> = {};
    const set = (name: string, value: unknown): void => {
      // An assignment to `__proto__` would be something else.
      Object.defineProperty(object, name, { value, configurable: true, enumerable: true, writable: true });
    };
    this.#at += 1;
    if (this.#isNext(CLOSE_BRACE)) return object;
    for (;;) {
      const end = this.#membersEnd(CLOSE_BRACE);
      if (end === null) {
        const name = this.#name();
        set(name, yield* this.value());
      } else {
        const members = Object.entries(objectOf(this.#parse("{", this.#at, end, "}")) ?? {});
        if (members.length === 0) throw this.#unexpected();
        for (const [name, value] of members) set(name, value);
        this.#at = end;
        yield;
      }
      if (this.#isNext(CLOSE_BRACE)) return object;
      if (!this.#isNext(COMMA)) throw this.#unexpected();
    }
  }

  #name(): string {
    this.#space();
    const start = this.#at;
    if (this.#bytes[start] !== QUOTE) throw this.#unexpected();
    this.#at = stringEnd(this.#bytes, start);
    const name = String(this.#parse("", start, this.#at, ""));
    if (!this.#isNext(COLON)) throw this.#unexpected();
    return name;
  }

  /** Behind the last of the next members that fit into a step; null: not even one does. */
  #membersEnd(close: number): number | null {
    let depth = 0;
    let end: number | null = null;
    const last = this.#at + this.#step;
    for (let at = this.#at; at < this.#bytes.length; at += 1) {
      const byte = this.#bytes[at];
      if (depth === 0 && (byte === COMMA || byte === close)) {
        end = at;
        if (byte === close) return end;
      }
      if (at > last) return end;
      if (byte === QUOTE) {
        at = pieceEnd(this.#bytes, at + 1, last - at);
        if (at < this.#bytes.length && this.#bytes[at] !== QUOTE) return end;
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
    }
    throw new SyntaxError("Unexpected end of JSON input");
  }

  #parse(before: string, start: number, end: number, after: string): unknown {
    return JSON.parse(before + this.#bytes.toString("utf8", start, end) + after);
  }

  #isNext(byte: number): boolean {
    this.#space();
    if (this.#bytes[this.#at] !== byte) return false;
    this.#at += 1;
    return true;
  }

  #space(): void {
    this.#at = pastSpace(this.#bytes, this.#at);
  }

  #unexpected(): SyntaxError {
    return new SyntaxError(`Unexpected token in JSON at byte ${this.#at}`);
  }
}

function scalarEnd(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && !SCALAR_ENDS.has(bytes[at]!)) at += 1;
  return at;
}

const SCALAR_ENDS: ReadonlySet<number> = new Set([COMMA, CLOSE_BRACE, CLOSE_BRACKET, 0x20, 0x0a, 0x0d, 0x09]);

/*
 * A JSON object as bytes: where its fields stand, and the same bytes with some fields' values replaced. What isn't
 * replaced is not written anew, so that a provider's prompt cache finds it again. Expects bytes that `JSON.parse` has taken.
 */

export interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

/** The values of the object's own fields; of a name that stands twice the last one, as `JSON.parse` has it. */
export function fieldSpans(bytes: Buffer): Map<string, ByteSpan> {
  return new Map(fieldsIn(bytes).map(({ name, start, end }) => [name, { start, end }]));
}

/** The object's own fields, each as often as it stands; null: the bytes are no object from end to end. */
export function wholeFields(bytes: Buffer): readonly FieldSpan[] | null {
  const fields = fieldsIn(bytes);
  const first = pastSpace(bytes, 0);
  const last = pastSpace(bytes, fields.at(-1)?.end ?? first + 1);
  const isWhole =
    bytes[first] === OPEN_BRACE && bytes[last] === CLOSE_BRACE && pastSpace(bytes, last + 1) === bytes.length;
  return isWhole ? fields : null;
}

/** The same bytes without these fields, each as often as it stands. */
export function withoutFields(bytes: Buffer, names: readonly string[]): Buffer {
  const fields = names.length === 0 ? [] : fieldsIn(bytes);
  const isKept = ({ name }: FieldSpan) => !names.includes(name);
  if (fields.every(isKept)) return bytes;
  const kept = fields.filter(isKept).flatMap(({ from, end }, index) => {
    const piece = bytes.subarray(from, end);
    return index === 0 ? [piece] : [Buffer.from(","), piece];
  });
  return Buffer.concat([Buffer.from("{"), ...kept, Buffer.from("}")]);
}

interface FieldSpan extends ByteSpan {
  readonly name: string;
  /** Where the name stands. */
  readonly from: number;
}

function fieldsIn(bytes: Buffer): FieldSpan[] {
  const fields: FieldSpan[] = [];
  let at = pastSpace(bytes, 0) + 1;
  for (;;) {
    at = pastSpace(bytes, at);
    if (bytes[at] !== QUOTE) return fields;
    const from = at;
    const nameEnd = stringEnd(bytes, at);
    const name: string = JSON.parse(bytes.toString("utf8", at, nameEnd));
    const start = pastSpace(bytes, pastSpace(bytes, nameEnd) + 1);
    const end = valueEnd(bytes, start);
    fields.push({ name, from, start, end });
    at = pastSpace(bytes, end);
    if (bytes[at] === COMMA) at += 1;
  }
}

export interface Replacement extends ByteSpan {
  readonly text: string;
}

export function spliced(bytes: Buffer, replacements: readonly Replacement[]): Buffer {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const { start, end, text } of replacements.toSorted((a, b) => a.start - b.start)) {
    pieces.push(bytes.subarray(from, start), Buffer.from(text));
    from = end;
  }
  return Buffer.concat([...pieces, bytes.subarray(from)]);
}

export function pastSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at += 1;
  return at;
}

/** `at`: its first quote. */
export function stringEnd(bytes: Buffer, at: number): number {
  const quote = bytes.indexOf(QUOTE, at + 1);
  if (quote === -1) return bytes.length;
  let slashes = 0;
  while (bytes[quote - 1 - slashes] === BACKSLASH) slashes += 1;
  // By hand from there: a call of `indexOf` for each of millions of escaped quotes would take a second.
  return slashes % 2 === 0 ? quote + 1 : Math.min(pieceEnd(bytes, quote + 1, bytes.length) + 1, bytes.length);
}

/** Where a piece of a string of about so many bytes ends: at the string's quote, or between two characters. */
function pieceEnd(bytes: Buffer, from: number, count: number): number {
  let at = from;
  for (; at < bytes.length && (at - from < count || (bytes[at]! & 0xc0) === 0x80); at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at += bytes[at + 1] === LETTER_U ? 5 : 1;
  }
  return Math.min(at, bytes.length);
}

export function valueEnd(bytes: Buffer, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return stringEnd(bytes, start);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return scalarEnd(bytes, start);
  let depth = 0;
  for (let at = start; at < bytes.length; ) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = stringEnd(bytes, at);
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
    at += 1;
    if (depth === 0) return at;
  }
  return bytes.length;
}

/* The fields of a body that was parsed. */

export type JsonFields = Readonly<Record<string, unknown>>;

/** The parameter that a refusal is about, where it says so. */
export function paramIn(details: unknown): string | null {
  const { param } = fieldsOf(details);
  return typeof param === "string" ? param : null;
}

/** The fields of a JSON value; none if it is not an object. What a field holds is checked where it is read. */
export function fieldsOf(value: unknown): JsonFields {
  return isRecord(value) ? value : {};
}

/** The object in a field; null if there is none. */
export function objectOf(value: unknown): JsonFields | null {
  return isRecord(value) ? value : null;
}

/** The fields of a JSON text; null if it is not a JSON object. */
export function parseFields(text: string): JsonFields | null {
  return objectOf(jsonOr(text, null));
}

export function numberIn(...values: readonly unknown[]): number | null {
  const value = values.find((one) => typeof one === "number");
  return typeof value === "number" ? value : null;
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
