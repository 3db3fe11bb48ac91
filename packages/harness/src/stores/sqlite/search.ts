/** The search index's rows in SQLite. Terms travel as JSON, so that a question of any length is one bound value. */

import { blockMark, listOfBlock, readPostings, withoutEntry } from "../posting-text.ts";
import type {
  IndexBatch,
  IndexedSegment,
  LateThreads,
  NewPosting,
  OrdinalRange,
  Posting,
  PostingCount,
  PostingPlace,
  SearchEntry,
  SearchTables,
  Span,
} from "../search-tables.ts";
import { packRest, unpackEntries } from "../search-tables.ts";
import type { Connection, Row } from "./connection.ts";
import { findThread, NUM, type UserConnection } from "./rows.ts";
import { vectorTable } from "./vectors.ts";

/** 1.9 kB are written for a message of 20 words; with blocks of 4,096 it would be 4.5. */
const BLOCK_SIZE = 1024;
/** Blocks that are full become one: a long thread has fewer rows to read and to keep. */
const MERGED = 16;
/** Of a term with more than that in them the lists stay apart: what is sought is seldom in all of them. */
const LONG_LIST = 1024;

export function searchTables(connection: UserConnection): SearchTables {
  const { guard } = connection;
  // Derived: what a power cut takes of it is made again from the log.
  const write = <T>(work: () => T) =>
    guard(() => connection.unhurried(() => connection.transaction("IMMEDIATE", work)));
  // Two tables must be seen at one moment: another process may be merging.
  const read = <T>(work: () => T) => guard(() => connection.transaction("DEFERRED", work));
  return {
    blockSize: BLOCK_SIZE,
    lineage: (threadId) => guard(() => lineage(connection, threadId)),
    ofUser: () => guard(() => ofUser(connection)),
    late: (records, after) => guard(() => late(connection, records, after ?? 0)),
    write: (threadId, batch) => write(() => writeBatch(connection, threadId, batch)),
    clear: (threadId) =>
      write(() => {
        const row = findThread(connection, threadId);
        if (row) forgetIndex(connection, row.num);
      }),
    merging: {
      blocks: MERGED,
      merge: (threadId) => write(() => mergeBlocks(connection, threadId)),
      counts: (spans, terms, lists) => read(() => counts(connection, spans, terms, lists)),
      lists: (places) => read(() => lists(connection, places)),
    },
    postings: (spans, terms) => read(() => postings(connection, spans, terms)),
    totals: (threadId, through) =>
      guard(() => {
        const row = connection.get(
          `SELECT count(*) AS entries, coalesce(sum(length), 0) AS length FROM recall_entries
           WHERE num = ${NUM} AND ordinal <= ?`,
          connection.userId,
          threadId,
          through,
        )!;
        return { entries: row["entries"] as number, length: row["length"] as number };
      }),
    entries: (ranges) => guard(() => entries(connection, ranges)),
    vectors: vectorTable(connection),
  };
}

const SEGMENT = `t.id, t.num, t.base, t.base_seq, h.version, i.indexed, i.ordinal, i.session, i.at, i.entries, i.length, i.merged
  FROM threads t JOIN heads h USING (num) LEFT JOIN recall_threads i USING (num)`;

