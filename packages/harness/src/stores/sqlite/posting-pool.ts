/**
 * Blocks that a user's small threads share, and what is known of all of the user's threads together. A thread's slots grow with
 * it, each as large as all before it: however its messages came, its entries lie in a few places.
 */
import {
  listsByBlock,
  type MergedPosting,
  PlaceLists,
  readPostings,
  signsOf,
  withoutEntry,
  withoutPlaces,
} from "../posting-text.ts";
import type {
  IndexBatch,
  IndexedSegment,
  LateThreads,
  NewPosting,
  PostingPool,
  Slot,
  UserIndex,
} from "../search-tables.ts";
import type { Connection, SqliteRow } from "./connection.ts";
import { entryUpTo } from "./entries.ts";
import { findThread, integerAt, integerOrNull, NUM, textAt, textOrNull, type UserConnection } from "./rows.ts";

/** Larger threads have blocks of their own that are worth reading by themselves. */
const MOST = 256;

export function postingPool(
  connection: UserConnection,
  write: <T>(work: () => T) => Promise<T>,
  forgetPostingsOf: (connection: Connection, num: number) => void,
): PostingPool {
  return {
    most: MOST,
    reserve: (threadId, ordinal, count) => write(() => reserve(connection, threadId, ordinal, count)),
    leave: (threadId) =>
      write(() => {
        const row = findThread(connection, threadId);
        if (row) forgetPostingsOf(connection, row.num);
      }),
    locate: (places) => connection.guard(() => locate(connection, places)),
  };
}

/** The number under which the user's shared blocks are: threads have positive ones. */
export function poolNumber(connection: Connection, userId: string): number {
  const known = connection.get("SELECT num FROM recall_users WHERE user = ?", userId);
  if (known !== undefined) return integerAt(known, "num");
  const sql = `INSERT INTO recall_users (user, num) SELECT ?, coalesce(min(num), 0) - 1 FROM recall_users RETURNING num`;
  return integerAt(connection.get(sql, userId), "num");
}

function reserve(connection: UserConnection, threadId: string, ordinal: number, count: number): Slot[] {
  const thread = findThread(connection, threadId);
  if (!thread) return [];
  const pool = poolNumber(connection, connection.userId);
  const own = connection.all(
    "SELECT first, size, ordinal FROM recall_slots WHERE num = ? ORDER BY ordinal",
    thread.num,
  );
  const last = own.at(-1);
  const end = last === undefined ? ordinal : integerAt(last, "ordinal") + integerAt(last, "size");
  const lacking = ordinal + count - end;
  if (lacking > 0) {
    const next = integerAt(connection.get("SELECT next FROM recall_users WHERE num = ?", pool), "next");
    const isLast = last !== undefined && integerAt(last, "first") + integerAt(last, "size") === next;
    const size = isLast ? lacking : Math.max(lacking, end - (integerOrNull(own[0], "ordinal") ?? ordinal));
    if (isLast)
      connection.run(
        "UPDATE recall_slots SET size = size + ? WHERE pool = ? AND first = ?",
        size,
        pool,
        last["first"]!,
      );
    else {
      const sql = "INSERT INTO recall_slots (pool, first, size, num, ordinal) VALUES (?, ?, ?, ?, ?)";
      connection.run(sql, pool, next, size, thread.num, end);
    }
    connection.run("UPDATE recall_users SET next = next + ? WHERE num = ?", size, pool);
  }
  const sql = `SELECT first, size, ordinal FROM recall_slots
    WHERE num = ? AND ordinal + size > ? AND ordinal < ? ORDER BY ordinal`;
  return connection.all(sql, thread.num, ordinal, ordinal + count).map((row) => toSlot(threadId, row));
}

function toSlot(threadId: string, row: SqliteRow): Slot {
  return {
    threadId,
    ordinal: integerAt(row, "ordinal"),
    first: integerAt(row, "first"),
    size: integerAt(row, "size"),
  };
}

function slotsOf(connection: Connection, threadId: string, num: number): Slot[] {
  const sql = "SELECT first, size, ordinal FROM recall_slots WHERE num = ? ORDER BY ordinal";
  return connection.all(sql, num).map((row) => toSlot(threadId, row));
}

function locate(connection: UserConnection, places: readonly number[]): Slot[] {
  const rows = connection.all(
    `WITH held (num) AS MATERIALIZED (
       SELECT DISTINCT (SELECT s.num FROM recall_slots s WHERE s.pool = u.num AND s.first <= p.value
         ORDER BY s.first DESC LIMIT 1) FROM recall_users u CROSS JOIN json_each(?) p WHERE u.user = ?
     )
     SELECT t.id, s.first, s.size, s.ordinal
     FROM held CROSS JOIN threads t USING (num) CROSS JOIN recall_slots s USING (num) ORDER BY s.num, s.ordinal`,
    JSON.stringify(places),
    connection.userId,
  );
  return rows.map((row) => toSlot(textAt(row, "id"), row));
}

