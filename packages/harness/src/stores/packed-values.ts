/**
 * The values of a packed record's header: one byte says what follows; a small number is that byte itself. Times, ids and hashes
 * are bytes; what a record shares with the one that it leans on is pointed at.
 */

/** Where the values of a record's header begin, and the packed bytes that they may point into. */
export interface Values {
  readonly packed: Buffer;
  readonly at: number;
  readonly before: Buffer | null;
  readonly prompt: string;
}

const SMALLEST_TAG = 200;
const [NULL, UINT16, UINT32, UINT48, FLOAT, TIME, UUID, DIGEST, QUOTED, RAW, SAME, PROMPT] = [
  200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210, 211,
] as const;

export class ValueWriter {
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
