/**
 * A record in fewer bytes, and the very same record again: what is hashed is its text, so each character comes back. A
 * header is a shape that many share (its names, the dialect, the model) and its own values; hashes are bytes; a short
 * message stands without the JSON around its words, a long body is compressed; a usage record leans on the answer it
 * reports on, which stands just before it. Pure; what doesn't fit stays text.
 */
import { hash as digest } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { link } from "@palimpsest/core/internal/log";
import type { ChainedRecord } from "@palimpsest/core/log";

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
 * record that it leans on.
 */
export type PackedRow = Pick<PackedRecord, "header" | "shape" | "packed"> &
  Partial<PackedRecord> & { readonly short?: string | null; readonly before?: Uint8Array | null };

type Text = Pick<ChainedRecord, "header" | "body" | "bodyHash" | "hash">;

/**
 * Null: its hashes are not SHA-256, and it is kept as text. `before`: the record just before it, if it is written with this one.
 */
export function packRecord(record: ChainedRecord, before: PackedRecord | null = null): PackedRecord | null {
  const { seq, kind, header, body, bodyHash, hash } = record;
  if (!isHash(hash) || (bodyHash !== null && !isHash(bodyHash))) return null;
  const isShaped = (kind === "message" || kind === "usage") && !UNSUITABLE.test(header);
  const lean = kind === "usage" && isShaped && before !== null && follows(record, before) ? before : null;
  const { shape, values } = isShaped ? packHeader(header, seq, lean) : { shape: null, values: NOTHING };
  const stored = packBody(kind, body, bodyHash);
  const form = lean === null ? stored.form : stored.form + LEANS;
  const [start, end] = hashPlaces(form);
  const packed = Buffer.allocUnsafe(end + values.length);
  packed[0] = form;
  packed.write(hash, 1, start - 1, "hex");
  if (bodyHash !== null) packed.write(bodyHash, start, end - start, "hex");
  packed.set(values, end);
  return {
    header: isShaped ? "" : header,
    shape,
    body: stored.body,
    packed,
    zipped: stored.zipped,
  };
}

/** Without its body where that wasn't read. A damaged row gives a text that no hash fits, so that a log is read to its end. */
export function unpackRecord(row: PackedRow, seq: number): Text {
  try {
    return unpack(row, seq);
  } catch {
    return { header: "", body: row.body ?? null, bodyHash: null, hash: "" };
  }
}

