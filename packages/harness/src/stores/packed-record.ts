/**
 * A record in fewer bytes, and the very same record again: what is hashed is its text, so each character comes back. A
 * header is a shape that many share (its names, the dialect, the model) and its own values; hashes are bytes; a short
 * message stands without the JSON around its words, a long body is compressed; a usage record leans on the answer it
 * reports on, which stands just before it. Pure; what doesn't fit stays text. Bodies of megabytes are compressed and read in
 * the system's threads, so that no write waits for it.
 */
import { hash as digest } from "node:crypto";
import { promisify } from "node:util";
import { inflateRaw, inflateRawSync } from "node:zlib";
import { type ChainedRecord, link } from "@palimpsest/core/internal/log";

/** What a row holds. `header` is empty where `shape` and the values in `packed` say it. */
export interface PackedRecord {
  readonly header: string;
  readonly shape: string | null;
  readonly body: string | null;
  readonly packed: Uint8Array;
  readonly zipped: Uint8Array | null;
}

/**
 * As it is read. Where the body isn't asked for, `short` is what there is of a short one. `before`: the packed bytes of the
 * record that it leans on. `prompt`: the hash that it has only the beginning of.
 */
export type PackedRow = Pick<PackedRecord, "header" | "shape" | "packed"> &
  Partial<PackedRecord> & {
    readonly short?: string | null;
    readonly before?: Uint8Array | null;
    readonly prompt?: Uint8Array | null;
  };

type PackedText = Pick<ChainedRecord, "header" | "body" | "bodyHash" | "hash">;

/** Without its body where that wasn't read. A damaged row gives a text that no hash fits, so that a log is read to its end. */
export function unpackRecord(row: PackedRow, seq: number): PackedText {
  try {
    return unpack(row, seq);
  } catch {
    return { header: "", body: row.body ?? null, bodyHash: null, hash: "" };
  }
}

function unpack(row: PackedRow, seq: number): PackedText {
  const packed = bufferOf(row.packed);
  const form = packed[0]!;
  const before = form < LEANS ? null : bufferOf(row.before!);
  const header =
    row.header === "" && row.shape !== null
      ? unpackHeader(row.shape, { packed, at: hashPlaces(form)[1], before, prompt: promptOf(row, form) }, seq)
      : row.header;
  return new UnpackedText(row, { packed, before, header });
}

/** Its hashes are worked out when they are asked for. */
class UnpackedText implements PackedText {
  readonly header: string;
  readonly body: string | null;
  readonly #row: PackedRow;
  readonly #packed: Buffer;
  readonly #before: Buffer | null;
  #bodyHash: string | null | undefined;
  #hash: string | undefined;

  constructor(
    row: PackedRow,
    { packed, before, header }: Pick<Values, "packed" | "before"> & Pick<PackedText, "header">,
  ) {
    this.header = header;
    this.body = unpackBody(row, packed[0]! % NAMES_PROMPT);
    this.#row = row;
    this.#packed = packed;
    this.#before = before;
  }

  get bodyHash(): string | null {
    const form = this.#packed[0]!;
    this.#bodyHash ??= unpackBodyHash(
      this.#row,
      form % NAMES_PROMPT,
      this.#packed.toString("hex", ...hashPlaces(form)),
    );
    return this.#bodyHash;
  }

  get hash(): string {
    const [start] = hashPlaces(this.#packed[0]!);
    this.#hash ??= unpackHash(this.#packed.toString("hex", 1, start), this.#before, this.header, this.bodyHash);
    return this.#hash;
  }
}

// Kinds

/** The kinds of nearly all records are a letter in their rows. */
const LETTERS: Readonly<Record<string, string>> = { message: "m", usage: "u" };

export function letterOf(kind: ChainedRecord["kind"]): string {
  return LETTERS[kind] ?? kind;
}

export function kindOf(name: string): ChainedRecord["kind"] {
  return (name === "m" ? "message" : name === "u" ? "usage" : name) as ChainedRecord["kind"];
}