/** Whether the thread still has the batch's slots, or none where it has none: its index may have been dropped meanwhile. */
export function holdsSlots(connection: Connection, num: number, { entries, slots }: IndexBatch): boolean {
  const known = slotsOf(connection, "", num);
  if (slots === undefined) return known.length === 0 || entries.length === 0;
  return slots.every(({ ordinal, first, size }) =>
    known.some((slot) => slot.ordinal === ordinal && slot.first === first && slot.size >= size),
  );
}

/** Where the thread's ordinal lies in the pool; null: it has its own blocks for it. */
export function placeInPool(
  connection: Connection,
  num: number,
  ordinal: number,
): { pool: number; place: number } | null {
  const row = connection.get(
    `SELECT pool, first + ? - ordinal AS place FROM recall_slots
     WHERE num = ? AND ordinal <= ? AND ordinal + size > ?`,
    ...[ordinal, num, ordinal, ordinal],
  );
  return row ? { pool: integerAt(row, "pool"), place: integerAt(row, "place") } : null;
}

/** The words of a thread leave the pool with it. */
export function forgetSlots(connection: Connection, num: number): void {
  for (const row of connection.all("SELECT pool, first, size FROM recall_slots WHERE num = ?", num)) {
    const first = integerAt(row, "first");
    forgetPlaces(connection, integerAt(row, "pool"), first, first + integerAt(row, "size") - 1);
  }
  connection.run("DELETE FROM recall_slots WHERE num = ?", num);
}

export function forgetPlaces(connection: Connection, pool: number, first: number, last: number): void {
  for (let block = Math.floor(first / BLOCK_SIZE); block * BLOCK_SIZE <= last; block += 1) {
    const start = Math.max(0, first - block * BLOCK_SIZE);
    const end = Math.min(BLOCK_SIZE - 1, last - block * BLOCK_SIZE);
    const globs = signsOf(start, end).map((signs) => `*${signs}*`);
    const holds = globs.map(() => "list GLOB ?").join(" OR ");
    const sql = `SELECT term, list FROM recall_postings WHERE num = ? AND block = ? AND (${holds})`;
    for (const row of connection.all(sql, pool, block, ...globs)) {
      const { list, removed } = withoutPlaces(textAt(row, "list"), start, end);
      if (removed === 0) continue;
      const own = [pool, block, textAt(row, "term")] as const;
      const at = "num = ? AND block = ? AND term = ?";
      if (list === "") connection.run(`DELETE FROM recall_postings WHERE ${at}`, ...own);
      else connection.run(`UPDATE recall_postings SET list = ?, count = count - ? WHERE ${at}`, list, removed, ...own);
    }
  }
}

// How postings lie in their rows: by blocks that are appended to, then, when 16 of them are full, by parts that no
// longer change. Reading them is search.ts.

/** 1.9 kB are written for a message of 20 words; with blocks of 4,096 it would be 4.5. */
export const BLOCK_SIZE = 1024;
/** Blocks that are full become one: a long thread has fewer rows to read and to keep. */
export const MERGED = 16;
/** Of a term that more entries of them hold the lists stay apart: what is sought is seldom in all of them. */
const LONG_LIST = 512;
/** A longer list and its term would take a page of their own, most of it empty: such lists stand in a table where they share pages. */
const SHORT_ROW = 90;

export function addPostings(connection: Connection, num: number, postings: readonly NewPosting[]): void {
  for (const { term, block, count, list } of postings)
    connection.run(
      `INSERT INTO recall_postings (num, block, term, count, list) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET count = count + excluded.count, list = list || excluded.list`,
      ...[num, block, term, count, list],
    );
}

/** A list that stands by itself is named in its row by `#` and its number; no list begins so. */
export const LIST = `iif(p.list >= '#' AND p.list < '$', (SELECT l.list FROM recall_lists l WHERE l.id = CAST(substr(p.list, 2) AS INTEGER)), p.list)`;

/** Only one that lies in its row, where it comes for nothing with the count. */
export const SHORT_LIST = "iif(octet_length(p.list) > 1024 OR p.list >= '#' AND p.list < '$', NULL, p.list)";

/** What the row of a term holds: its list, or the name of it. */
function keptList(connection: Connection, term: string, list: string): string {
  if (Buffer.byteLength(term) + list.length <= SHORT_ROW) return list;
  return `#${connection.get("INSERT INTO recall_lists (list) VALUES (?) RETURNING id", list)!["id"]}`;
}

