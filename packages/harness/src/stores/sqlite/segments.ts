/** How far the index of threads has come, and what of it belongs to a scope. */
import type { IndexedSegment, LateThreads, UserIndex } from "../search-tables.ts";
import type { Connection, Row } from "./connection.ts";
import { entryUpTo } from "./entries.ts";
import { slotsOf } from "./posting-pool.ts";
import { BLOCK_SIZE, MERGED } from "./postings.ts";
import type { UserConnection } from "./rows.ts";

const SEGMENT = `t.id, t.num, t.base, t.base_seq, h.version, i.indexed, i.ordinal, i.session, i.at, i.entries, i.length, i.merged
  FROM threads t JOIN heads h USING (num) LEFT JOIN recall_threads i USING (num)`;

export function lineage(connection: UserConnection, threadId: string): IndexedSegment[] {
  const line: IndexedSegment[] = [];
  let through: number | null = null;
  let row = connection.get(`SELECT ${SEGMENT} WHERE t.user = ? AND t.id = ?`, connection.userId, threadId);
  while (row) {
    line.unshift(toSegment(connection, row, through));
    if (row["base"] === null) break;
    through = Math.min(through ?? Number.MAX_SAFE_INTEGER, row["base_seq"] as number);
    row = connection.get(`SELECT ${SEGMENT} WHERE t.num = ?`, row["base"] as number);
  }
  return line;
}

export function ofUser(connection: UserConnection): IndexedSegment[] {
  const rows = connection.all(`SELECT ${SEGMENT} WHERE t.user = ?`, connection.userId);
  return rows.map((row) => toSegment(connection, row, null));
}

const EMPTY: Omit<UserIndex, "late"> = {
  entries: 0,
  length: 0,
  from: 0,
  before: 0,
  times: new Map(),
  large: [],
};

export function userIndex(connection: UserConnection): UserIndex {
  const own = connection.get("SELECT num, next, entries, length FROM recall_users WHERE user = ?", connection.userId);
  const late = connection
    .all(
      `SELECT ${SEGMENT.replace("FROM", "FROM recall_late l CROSS JOIN")} WHERE l.user = ? AND l.num = t.num
       AND h.version > coalesce(i.indexed, t.base_seq)`,
      connection.userId,
    )
    .map((row) => toSegment(connection, row, null));
  if (own === undefined) return { ...EMPTY, late };
  const pool = own["num"] as number;
  const large = connection
    .all(`SELECT ${SEGMENT} WHERE t.num IN (SELECT num FROM recall_threads WHERE large = ?)`, pool)
    .map((row) => toSegment(connection, row, null));
  const first = connection.get("SELECT min(first) AS first FROM recall_slots WHERE pool = ?", pool)!["first"];
  const before = Math.ceil((own["next"] as number) / BLOCK_SIZE);
  const from = first === null ? before : Math.floor((first as number) / BLOCK_SIZE);
  const blocks = Array.from({ length: before - from }, (_, at) => from + at);
  const times = connection.all(
    `SELECT b.value AS block, (SELECT i.at FROM recall_slots s JOIN recall_threads i USING (num)
       WHERE s.pool = ? AND s.first < (b.value + 1) * ${BLOCK_SIZE} ORDER BY s.first DESC LIMIT 1) AS at FROM json_each(?) b`,
    ...[pool, JSON.stringify(blocks)],
  );
  return {
    entries: own["entries"] as number,
    length: own["length"] as number,
    from,
    before,
    times: new Map(times.map((row) => [row["block"] as number, (row["at"] ?? "") as string])),
    large,
    late,
  };
}

/** Threads that are looked at in one go. */
const LATE_PAGE = 4096;

export function late(connection: Connection, records: number, after: number): LateThreads {
  const rows = connection.all(
    `SELECT t.user, t.id FROM threads t JOIN heads h USING (num) LEFT JOIN recall_threads i USING (num)
     WHERE t.num > ? AND t.num <= ? AND h.version - coalesce(i.indexed, t.base_seq) >= ? ORDER BY t.num`,
    ...[after, after + LATE_PAGE, records],
  );
  const more = connection.get("SELECT 1 FROM threads WHERE num > ? LIMIT 1", after + LATE_PAGE) !== undefined;
  const threads = rows.map((row) => ({ userId: row["user"] as string, threadId: row["id"] as string }));
  return { threads, next: more ? String(after + LATE_PAGE) : null };
}

function toSegment(connection: Connection, row: Row, through: number | null): IndexedSegment {
  const { at, ordinal, session } = row;
  const slots = slotsOf(connection, row["id"] as string, row["num"] as number);
  return {
    threadId: row["id"] as string,
    through: through ?? (row["version"] as number),
    cut: through === null ? null : (entryUpTo(connection, row["num"] as number, through)?.ordinal ?? -1),
    indexed: (row["indexed"] ?? row["base_seq"]) as number,
    newest: ordinal == null ? null : { ordinal: ordinal as number, session: session as number, at: at as string },
    entries: (row["entries"] ?? 0) as number,
    length: (row["length"] ?? 0) as number,
    merged: ((row["merged"] ?? 0) as number) * MERGED,
    ...(slots.length > 0 && { slots }),
  };
}