// Hashes

/** Of a hash that follows from what is there only so many bytes are kept, to tell whether it still does. */
const CHECK = 4;
/** Added to the form of a record that leans on the one before it. */
export const LEANS = 128;
/** Added to the form of one that also names its prompt by the beginning of a hash which the thread keeps. */
export const NAMES_PROMPT = 64;
export const PROMPT_BYTES = 6;

function promptOf({ packed, prompt }: PackedRow, form: number): string {
  if (form < LEANS + NAMES_PROMPT) return "";
  const [hash, known] = [bufferOf(prompt!).toString("hex"), bufferOf(packed.subarray(-PROMPT_BYTES)).toString("hex")];
  if (!hash.startsWith(known)) throw new SyntaxError("the hash of a prompt that a record names is not there");
  return hash;
}

/** Where in the packed bytes the body's hash begins, and where it ends. */
export function hashPlaces(form: number): readonly [start: number, end: number] {
  const start = 1 + (form < LEANS ? 32 : CHECK);
  return [start, start + bodyHashBytes(form % NAMES_PROMPT)];
}

/** A changed record doesn't give it: then the bytes that are known stand alone, and fit nothing. */
function unpackHash(known: string, before: Uint8Array | null, header: string, bodyHash: string | null): string {
  if (before === null) return known;
  const found = link(ownHash(before), header, bodyHash, sha256);
  return found.startsWith(known) ? found : known;
}

export function ownHash(packed: Uint8Array): string {
  return bufferOf(packed).toString("hex", 1, 33);
}

export function sha256(text: string): string {
  return digest("sha256", text, "hex");
}

// Bodies

export const [NO_BODY, LONG, ZIPPED, FIRST_SHORT] = [0, 1, 2, 3] as const;
/** What stands around the words of a short body. Their numbers never change, so new ones are added at the end. */
export const ENVELOPES: readonly (readonly [before: string, after: string])[] = [
  ["", ""],
  ['{"role":"user","content":"', '"}'],
  ['{"role":"assistant","content":"', '"}'],
  ['{"role":"user","content":[{"type":"text","text":"', '"}]}'],
  ['{"role":"assistant","content":[{"type":"text","text":"', '"}]}'],
];
/** Bytes, inside its envelope. */
export const SHORT_BODY = 1024;
const unzip = promisify(inflateRaw);
export const CHUNK = 1 << 20;
/** Compressed bytes from which on a body is read in another thread: so few may be of 30 MB. */
const LONG_ZIPPED = 32_768;

export function isLongZipped(zipped: unknown): zipped is Uint8Array {
  return zipped instanceof Uint8Array && zipped.length >= LONG_ZIPPED;
}

/** Null: it is damaged. */
export async function unzipLong(zipped: Uint8Array): Promise<string | null> {
  const bytes = await unzip(zipped, { chunkSize: CHUNK }).catch(() => null);
  return bytes === null ? null : bytes.toString("utf8");
}

/** Of a short body only the first bytes of its hash are kept: the rest follows from it, and the record's own hash holds all of it. */
function bodyHashBytes(form: number): number {
  return form === NO_BODY ? 0 : form < FIRST_SHORT ? 32 : CHECK;
}

function unpackBody({ body = null, zipped = null }: PackedRow, form: number): string | null {
  if (zipped !== null) return inflateRawSync(zipped).toString("utf8");
  return body === null ? null : inEnvelope(body, form);
}

function inEnvelope(words: string, form: number): string {
  const [before, after] = ENVELOPES[form - FIRST_SHORT] ?? ["", ""];
  return before + words + after;
}

/** A changed body doesn't give it: then the bytes that are known stand alone, and fit nothing. */
function unpackBodyHash({ body, short }: PackedRow, form: number, known: string): string | null {
  if (form === NO_BODY) return null;
  if (form < FIRST_SHORT) return known;
  const words = body ?? short ?? null;
  const found = words === null ? "" : sha256(inEnvelope(words, form));
  return found.startsWith(known) ? found : known;
}