/** Before the rows that name them go. */
export function forgetLists(connection: Connection, rows: string, ...values: (number | string)[]): void {
  connection.run(
    `DELETE FROM recall_lists WHERE id IN (SELECT CAST(substr(list, 2) AS INTEGER) FROM recall_postings
     WHERE ${rows} AND list >= '#' AND list < '$')`,
    ...values,
  );
}

/**
 * One step: the next terms leave their blocks for the part, whose last term says how far it has come. The part counts as merged
 * when none is left.
 */
export function mergeBlocks(connection: UserConnection, threadId: string): "merged" | "nothing" {
  const sql = `SELECT num, merged, ordinal FROM recall_threads WHERE num = ${NUM}`;
  const row = connection.get(sql, connection.userId, threadId);
  if (!row) return "nothing";
  const [num, part] = [integerAt(row, "num"), integerAt(row, "merged")];
  const blocks = Array.from({ length: MERGED }, (_, at) => part * MERGED + at);
  // Ordinals only rise, so a block is done when a later one has begun.
  if (Math.floor((integerOrNull(row, "ordinal") ?? 0) / BLOCK_SIZE) <= blocks.at(-1)!) return "nothing";
  const moved = "SELECT max(term) AS term FROM recall_postings WHERE num = ? AND block = ?";
  const after = textOrNull(connection.get(moved, num, -1 - part)!, "term") ?? "";
  const last = textOrNull(connection.get(LAST_OF_STEP, num, after, JSON.stringify(blocks))!, "last");
  const range = `num = ? AND block = ? AND term > ?${last === null ? "" : " AND term <= ?"}`;
  const lists = new PlaceLists();
  for (const [at, block] of blocks.entries()) {
    const own = [num, block, after, ...(last === null ? [] : [last])];
    for (const row of connection.each(`SELECT term, list FROM recall_postings WHERE ${range}`, ...own)) {
      const term = textAt(row, "term");
      const add = (offset: number, weight: number, passages: number) => lists.add(term, offset, weight, passages);
      readPostings(textAt(row, "list"), BLOCK_SIZE, add, at * BLOCK_SIZE);
    }
    connection.run(`DELETE FROM recall_postings WHERE ${range}`, ...own);
  }
  writePart(connection, num, part, lists.merged());
  if (last === null) connection.run("UPDATE recall_threads SET merged = ? WHERE num = ?", part + 1, num);
  return "merged";
}

/** So many terms that others are served soon: at most 1000 of each block, fewer where they have many places. Null: all. */
const LAST_OF_STEP = `SELECT min((SELECT term FROM (SELECT term, sum(20 + count) OVER (ORDER BY term) AS work FROM (
    SELECT term, count FROM recall_postings WHERE num = ? AND block = b.value AND term > ? ORDER BY term LIMIT 1000))
  WHERE work >= 20000 ORDER BY term LIMIT 1)) AS last FROM json_each(?) b`;

/** Of blocks of which nothing is there yet. */
export function writeNextPart(connection: Connection, num: number, postings: readonly MergedPosting[]): void {
  const part = integerAt(connection.get("SELECT merged FROM recall_threads WHERE num = ?", num), "merged");
  writePart(connection, num, part, postings);
  connection.run("UPDATE recall_threads SET merged = ? WHERE num = ?", part + 1, num);
}

/** Rows by 16 blocks; of a long list one by block, and one that says so. */
function writePart(connection: Connection, num: number, part: number, postings: readonly MergedPosting[]): void {
  const insert = (block: number, { term, count, list }: MergedPosting) =>
    connection.run(
      "INSERT INTO recall_postings (num, block, term, count, list) VALUES (?, ?, ?, ?, ?)",
      ...[num, block, term, count, keptList(connection, term, list)],
    );
  for (const posting of postings) {
    const { term, count, list } = posting;
    const isLong = count > LONG_LIST;
    insert(-1 - part, isLong ? { term, count, list: "" } : posting);
    if (!isLong) continue;
    for (const [block, own] of listsByBlock(list, BLOCK_SIZE))
      insert(part * MERGED + block, { term, count: own.count, list: own.text() });
  }
}

