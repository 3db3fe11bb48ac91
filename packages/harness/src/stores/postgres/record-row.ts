/**
 * How a record lies in its row: packed as in SQLite (packed-record.ts), but each row by itself. The shape of its header is
 * abbreviated by a table in this file, so that no other row has to be read with it. What doesn't fit stays text. Pure.
 */
import type { ChainedRecord } from "@palimpsest/core/internal/log";
import { recordWith } from "../driver-rules.ts";
import { packRecord } from "../pack-record.ts";
import { bufferOf, kindOf, letterOf, SHORT_BODY, unpackRecord } from "../packed-record.ts";
import type { StoredRecord } from "../store.ts";

/** `header`: its text, or the abbreviated shape of one whose values are in `packed`. `zipped`: the body, compressed; else empty. */
export interface RecordRow {
  readonly seq: number;
  readonly kind: string;
  readonly redacted: boolean;
  readonly header: string;
  readonly packed: Buffer;
  readonly body: string | null;
  readonly zipped: Buffer | null;
  /** A short body, where bodies aren't asked for: its hash follows from it. */
  readonly short?: string | null;
}

export const RECORD_COLUMNS = "r.seq, r.kind, r.redacted, r.header, r.packed, r.body, r.zipped";
export const HEADER_COLUMNS = `r.seq, r.kind, r.redacted, r.header, r.packed, NULL AS body, NULL AS zipped,
  CASE WHEN octet_length(r.body) < ${SHORT_BODY} THEN r.body END AS short`;

/** Neither a message nor a usage record: the condition of an index, which must be repeated word for word to be used. */
export const RARE_KINDS = "kind NOT IN ('m', 'u')";

/** What is written of new records, in this order; `WRITTEN_TYPES` are the types of the arrays. */
export const WRITTEN_COLUMNS = "seq, kind, header, packed, body, zipped";
export const WRITTEN_TYPES = ["int", "text", "text", "bytea", "text", "bytea"] as const;

/** A list for each of `WRITTEN_COLUMNS`. */
export function writtenColumns(records: readonly ChainedRecord[]): readonly (readonly unknown[])[] {
  const rows = records.map(toRow);
  const column = <K extends keyof RecordRow>(name: K) => rows.map((row) => row[name]);
  return [column("seq"), column("kind"), column("header"), column("packed"), column("body"), column("zipped")];
}

function toRow(record: ChainedRecord): RecordRow {
  const { seq } = record;
  const row = packRecord(record);
  const place = { seq, kind: letterOf(record.kind), redacted: false };
  if (row === null) return { ...place, ...textRow(record) };
  const header = row.shape === null ? record.header : abbreviated(row.shape);
  return { ...place, header, packed: bufferOf(row.packed), body: row.body, zipped: bufferOf(row.zipped ?? NOTHING) };
}

type RowText = Pick<ChainedRecord, "header" | "body" | "bodyHash" | "hash">;

/** As text: of a record that was erased, beside the hashes of what was there, or that has other hashes than ours. */
export function textRow({ header, body, bodyHash, hash }: RowText) {
  const packed = Buffer.concat([AS_TEXT, Buffer.from(`${hash}\n${bodyHash ?? ""}`)]);
  return { header, packed, body, zipped: NOTHING };
}

export function fromRow(row: RecordRow): StoredRecord {
  return recordWith({ seq: row.seq, kind: kindOf(row.kind), redacted: row.redacted }, textOf(row));
}

export function textOf(row: RecordRow): RowText {
  const { header, packed, body, zipped, short = null } = row;
  if (packed[0] === AS_TEXT[0]) {
    const [hash = "", bodyHash = ""] = packed.toString("utf8", 1).split("\n");
    return { header, body, bodyHash: bodyHash === "" ? null : bodyHash, hash };
  }
  const isShaped = header.startsWith(MARK);
  const kept = { packed, body, short, zipped: zipped !== null && zipped.length > 0 ? zipped : null };
  return unpackRecord({ ...kept, header: isShaped ? "" : header, shape: isShaped ? expanded(header) : null }, row.seq);
}

/** A first byte that no packed record has. */
const AS_TEXT = Buffer.from([0xff]);
const NOTHING = Buffer.alloc(0);

// Shapes

/** What an abbreviated shape begins with: the text of a header begins with a brace. */
const MARK = "\u0004";
const FIRST_CODE = 5;
/**
 * Parts of shapes that stand as one character each, which JSON text never holds. Their numbers never change: new ones are added at
 * the end, 27 at most. A value that isn't shared stands as its mark (packed-record.ts).
 */
const FRAGMENTS = [
  '{"v":3',
  ',"seq":\u0002,"kind":"message","at":\u0001,"runId":\u0001,"id":\u0001,"dialect":"',
  ',"seq":\u0002,"kind":"usage","at":\u0001,"runId":\u0001,"of":\u0003,"model":"',
  ',"seq":\u0002,"kind":"usage","at":\u0001,"runId":\u0001,"of":\u0001,"model":"',
  'ai-sdk","origin":"user"}',
  'ai-sdk","origin":"model"}',
  'ai-sdk","origin":"tool"}',
  '","origin":"',
  '","measured":{"compaction":\u0001,"prune":\u0001,"promptHash":\u0001},',
  '","measured":{"compaction":\u0001,"prune":\u0001,"rules":\u0001,"promptHash":\u0001},',
  '"input":\u0001,"output":\u0001,"cacheRead":\u0001,"cacheWrite":\u0001,"factor":\u0001',
  ',"flaw":null}',
] as const;

const CODES = new Map<string, string>(
  FRAGMENTS.map((fragment, index) => [fragment, String.fromCharCode(FIRST_CODE + index)]),
);
/** Longer ones first: one may be the beginning of another. */
const ANY_FRAGMENT = new RegExp(
  [...FRAGMENTS]
    .sort((a, b) => b.length - a.length)
    .map((fragment) => fragment.replace(/[{}]/g, "\\$&"))
    .join("|"),
  "g",
);
const ANY_CODE = new RegExp(
  `[${String.fromCharCode(FIRST_CODE)}-${String.fromCharCode(FIRST_CODE + FRAGMENTS.length - 1)}]`,
  "g",
);

function abbreviated(shape: string): string {
  return MARK + shape.replace(ANY_FRAGMENT, (fragment) => CODES.get(fragment)!);
}

/** The few shapes of a log are read once. */
function expanded(header: string): string {
  const known = shapes.get(header);
  if (known !== undefined) return known;
  const shape = header.slice(1).replace(ANY_CODE, (code) => FRAGMENTS[code.charCodeAt(0) - FIRST_CODE]!);
  if (shapes.size >= MOST_KEPT) shapes.clear();
  shapes.set(header, shape);
  return shape;
}

const shapes = new Map<string, string>();
const MOST_KEPT = 256;