// Headers

/** Stands in a shape where a value was. */
export const HOLE = "\u0001";
/** The same, for the record's own number, which the row says. */
export const OWN_SEQ = "\u0002";
/** The one before that: a usage record is of the answer just before it. */
export const SEQ_BEFORE = "\u0003";
function unpackHeader(shape: string, values: Values, seq: number): string {
  let text = "";
  let { at } = values;
  for (const piece of piecesOf(shape)) {
    if (piece === HOLE) {
      const [value, next] = readValue(values, at);
      text += value;
      at = next;
    } else if (piece === OWN_SEQ) text += seq;
    else if (piece === SEQ_BEFORE) text += seq - 1;
    else text += piece;
  }
  return text;
}

/** What stands in a shape, its marks each by itself. The few shapes of a log are taken apart once. */
function piecesOf(shape: string): readonly string[] {
  const known = pieces.get(shape);
  if (known !== undefined) return known;
  const taken = shape.split(MARKS);
  if (pieces.size >= MOST_TAKEN_APART) pieces.clear();
  pieces.set(shape, taken);
  return taken;
}

const pieces = new Map<string, readonly string[]>();
const MOST_TAKEN_APART = 256;
const MARKS = new RegExp(`([${HOLE}${OWN_SEQ}${SEQ_BEFORE}])`);

// The values of a header: one byte says what follows; a small number is that byte itself. Times, ids and hashes are bytes; what
// a record shares with the one that it leans on is pointed at.

/** Where the values of a record's header begin, and the packed bytes that they may point into. */
export interface Values {
  readonly packed: Buffer;
  readonly at: number;
  readonly before: Buffer | null;
  readonly prompt: string;
}

export const SMALLEST_TAG = 200;
export const [NULL, UINT16, UINT32, UINT48, FLOAT, TIME, UUID, DIGEST, QUOTED, RAW, SAME, PROMPT] = [
  200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210, 211,
] as const;

/** The text of the value at a place, and where the next one begins. */
export function readValue(values: Values, at: number): readonly [text: string, next: number] {
  const { packed, before } = values;
  const tag = packed[at]!;
  const start = at + 1;
  if (tag < SMALLEST_TAG) return [String(tag), start];
  switch (tag) {
    case NULL:
      return ["null", start];
    case UINT16:
      return [String(packed.readUInt16BE(start)), start + 2];
    case UINT32:
      return [String(packed.readUInt32BE(start)), start + 4];
    case UINT48:
      return [String(packed.readUIntBE(start, 6)), start + 6];
    case FLOAT:
      return [String(packed.readDoubleBE(start)), start + 8];
    case TIME:
      return [`"${new Date(packed.readUIntBE(start, 6)).toISOString()}"`, start + 6];
    case UUID:
      return [`"${uuidOf(packed.toString("hex", start, start + 16))}"`, start + 16];
    case DIGEST:
      return [`"${packed.toString("hex", start, start + 32)}"`, start + 32];
    case PROMPT:
      return [`"${values.prompt}"`, start];
    case SAME:
      return [readValue({ packed: before!, at: 0, before: null, prompt: "" }, packed[start]!)[0], start + 1];
    default:
      return spelledAt(packed, tag, start);
  }
}

function uuidOf(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function spelledAt(packed: Buffer, tag: number, start: number): readonly [text: string, next: number] {
  if (tag !== QUOTED && tag !== RAW) throw new SyntaxError(`a packed value begins with ${tag}, which says nothing`);
  const end = start + 4 + packed.readUInt32BE(start);
  const text = packed.toString("utf8", start + 4, end);
  return [tag === QUOTED ? `"${text}"` : text, end];
}

export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

export function isHash(text: string): boolean {
  return text.length === 64 && /^[0-9a-f]*$/.test(text);
}