/** The terms of an entry no longer name it. */
export function forgetPostings(connection: Connection, num: number, ordinal: number): void {
  const merged = -1 - Math.floor(ordinal / (BLOCK_SIZE * MERGED));
  for (const term of shorten(connection, num, Math.floor(ordinal / BLOCK_SIZE), ordinal % BLOCK_SIZE))
    connection.run(
      "UPDATE recall_postings SET count = count - 1 WHERE num = ? AND block = ? AND term = ? AND list = ''",
      ...[num, merged, term],
    );
  shorten(connection, num, merged, ordinal % (BLOCK_SIZE * MERGED));
  connection.run("DELETE FROM recall_postings WHERE num = ? AND block = ? AND count = 0", num, merged);
}

/** Takes an entry out of the lists of a block; the terms it had there. */
function shorten(connection: Connection, num: number, block: number, place: number): string[] {
  const rows = connection.all(
    `SELECT term, ${LIST} AS list FROM recall_postings p WHERE num = ? AND block = ?`,
    num,
    block,
  );
  return rows.flatMap((row) => {
    const [term, before] = [textAt(row, "term"), textAt(row, "list")];
    const list = withoutEntry(before, place, BLOCK_SIZE);
    if (list === before) return [];
    const own = "num = ? AND block = ? AND term = ?";
    forgetLists(connection, own, num, block, term);
    if (list === "") connection.run(`DELETE FROM recall_postings WHERE ${own}`, num, block, term);
    else
      connection.run(
        `UPDATE recall_postings SET list = ?, count = count - 1 WHERE ${own}`,
        ...[keptList(connection, term, list), num, block, term],
      );
    return [term];
  });
}

// How far the index of threads has come, and what of it belongs to a scope.

const SEGMENT = `t.id, t.num, t.base, t.base_seq, h.version, i.indexed, i.ordinal, i.session, i.at, i.entries, i.length, i.merged
  FROM threads t JOIN heads h USING (num) LEFT JOIN recall_threads i USING (num)`;

export function lineage(connection: UserConnection, threadId: string): IndexedSegment[] {
  const line: IndexedSegment[] = [];
  let through: number | null = null;
  let row = connection.get(`SELECT ${SEGMENT} WHERE t.user = ? AND t.id = ?`, connection.userId, threadId);
  while (row) {
    line.unshift(toSegment(connection, row, through));
    if (row["base"] === null) break;
    through = Math.min(through ?? Number.MAX_SAFE_INTEGER, integerAt(row, "base_seq"));
    row = connection.get(`SELECT ${SEGMENT} WHERE t.num = ?`, integerAt(row, "base"));
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
  const pool = integerAt(own, "num");
  const large = connection
    .all(`SELECT ${SEGMENT} WHERE t.num IN (SELECT num FROM recall_threads WHERE large = ?)`, pool)
    .map((row) => toSegment(connection, row, null));
  const slots = connection.get("SELECT min(first) AS first FROM recall_slots WHERE pool = ?", pool);
  const first = integerOrNull(slots, "first");
  const before = Math.ceil(integerAt(own, "next") / BLOCK_SIZE);
  const from = first === null ? before : Math.floor(first / BLOCK_SIZE);
  const blocks = Array.from({ length: before - from }, (_, at) => from + at);
  const times = connection.all(
    `SELECT b.value AS block, (SELECT i.at FROM recall_slots s JOIN recall_threads i USING (num)
       WHERE s.pool = ? AND s.first < (b.value + 1) * ${BLOCK_SIZE} ORDER BY s.first DESC LIMIT 1) AS at FROM json_each(?) b`,
    ...[pool, JSON.stringify(blocks)],
  );
  return {
    entries: integerAt(own, "entries"),
    length: integerAt(own, "length"),
    from,
    before,
    times: new Map(times.map((row) => [integerAt(row, "block"), textOrNull(row, "at") ?? ""])),
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
  const threads = rows.map((row) => ({ userId: textAt(row, "user"), threadId: textAt(row, "id") }));
  return { threads, next: more ? String(after + LATE_PAGE) : null };
}

function toSegment(connection: Connection, row: SqliteRow, through: number | null): IndexedSegment {
  const ordinal = integerOrNull(row, "ordinal");
  const slots = slotsOf(connection, textAt(row, "id"), integerAt(row, "num"));
  return {
    threadId: textAt(row, "id"),
    through: through ?? integerAt(row, "version"),
    cut: through === null ? null : (entryUpTo(connection, integerAt(row, "num"), through)?.ordinal ?? -1),
    indexed: integerOrNull(row, "indexed") ?? integerAt(row, "base_seq"),
    newest: ordinal === null ? null : { ordinal, session: integerAt(row, "session"), at: textAt(row, "at") },
    entries: integerOrNull(row, "entries") ?? 0,
    length: integerOrNull(row, "length") ?? 0,
    merged: (integerOrNull(row, "merged") ?? 0) * MERGED,
    ...(slots.length > 0 && { slots }),
  };
}
