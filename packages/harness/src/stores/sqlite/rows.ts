/**
 * How a head, a header and a record lie in their rows, and which rows a thread's records are: a fork reads its ancestors'
 * up to where it left them. Writes nothing but the mark of a thread whose index is behind.
 */
import type { ChainedRecord, Head, ThreadHeader } from "@palimpsest/core/internal/log";
import { readHeader, readState, readStoredHead, recordWith } from "../driver-rules.ts";
import { kindOf, letterOf, type PackedRow, PROMPT_BYTES, SHORT_BODY, unpackRecord } from "../packed-record.ts";
import type { StoredRecord } from "../store.ts";
import type { Connection, SqliteRow } from "./connection.ts";

/** A cell of a row that must be there, of the type that its column has. Anything else is a damaged file: the connection turns the error into `corrupt`. */
export function integerAt(row: SqliteRow | undefined, column: string): number {
  const value = row?.[column];
  return typeof value === "number" ? value : wrongCell(column, value);
}

export function textAt(row: SqliteRow | undefined, column: string): string {
  const value = row?.[column];
  return typeof value === "string" ? value : wrongCell(column, value);
}

export function bytesAt(row: SqliteRow | undefined, column: string): Uint8Array {
  const value = row?.[column];
  return value instanceof Uint8Array ? value : wrongCell(column, value);
}

/** Null if there is no row, no such column, or nothing in it. */
export function integerOrNull(row: SqliteRow | undefined, column: string): number | null {
  return (row?.[column] ?? null) === null ? null : integerAt(row, column);
}

export function textOrNull(row: SqliteRow | undefined, column: string): string | null {
  return (row?.[column] ?? null) === null ? null : textAt(row, column);
}

function wrongCell(column: string, value: unknown): never {
  throw new SyntaxError(`column ${column} holds ${value === null ? "null" : typeof value}`);
}

/** A connection as one user sees it. */
export interface UserConnection extends Connection {
  readonly userId: string;
}

export interface ThreadRow {
  readonly num: number;
  readonly header: ThreadHeader;
  readonly base: number | null;
  readonly baseSeq: number;
}

export function findThread(connection: UserConnection, id: string): ThreadRow | undefined {
  const sql = "SELECT num, header, base, base_seq FROM threads WHERE user = ? AND id = ?";
  const row = connection.get(sql, connection.userId, id);
  return row && threadRow(row);
}

/** Takes the user and the id. */
export const NUM = "(SELECT num FROM threads WHERE user = ? AND id = ?)";

export function threadRow(row: SqliteRow): ThreadRow {
  const base = integerOrNull(row, "base");
  return {
    num: integerAt(row, "num"),
    header: readHeader(textAt(row, "header")),
    base,
    baseSeq: integerAt(row, "base_seq"),
  };
}

const HEAD = "h.version, h.messages, h.updated, h.head, s.state FROM heads h LEFT JOIN states s USING (num)";

export function findHead(connection: Connection, num: number): Head | undefined {
  const row = connection.get(`SELECT ${HEAD} WHERE h.num = ?`, num);
  return row && headOf(row);
}

/** The head of the thread of this id. */
export function headNamed(connection: UserConnection, id: string): Head | undefined {
  const row = connection.get(`SELECT ${HEAD} WHERE h.num = ${NUM}`, connection.userId, id);
  return row && headOf(row);
}

function headOf(row: SqliteRow): Head {
  const { hash, ...rest } = readStoredHead(textAt(row, "head"));
  return {
    version: integerAt(row, "version"),
    hash,
    messages: integerAt(row, "messages"),
    updatedAt: textAt(row, "updated"),
    ...rest,
    state: row["state"] === null ? {} : readState(textAt(row, "state")),
  };
}

/** The head row's text: what has no column of its own. */
export function headText({ version: _v, messages: _m, updatedAt: _u, state: _s, ...rest }: Head): string {
  return JSON.stringify(rest);
}

/** Before the thread's own rows go: its index may lack records from now on. */
export function markLate(connection: Connection, num: number): void {
  const sql = `INSERT OR IGNORE INTO recall_late (user, num)
    SELECT t.user, t.num FROM threads t JOIN heads h USING (num) WHERE t.num = ? AND h.version > t.base_seq`;
  connection.run(sql, num);
}

/** The records of a thread that are stored under one thread number. */
export interface Segment {
  readonly num: number;
  readonly first: number;
  readonly last: number;
}

/** The segments of a thread, oldest first, clipped to a range. */
export function segments(connection: Connection, thread: ThreadRow, first: number, last: number): Segment[] {
  const parts: Segment[] = [];
  let end = last;
  for (let row: ThreadRow | undefined = thread; row; ) {
    parts.unshift({ num: row.num, first: Math.max(first, row.baseSeq + 1), last: end });
    end = Math.min(end, row.baseSeq);
    row = row.base === null || end < first ? undefined : threadByNumber(connection, row.base);
  }
  return parts.filter((segment) => segment.first <= segment.last);
}

function threadByNumber(connection: Connection, num: number): ThreadRow | undefined {
  const row = connection.get("SELECT num, header, base, base_seq FROM threads WHERE num = ?", num);
  return row && threadRow(row);
}

/** `before`, `prompt`: what a record that leans on the one before it is read with (packed-record.ts). */
const HEADER = `seq, kind, header, body_hash, hash, redacted, packed, (SELECT text FROM shapes WHERE id = shape) AS shape,
  iif(packed >= x'80', (SELECT b.packed FROM records b WHERE b.num = records.num AND b.seq = records.seq - 1), NULL) AS before,
  iif(packed >= x'c0', (SELECT u.hash FROM usage_prompts u WHERE u.num = records.num AND u.hash >= substr(packed, -${PROMPT_BYTES})
    ORDER BY u.hash LIMIT 1), NULL) AS prompt`;
export const RECORD_COLUMNS = `${HEADER}, body, zipped`;
/** Of records whose bodies are not asked for. The hash of a short one follows from it. */
export const HEADER_COLUMNS = `${HEADER}, iif(octet_length(body) < ${SHORT_BODY}, body, NULL) AS short`;

export function recordOf(row: SqliteRow): StoredRecord {
  const place = {
    seq: integerAt(row, "seq"),
    kind: kindOf(textAt(row, "kind")),
    redacted: row["redacted"] === 1,
  };
  return recordWith(place, textOf(row));
}

/** What a kind may be called in its rows: in those of before letters it is a word. */
export function namesOf(kind: ChainedRecord["kind"]): readonly string[] {
  return [...new Set([kind, letterOf(kind)])];
}

/** A row from before they were packed, or that was erased since, holds its text as it is. */
export function textOf(row: SqliteRow): Pick<ChainedRecord, "header" | "body" | "bodyHash" | "hash"> {
  if (row["packed"] !== null) return unpackRecord(row as unknown as PackedRow, integerAt(row, "seq"));
  return {
    header: textAt(row, "header"),
    body: textOrNull(row, "body"),
    bodyHash: textOrNull(row, "body_hash"),
    hash: textAt(row, "hash"),
  };
}