function lineage(connection: UserConnection, threadId: string): IndexedSegment[] {
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

function ofUser(connection: UserConnection): IndexedSegment[] {
  const rows = connection.all(`SELECT ${SEGMENT} WHERE t.user = ?`, connection.userId);
  return rows.map((row) => toSegment(connection, row, null));
}

/** Threads that are looked at in one go. */
const LATE_PAGE = 4096;

function late(connection: Connection, records: number, after: number): LateThreads {
  const rows = connection.all(
    `SELECT t.user, t.id FROM threads t JOIN heads h USING (num) LEFT JOIN recall_threads i USING (num)
     WHERE t.num > ? AND t.num <= ? AND h.version - coalesce(i.indexed, t.base_seq) >= ? ORDER BY t.num`,
    ...[after, after + LATE_PAGE, records],
  );
  const more = connection.get("SELECT 1 FROM threads WHERE num > ? LIMIT 1", after + LATE_PAGE) !== undefined;
  const threads = rows.map((row) => ({ userId: row["user"] as string, threadId: row["id"] as string }));
  return { threads, next: more ? after + LATE_PAGE : null };
}

function toSegment(connection: Connection, row: Row, through: number | null): IndexedSegment {
  const { at, ordinal, session } = row;
  return {
    threadId: row["id"] as string,
    through: through ?? (row["version"] as number),
    cut: through === null ? null : cutAt(connection, row["num"] as number, through),
    indexed: (row["indexed"] ?? row["base_seq"]) as number,
    newest: ordinal == null ? null : { ordinal: ordinal as number, session: session as number, at: at as string },
    entries: (row["entries"] ?? 0) as number,
    length: (row["length"] ?? 0) as number,
    merged: ((row["merged"] ?? 0) as number) * MERGED,
  };
}

function cutAt(connection: Connection, num: number, seq: number): number {
  const sql = "SELECT ordinal FROM recall_entries WHERE num = ? AND seq <= ? ORDER BY seq DESC LIMIT 1";
  return (connection.get(sql, num, seq)?.["ordinal"] ?? -1) as number;
}

function writeBatch(
  connection: UserConnection,
  threadId: string,
  batch: IndexBatch,
): "written" | "conflict" | "missing" {
  const row = findThread(connection, threadId);
  if (!row) return "missing";
  const { num } = row;
  const stands = connection.get("SELECT indexed FROM recall_threads WHERE num = ?", num)?.["indexed"] ?? row.baseSeq;
  if (stands !== batch.expect || erasedMeanwhile(connection, num, batch)) return "conflict";
  for (const entry of batch.entries)
    connection.run(
      "INSERT INTO recall_entries (num, ordinal, seq, length, packed) VALUES (?, ?, ?, ?, ?)",
      ...[num, entry.ordinal, entry.seq, entry.length, packRest(entry)],
    );
  addPostings(connection, num, batch.postings);
  const { newest } = batch;
  connection.run(
    `INSERT INTO recall_threads (num, indexed, ordinal, session, at, entries, length) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (num) DO UPDATE SET indexed = excluded.indexed, ordinal = excluded.ordinal, session = excluded.session,
       at = excluded.at, entries = entries + excluded.entries, length = length + excluded.length`,
    ...[num, batch.indexed, newest?.ordinal ?? null, newest?.session ?? null, newest?.at ?? null],
    batch.entries.length,
    batch.entries.reduce((sum, entry) => sum + entry.length, 0),
  );
  return "written";
}

/** What was read before a redaction must not be written after it. */
function erasedMeanwhile(connection: Connection, num: number, { entries }: IndexBatch): boolean {
  const sql = `SELECT 1 FROM records
    WHERE num = ? AND seq IN (SELECT value FROM json_each(?)) AND redacted = 1 LIMIT 1`;
  return connection.get(sql, num, JSON.stringify(entries.map(({ seq }) => seq))) !== undefined;
}

function addPostings(connection: Connection, num: number, postings: readonly NewPosting[]): void {
  for (const { term, block, count, list } of postings)
    connection.run(
      `INSERT INTO recall_postings (num, block, term, count, list) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET count = count + excluded.count, list = list || excluded.list`,
      ...[num, block, term, count, list],
    );
}

function counts(
  connection: UserConnection,
  spans: readonly Span[],
  terms: readonly string[],
  lists?: "with-lists",
): (PostingCount | Posting)[] {
  const blocks = spans.flatMap(({ threadId, before }) => {
    const parts = Math.min(mergedParts(connection, threadId), Math.ceil(before / MERGED));
    const single = Array.from({ length: Math.max(0, before - parts * MERGED) }, (_, at) => parts * MERGED + at);
    return [...Array.from({ length: parts }, (_, part) => -1 - part), ...single].map((block) => [threadId, block]);
  });
  const rows = connection.all(
    `SELECT h.id, p.term, p.block, p.count, ${lists ? "p.list" : "NULL AS list"}, octet_length(p.list) = 0 AS split
     FROM json_each(?) b CROSS JOIN threads h ON h.user = ? AND h.id = b.value ->> 0
     CROSS JOIN json_each(?) t CROSS JOIN recall_postings p
     ON p.num = h.num AND p.block = b.value ->> 1 AND p.term = t.value`,
    ...[JSON.stringify(blocks), connection.userId, JSON.stringify(terms)],
  );
  return rows.map((row) => {
    const [block, blocks] = toBlocks(row["block"] as number);
    const split = row["split"] === 1;
    return {
      threadId: row["id"] as string,
      term: row["term"] as string,
      block,
      blocks,
      count: row["count"] as number,
      split,
      ...(lists && !split && { list: row["list"] as string }),
    };
  });
}

/** Merged rows stand under negative numbers: what is read together lies together here, too. */
function toBlocks(block: number): [block: number, blocks: number] {
  return block < 0 ? [(-1 - block) * MERGED, MERGED] : [block, 1];
}

function mergedParts(connection: UserConnection, threadId: string): number {
  const sql = `SELECT merged FROM recall_threads WHERE num = ${NUM}`;
  return (connection.get(sql, connection.userId, threadId)?.["merged"] ?? 0) as number;
}

function postings(connection: UserConnection, spans: readonly Span[], terms: readonly string[]): Posting[] {
  const places = counts(connection, spans, terms).flatMap(({ threadId, term, block, blocks }) =>
    Array.from({ length: blocks }, (_, at) => ({ threadId, term, block: block + at, blocks: 1 })),
  );
  return lists(connection, places).filter(({ count }) => count > 0);
}

function lists(connection: UserConnection, places: readonly PostingPlace[]): Posting[] {
  const rows = listsAt(connection, places, ({ block, blocks }) => (blocks > 1 ? -1 - block / MERGED : block));
  if (rows.length === places.length) return rows;
  // A block that is merged, perhaps since it was counted, has its own part of what it went into.
  const key = ({ threadId, term, block }: PostingPlace) => `${block} ${term} ${threadId}`;
  const there = new Set(rows.map(key));
  const moved = places.filter((place) => place.blocks === 1 && !there.has(key(place)));
  const merged = listsAt(connection, moved, ({ block }) => -1 - Math.floor(block / MERGED));
  return [...rows, ...merged.map((row) => onlyBlock(row, row.block % MERGED))];
}

function onlyBlock(row: Posting, block: number): Posting {
  const list = listOfBlock(row.list, block);
  let count = 0;
  readPostings(list, BLOCK_SIZE, () => {
    count += 1;
  });
  return { ...row, count, list };
}

function listsAt(
  connection: UserConnection,
  places: readonly PostingPlace[],
  rowOf: (place: PostingPlace) => number,
): Posting[] {
  const rows = connection.all(
    `SELECT a.key AS place, p.count, p.list
     FROM json_each(?) a CROSS JOIN threads h ON h.user = ? AND h.id = a.value ->> 0
     CROSS JOIN recall_postings p ON p.num = h.num AND p.block = a.value ->> 1 AND p.term = a.value ->> 2`,
    ...[JSON.stringify(places.map((place) => [place.threadId, rowOf(place), place.term])), connection.userId],
  );
  return rows.map((row) => {
    const { threadId, term, block, blocks } = places[row["place"] as number]!;
    return {
      threadId,
      term,
      block,
      blocks,
      count: row["count"] as number,
      list: row["list"] as string,
    };
  });
}

function mergeBlocks(connection: UserConnection, threadId: string): "merged" | "nothing" {
  const sql = `SELECT num, merged, ordinal FROM recall_threads WHERE num = ${NUM}`;
  const row = connection.get(sql, connection.userId, threadId);
  if (!row) return "nothing";
  const [num, part] = [row["num"] as number, row["merged"] as number];
  const [first, last] = [part * MERGED, (part + 1) * MERGED - 1];
  // Ordinals only rise, so a block is done when a later one has begun.
  if (Math.floor(((row["ordinal"] ?? 0) as number) / BLOCK_SIZE) <= last) return "nothing";
  connection.run(
    `INSERT INTO recall_postings (num, block, term, count, list)
     SELECT num, ?, term, sum(count), iif(sum(length(list)) > ${LONG_LIST}, '',
       group_concat(substr(?, 2 * (block - ?) + 1, 2) || list, '' ORDER BY block))
     FROM recall_postings WHERE num = ? AND block BETWEEN ? AND ? GROUP BY term`,
    ...[-1 - part, MARKS, first, num, first, last],
  );
  connection.run(
    `DELETE FROM recall_postings WHERE num = ? AND block BETWEEN ? AND ?
     AND term NOT IN (SELECT term FROM recall_postings WHERE num = ? AND block = ? AND list = '')`,
    ...[num, first, last, num, -1 - part],
  );
  connection.run("UPDATE recall_threads SET merged = ? WHERE num = ?", part + 1, num);
  return "merged";
}

const MARKS = Array.from({ length: MERGED }, (_, block) => blockMark(block)).join("");

function entries(connection: UserConnection, ranges: readonly OrdinalRange[]): SearchEntry[] {
  return [...Map.groupBy(ranges, ({ threadId }) => threadId)].flatMap(([threadId, own]) => {
    const row = connection.get(
      `SELECT group_concat(${ENTRY}) AS packed FROM json_each(?) o CROSS JOIN recall_entries e
       ON e.num = ${NUM} AND e.ordinal BETWEEN o.value ->> 0 AND o.value ->> 1`,
      JSON.stringify(own.map(({ first, last }) => [first, last])),
      ...[connection.userId, threadId],
    );
    return unpackEntries(threadId, (row!["packed"] ?? "") as string);
  });
}

/** A row of before holds all of its entry, as an array. */
const ENTRY = `iif(e.packed LIKE '[%', e.packed,
  '[' || e.ordinal || ',' || e.seq || ',' || e.length || ',[' || e.packed || ']]')`;

/** Everything the index knows of a thread. */
export function forgetIndex(connection: Connection, num: number): void {
  for (const table of ["threads", "entries", "postings", "embedders", "vectors"])
    connection.run(`DELETE FROM recall_${table} WHERE num = ?`, num);
}

/** The words of an erased message leave the index with it. */
export function forgetEntry(connection: Connection, num: number, seq: number): void {
  const entry = connection.get("SELECT ordinal, length FROM recall_entries WHERE num = ? AND seq = ?", num, seq);
  if (!entry) return;
  const ordinal = entry["ordinal"] as number;
  const merged = -1 - Math.floor(ordinal / (BLOCK_SIZE * MERGED));
  for (const table of ["entries", "vectors"])
    connection.run(`DELETE FROM recall_${table} WHERE num = ? AND seq = ?`, num, seq);
  for (const term of shorten(connection, num, Math.floor(ordinal / BLOCK_SIZE), ordinal % BLOCK_SIZE))
    connection.run(
      "UPDATE recall_postings SET count = count - 1 WHERE num = ? AND block = ? AND term = ? AND list = ''",
      ...[num, merged, term],
    );
  shorten(connection, num, merged, ordinal % (BLOCK_SIZE * MERGED));
  connection.run("DELETE FROM recall_postings WHERE num = ? AND block = ? AND count = 0", num, merged);
  connection.run(
    "UPDATE recall_threads SET entries = entries - 1, length = length - ? WHERE num = ?",
    entry["length"] as number,
    num,
  );
}

/** Takes an entry out of the lists of a block; the terms it had there. */
function shorten(connection: Connection, num: number, block: number, place: number): string[] {
  const rows = connection.all("SELECT term, list FROM recall_postings WHERE num = ? AND block = ?", num, block);
  return rows.flatMap((row) => {
    const [term, before] = [row["term"] as string, row["list"] as string];
    const list = withoutEntry(before, place, BLOCK_SIZE);
    if (list === before) return [];
    const sql =
      list === ""
        ? "DELETE FROM recall_postings WHERE ? = '' AND num = ? AND block = ? AND term = ?"
        : "UPDATE recall_postings SET list = ?, count = count - 1 WHERE num = ? AND block = ? AND term = ?";
    connection.run(sql, list, num, block, term);
    return [term];
  });
}
