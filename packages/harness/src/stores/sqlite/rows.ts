/**
 * How a head, a header and a record lie in their rows, and which rows a thread's records are: a fork reads its ancestors'
 * up to where it left them. Pure reading; writing is next door.
 */
import type { ChainedRecord, Head, ThreadHeader } from "@palimpsest/core/log";
import { recordWith } from "../driver-rules.ts";
import { kindOf, letterOf, type PackedRow, PROMPT_BYTES, SHORT_BODY, unpackRecord } from "../packed-record.ts";
import type { StoredRecord } from "../store.ts";
import type { Connection, SqliteRow } from "./connection.ts";

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
  const base = row["base"] as number | null;
  return {
    num: row["num"] as number,
    header: JSON.parse(row["header"] as string) as ThreadHeader,
    base,
    baseSeq: row["base_seq"] as number,
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
  const { hash, ...rest } = JSON.parse(row["head"] as string) as Omit<
    Head,
    "version" | "messages" | "updatedAt" | "state"
  >;
  return {
    version: row["version"] as number,
    hash,
    messages: row["messages"] as number,
    updatedAt: row["updated"] as string,
    ...rest,
    state: row["state"] === null ? {} : (JSON.parse(row["state"] as string) as Head["state"]),
  };
}

/** The head row's text: what has no column of its own. */
export function headText({ version: _v, messages: _m, updatedAt: _u, state: _s, ...rest }: Head): string {
  return JSON.stringify(rest);
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
    seq: row["seq"] as number,
    kind: kindOf(row["kind"] as string),
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
  if (row["packed"] !== null) return unpackRecord(row as unknown as PackedRow, row["seq"] as number);
  return {
    header: row["header"] as string,
    body: (row["body"] ?? null) as string | null,
    bodyHash: row["body_hash"] as string | null,
    hash: row["hash"] as string,
  };
}