function unpack(row: PackedRow, seq: number): Text {
  const packed = bufferOf(row.packed);
  const form = packed[0]!;
  const before = form < LEANS ? null : bufferOf(row.before!);
  const [start, end] = hashPlaces(form);
  const header =
    row.header === "" && row.shape !== null ? unpackHeader(row.shape, { packed, at: end, before }, seq) : row.header;
  let bodyHash: string | null | undefined;
  let hash: string | undefined;
  return {
    header,
    body: unpackBody(row, form % LEANS),
    get bodyHash() {
      bodyHash ??= unpackBodyHash(row, form % LEANS, packed.toString("hex", start, end));
      return bodyHash;
    },
    get hash() {
      hash ??= unpackHash(packed.toString("hex", 1, start), before, header, this.bodyHash);
      return hash;
    },
  };
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function isHash(text: string): boolean {
  return text.length === 64 && /^[0-9a-f]*$/.test(text);
}

// Hashes

/** Of a hash that follows from what is there only so many bytes are kept, to tell whether it still does. */
const CHECK = 4;
/** Added to the form of a record that leans on the one before it. */
const LEANS = 128;

/** Where in the packed bytes the body's hash begins, and where it ends. */
function hashPlaces(form: number): readonly [start: number, end: number] {
  const start = 1 + (form < LEANS ? 32 : CHECK);
  return [start, start + bodyHashBytes(form % LEANS)];
}

/** Whether its hash can be worked out from the row of the one before it, which must stand by itself. */
function follows({ header, bodyHash, hash }: ChainedRecord, { packed }: PackedRecord): boolean {
  return packed[0]! < LEANS && link(ownHash(packed), header, bodyHash, sha256) === hash;
}

/** A changed record doesn't give it: then the bytes that are known stand alone, and fit nothing. */
function unpackHash(known: string, before: Uint8Array | null, header: string, bodyHash: string | null): string {
  if (before === null) return known;
  const found = link(ownHash(before), header, bodyHash, sha256);
  return found.startsWith(known) ? found : known;
}

function ownHash(packed: Uint8Array): string {
  return bufferOf(packed).toString("hex", 1, 33);
}

function sha256(text: string): string {
  return digest("sha256", text, "hex");
}

// Bodies

const [NO_BODY, LONG, ZIPPED, FIRST_SHORT] = [0, 1, 2, 3] as const;
/** What stands around the words of a short body. Their numbers are for ever, so new ones are added at the end. */
const ENVELOPES: readonly (readonly [before: string, after: string])[] = [
  ["", ""],
  ['{"role":"user","content":"', '"}'],
  ['{"role":"assistant","content":"', '"}'],
  ['{"role":"user","content":[{"type":"text","text":"', '"}]}'],
  ['{"role":"assistant","content":[{"type":"text","text":"', '"}]}'],
];
/** Bytes, inside its envelope. */
export const SHORT_BODY = 1024;
/**
 * Characters from which on a body is compressed. A message is read with many others whenever its thread is opened, so it
 * has to be worth it. Beyond the last, compressing would hold up everybody else for too long.
 */
const ZIPS = { message: 8192, other: 1024, last: 262_144 };

type StoredBody = Pick<PackedRecord, "body" | "zipped"> & { readonly form: number };

function packBody(kind: ChainedRecord["kind"], body: string | null, bodyHash: string | null): StoredBody {
  if (body === null || bodyHash === null) return { form: NO_BODY, body, zipped: null };
  if (body.length >= (kind === "message" ? ZIPS.message : ZIPS.other) && body.length <= ZIPS.last) {
    const zipped = deflateRawSync(body, { level: 1 });
    if (zipped.length < body.length * 0.8) return { form: ZIPPED, body: null, zipped };
  }
  const index = ENVELOPES.findLastIndex(
    ([before, after]) => body.length >= before.length + after.length && body.startsWith(before) && body.endsWith(after),
  );
  const [before, after] = ENVELOPES[index]!;
  const words = body.slice(before.length, body.length - after.length);
  // Of another body than it was hashed from, as where its words were erased, the hash can't follow.
  const isShort = Buffer.byteLength(words) < SHORT_BODY && sha256(body) === bodyHash;
  return isShort ? { form: FIRST_SHORT + index, body: words, zipped: null } : { form: LONG, body, zipped: null };
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

/** Names with simple values. What has an escape in it isn't one. */
const FIELD = /"(\w+)":("[^"\\]*"|-?\d[\d.eE+-]*|null)/g;
/** What stays in the shape: few values, none of them anybody's words. A shape outlives the threads that had it. */
const SHARED: ReadonlySet<string> = new Set(["v", "kind", "dialect", "origin", "model", "flaw"]);
/** Stands in a shape where a value was. */
const HOLE = "\u0001";
/** The same, for the record's own number, which the row says. */
const OWN_SEQ = "\u0002";
/** JSON text never holds the marks; a string with an escape would stay in the shape. */
const UNSUITABLE = new RegExp(`[${HOLE}${OWN_SEQ}\\\\]`);
const NOTHING = new Uint8Array(0);

function packHeader(
  header: string,
  seq: number,
  before: PackedRecord | null,
): { readonly shape: string; readonly values: Uint8Array } {
  const values = new ValueWriter(before === null ? NO_PLACES : placesIn(before));
  const shape = header.replace(FIELD, (field, name: string, value: string) => {
    if (SHARED.has(name)) return field;
    if (name === "seq" && value === String(seq)) return `"seq":${OWN_SEQ}`;
    values.add(value);
    return `"${name}":${HOLE}`;
  });
  return { shape, values: values.taken() };
}

function unpackHeader(shape: string, values: Values, seq: number): string {
  const parts = shape.replaceAll(OWN_SEQ, String(seq)).split(HOLE);
  let text = parts[0]!;
  let { at } = values;
  for (let index = 1; index < parts.length; index += 1) {
    const [value, next] = readValue(values, at);
    text += value + parts[index]!;
    at = next;
  }
  return text;
}

/** Where the values of a record's header begin, and the packed bytes that they may point into. */
interface Values {
  readonly packed: Buffer;
  readonly at: number;
  readonly before: Buffer | null;
}

const NO_PLACES: ReadonlyMap<string, number> = new Map();

/** Where in its packed bytes a record has the values of its header. */
function placesIn({ packed, shape }: PackedRecord): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  let [, at] = hashPlaces(packed[0]!);
  const values = { packed: bufferOf(packed), at, before: null };
  for (let left = (shape ?? "").split(HOLE).length - 1; left > 0; left -= 1) {
    const [text, next] = readValue(values, at);
    if (next - at > 2 && at < 256) places.set(text, at);
    at = next;
  }
  return places;
}

// Values: one byte says what follows; a small number is that byte itself.

const SMALLEST_TAG = 200;
const [NULL, UINT16, UINT32, UINT48, FLOAT, TIME, UUID, DIGEST, QUOTED, RAW, SAME] = [
  200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210,
] as const;

class ValueWriter {
  #buffer = Buffer.allocUnsafe(128);
  #length = 0;
  readonly #places: ReadonlyMap<string, number>;

  /** `places`: values that the record before has, which are pointed at. */
  constructor(places: ReadonlyMap<string, number>) {
    this.#places = places;
  }

  /** The text of a JSON value: a string without escapes, a number or null. */
  add(text: string): void {
    const place = this.#places.get(text);
    if (place !== undefined) {
      this.#tag(SAME, 1);
      this.#buffer[this.#length - 1] = place;
    } else if (text === "null") this.#tag(NULL, 0);
    else if (text.startsWith('"')) this.#string(text.slice(1, -1));
    else this.#number(text);
  }

  taken(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  #number(text: string): void {
    const value = Number(text);
    if (String(value) !== text) this.#spelled(RAW, text);
    else if (!Number.isInteger(value) || value < 0 || value >= 2 ** 48) {
      this.#tag(FLOAT, 8);
      this.#buffer.writeDoubleBE(value, this.#length - 8);
    } else if (value < SMALLEST_TAG) this.#tag(value, 0);
    else {
      const bytes = value < 2 ** 16 ? 2 : value < 2 ** 32 ? 4 : 6;
      this.#tag(bytes === 2 ? UINT16 : bytes === 4 ? UINT32 : UINT48, bytes);
      this.#buffer.writeUIntBE(value, this.#length - bytes, bytes);
    }
  }

  #string(text: string): void {
    const time = text.length === 24 ? timeIn(text) : null;
    if (time !== null) {
      this.#tag(TIME, 6);
      this.#buffer.writeUIntBE(time, this.#length - 6, 6);
    } else if (UUID_TEXT.test(text)) {
      this.#tag(UUID, 16);
      this.#buffer.write(text.replaceAll("-", ""), this.#length - 16, 16, "hex");
    } else if (isHash(text)) {
      this.#tag(DIGEST, 32);
      this.#buffer.write(text, this.#length - 32, 32, "hex");
    } else this.#spelled(QUOTED, text);
  }

  #spelled(tag: number, text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#tag(tag, 4 + bytes);
    this.#buffer.writeUInt32BE(bytes, this.#length - bytes - 4);
    this.#buffer.write(text, this.#length - bytes, "utf8");
  }

  /** The tag, and room for what follows it. */
  #tag(tag: number, bytes: number): void {
    const needed = this.#length + 1 + bytes;
    if (needed > this.#buffer.length) this.#buffer = Buffer.concat([this.#buffer], 2 * needed);
    this.#buffer[this.#length] = tag;
    this.#length = needed;
  }
}

/** Milliseconds, if they spell the same text again. */
function timeIn(text: string): number | null {
  const ms = Date.parse(text);
  return ms >= 0 && ms < 2 ** 48 && new Date(ms).toISOString() === text ? ms : null;
}

const UUID_TEXT = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The text of the value at a place, and where the next one begins. */
function readValue(values: Values, at: number): readonly [text: string, next: number] {
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
    case SAME:
      return [readValue({ packed: before!, at: 0, before: null }, packed[start]!)[0], start + 1];
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
