/**
 * Writes a record in fewer bytes (packed-record.ts): finds what its header shares with others, leans a usage record on the answer
 * before it, compresses a long body. What doesn't fit stays text. Bodies of megabytes are compressed in the system's threads.
 */
import { promisify } from "node:util";
import { deflateRaw, deflateRawSync } from "node:zlib";
import { type ChainedRecord, link } from "@palimpsest/core/internal/log";
import {
  bufferOf,
  CHUNK,
  DIGEST,
  ENVELOPES,
  FIRST_SHORT,
  FLOAT,
  HOLE,
  hashPlaces,
  isHash,
  LEANS,
  LONG,
  NAMES_PROMPT,
  NO_BODY,
  NULL,
  OWN_SEQ,
  ownHash,
  type PackedRecord,
  PROMPT,
  PROMPT_BYTES,
  QUOTED,
  RAW,
  readValue,
  SAME,
  SEQ_BEFORE,
  SHORT_BODY,
  SMALLEST_TAG,
  sha256,
  TIME,
  UINT16,
  UINT32,
  UINT48,
  UUID,
  ZIPPED,
} from "./packed-record.ts";

/** `zipped`: its long body, compressed ahead. */
type ZippedRecord = ChainedRecord & { readonly zipped?: Uint8Array | undefined };

/**
 * Null: its hashes are not SHA-256, and it is kept as text. `before`: the record just before it, if it is written with this one.
 * `keeps`: whether the thread keeps this hash of a prompt, so that its beginning is enough.
 */
export function packRecord(
  record: ZippedRecord,
  before: PackedRecord | null = null,
  keeps: (hash: string) => boolean = () => false,
): PackedRecord | null {
  const { seq, kind, header, bodyHash, hash } = record;
  if (!isHash(hash) || (bodyHash !== null && !isHash(bodyHash))) return null;
  const isShaped = (kind === "message" || kind === "usage") && !UNSUITABLE.test(header);
  const lean = kind === "usage" && isShaped && before !== null && follows(record, before) ? before : null;
  const { shape, values, prompt } = isShaped ? packHeader(header, seq, lean, keeps) : NO_HEADER;
  const stored = packBody(record);
  const form = stored.form + (lean === null ? 0 : LEANS) + (prompt === null ? 0 : NAMES_PROMPT);
  const [start, end] = hashPlaces(form);
  const packed = Buffer.allocUnsafe(end + values.length + (prompt === null ? 0 : PROMPT_BYTES));
  packed[0] = form;
  packed.write(hash, 1, start - 1, "hex");
  if (bodyHash !== null) packed.write(bodyHash, start, end - start, "hex");
  packed.set(values, end);
  if (prompt !== null) packed.write(prompt, end + values.length, PROMPT_BYTES, "hex");
  return {
    header: isShaped ? "" : header,
    shape,
    body: stored.body,
    packed,
    zipped: stored.zipped,
  };
}

/** Whether its hash can be worked out from the row of the one before it, which must stand by itself. */
function follows({ header, bodyHash, hash }: ChainedRecord, { packed }: PackedRecord): boolean {
  return packed[0]! < LEANS && link(ownHash(packed), header, bodyHash, sha256) === hash;
}

/**
 * Characters from which on a body is compressed. A message is read with many others whenever its thread is opened, so it
 * has to be worth it. Beyond the last, compressing would hold up everybody else for too long.
 */
const ZIPS = { message: 8192, other: 1024, last: 262_144 };

type StoredBody = Pick<PackedRecord, "body" | "zipped"> & { readonly form: number };

function packBody({ kind, body, bodyHash, zipped: ahead }: ZippedRecord): StoredBody {
  if (body === null || bodyHash === null) return { form: NO_BODY, body, zipped: null };
  if (ahead !== undefined) return { form: ZIPPED, body: null, zipped: ahead };
  if (body.length >= (kind === "message" ? ZIPS.message : ZIPS.other) && body.length <= ZIPS.last) {
    const zipped = deflateRawSync(body, { level: 1 });
    if (isWorthIt(zipped, body)) return { form: ZIPPED, body: null, zipped };
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

function isWorthIt(zipped: Uint8Array, body: string): boolean {
  return zipped.length < body.length * 0.8;
}

/** The same records, those with long bodies with these compressed, where it is worth it. */
export async function zipLong(records: readonly ChainedRecord[]): Promise<readonly ChainedRecord[]> {
  const ready: ZippedRecord[] = [];
  for (const record of records) {
    const { seq, kind, at, header, body, bodyHash, hash } = record;
    const zipped = body === null || body.length <= ZIPS.last ? null : await zip(body, { level: 1, chunkSize: CHUNK });
    if (body === null || zipped === null || !isWorthIt(zipped, body)) ready.push(record);
    else
      ready.push({
        seq,
        kind,
        at,
        header,
        body,
        bodyHash,
        hash,
        zipped,
      });
  }
  return ready;
}

const zip = promisify(deflateRaw);

/** Names with simple values. What has an escape in it isn't one. */
const FIELD = /"(\w+)":("[^"\\]*"|-?\d[\d.eE+-]*|null)/g;
/** What stays in the shape: few values, none of them anybody's words. A shape outlives the threads that had it. */
const SHARED: ReadonlySet<string> = new Set(["v", "kind", "dialect", "origin", "model", "flaw"]);
/** JSON text never holds the marks; a string with an escape would stay in the shape. */
const UNSUITABLE = new RegExp(`[${HOLE}${OWN_SEQ}${SEQ_BEFORE}\\\\]`);
const NO_HEADER = { shape: null, values: new Uint8Array(0), prompt: null };

function packHeader(
  header: string,
  seq: number,
  before: PackedRecord | null,
  keeps: (hash: string) => boolean,
): { readonly shape: string; readonly values: Uint8Array; readonly prompt: string | null } {
  const values = new ValueWriter(before === null ? NO_PLACES : placesIn(before));
  let prompt: string | null = null;
  const shape = header.replace(FIELD, (field, name: string, value: string) => {
    if (SHARED.has(name)) return field;
    if (name === "seq" && value === String(seq)) return `"seq":${OWN_SEQ}`;
    if (name === "of" && value === String(seq - 1)) return `"of":${SEQ_BEFORE}`;
    const hash = value.slice(1, -1);
    if (name === "promptHash" && before !== null && prompt === null && isHash(hash) && keeps(hash)) {
      prompt = hash;
      values.promptHere();
      return `"${name}":${HOLE}`;
    }
    values.add(value);
    return `"${name}":${HOLE}`;
  });
  return { shape, values: values.taken(), prompt };
}

const NO_PLACES: ReadonlyMap<string, number> = new Map();

/** Where in its packed bytes a record has the values of its header. */
function placesIn({ packed, shape }: PackedRecord): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  let [, at] = hashPlaces(packed[0]!);
  const values = { packed: bufferOf(packed), at, before: null, prompt: "" };
  for (let left = (shape ?? "").split(HOLE).length - 1; left > 0; left -= 1) {
    const [text, next] = readValue(values, at);
    if (next - at > 2 && at < 256) places.set(text, at);
    at = next;
  }
  return places;
}

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

  /** It stands at the record's end. */
  promptHere(): void {
    this.#tag(PROMPT, 0);
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
