/**
 * A JSON object as bytes: where its fields stand, and the same bytes with some fields' values replaced. What isn't
 * replaced is not written anew, so that a provider's prompt cache finds it again. Expects bytes that `JSON.parse` has taken.
 */

export interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

/** The values of the object's own fields; of a name that stands twice the last one, as `JSON.parse` has it. */
export function fieldSpans(bytes: Buffer): Map<string, ByteSpan> {
  return new Map(fieldsOf(bytes).map(({ name, start, end }) => [name, { start, end }]));
}

/** The names of the object's own fields, each as often as it stands; null: the bytes are no object from end to end. */
export function fieldNames(bytes: Buffer): string[] | null {
  const fields = fieldsOf(bytes);
  const first = pastSpace(bytes, 0);
  const last = pastSpace(bytes, fields.at(-1)?.end ?? first + 1);
  const isWhole = bytes[first] === 0x7b && bytes[last] === 0x7d && pastSpace(bytes, last + 1) === bytes.length;
  return isWhole ? fields.map(({ name }) => name) : null;
}

/** The same bytes without these fields, each as often as it stands. */
export function withoutFields(bytes: Buffer, names: readonly string[]): Buffer {
  const fields = names.length === 0 ? [] : fieldsOf(bytes);
  const isKept = ({ name }: Field) => !names.includes(name);
  if (fields.every(isKept)) return bytes;
  const kept = fields.filter(isKept).flatMap(({ from, end }, index) => {
    const piece = bytes.subarray(from, end);
    return index === 0 ? [piece] : [Buffer.from(","), piece];
  });
  return Buffer.concat([Buffer.from("{"), ...kept, Buffer.from("}")]);
}

interface Field extends ByteSpan {
  readonly name: string;
  /** Where the name stands. */
  readonly from: number;
}

function fieldsOf(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  let at = pastSpace(bytes, 0) + 1;
  for (;;) {
    at = pastSpace(bytes, at);
    if (bytes[at] !== QUOTE) return fields;
    const from = at;
    const nameEnd = stringEnd(bytes, at);
    const name = JSON.parse(bytes.toString("utf8", at, nameEnd)) as string;
    // Past the colon.
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

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

export function pastSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at += 1;
  return at;
}

/** `at`: its first quote. */
export function stringEnd(bytes: Buffer, at: number): number {
  for (let quote = bytes.indexOf(QUOTE, at + 1); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let slashes = 0;
    while (bytes[quote - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
  }
  return bytes.length;
}

export function valueEnd(bytes: Buffer, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return stringEnd(bytes, start);
  if (first !== 0x7b && first !== 0x5b) return scalarEnd(bytes, start);
  let depth = 0;
  for (let at = start; at < bytes.length; ) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = stringEnd(bytes, at);
      continue;
    }
    if (byte === 0x7b || byte === 0x5b) depth += 1;
    if (byte === 0x7d || byte === 0x5d) depth -= 1;
    at += 1;
    if (depth === 0) return at;
  }
  return bytes.length;
}

function scalarEnd(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== COMMA && bytes[at] !== 0x7d && bytes[at]! > 0x20) at += 1;
  return at;
}
