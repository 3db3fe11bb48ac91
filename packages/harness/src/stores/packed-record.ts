/**
 * A record in fewer bytes, and the very same record again: what is hashed is its text, so each character comes back. A
 * header is a shape that many share (its names, the dialect, the model) and its own values; hashes are bytes; a short
 * message stands without the JSON around its words, a long body is compressed; a usage record leans on the answer it
 * reports on, which stands just before it. Pure; what doesn't fit stays text. Bodies of megabytes are compressed and read in
 * the system's threads, so that nobody waits for it.
 */
import { hash as digest } from "node:crypto";
import { promisify } from "node:util";
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from "node:zlib";
import { type ChainedRecord, link } from "@palimpsest/core/internal/log";
import { bufferOf, isHash, readValue, type Values, ValueWriter } from "./packed-values.ts";

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
const LEANS = 128;
/** Added to the form of one that also names its prompt by the beginning of a hash which the thread keeps. */
const NAMES_PROMPT = 64;
export const PROMPT_BYTES = 6;

function promptOf({ packed, prompt }: PackedRow, form: number): string {
  if (form < LEANS + NAMES_PROMPT) return "";
  const [hash, known] = [bufferOf(prompt!).toString("hex"), bufferOf(packed.subarray(-PROMPT_BYTES)).toString("hex")];
  if (!hash.startsWith(known)) throw new SyntaxError("the hash of a prompt that a record names is not there");
  return hash;
}

/** Where in the packed bytes the body's hash begins, and where it ends. */
function hashPlaces(form: number): readonly [start: number, end: number] {
  const start = 1 + (form < LEANS ? 32 : CHECK);
  return [start, start + bodyHashBytes(form % NAMES_PROMPT)];
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
const unzip = promisify(inflateRaw);
const CHUNK = 1 << 20;
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

/** Names with simple values. What has an escape in it isn't one. */
const FIELD = /"(\w+)":("[^"\\]*"|-?\d[\d.eE+-]*|null)/g;
/** What stays in the shape: few values, none of them anybody's words. A shape outlives the threads that had it. */
const SHARED: ReadonlySet<string> = new Set(["v", "kind", "dialect", "origin", "model", "flaw"]);
/** Stands in a shape where a value was. */
const HOLE = "\u0001";
/** The same, for the record's own number, which the row says. */
const OWN_SEQ = "\u0002";
/** The one before that: a usage record is of the answer just before it. */
const SEQ_BEFORE = "\u0003";
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
