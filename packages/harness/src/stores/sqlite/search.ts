/** The search index's rows in SQLite. Terms travel as JSON, so that a question of any length is one bound value. */

import { listOfBlock, readPostings } from "../posting-text.ts";
import type {
  IndexBatch,
  IndexedSegment,
  LateThreads,
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
import { entryUpTo } from "./entries.ts";
import {
  addPostings,
  BLOCK_SIZE,
  forgetLists,
  forgetPostings,
  LIST,
  MERGED,
  mergeBlocks,
  SHORT_LIST,
  writeNextPart,
} from "./postings.ts";
import { findThread, NUM, type UserConnection } from "./rows.ts";
import { vectorTable } from "./vectors.ts";

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
      by: "filler",
      merge: (threadId) => write(() => mergeBlocks(connection, threadId)),
      counts: (spans, terms, lists) => {
        if (lists === "short") connection.map();
        return read(() => counts(connection, spans, terms, lists));
      },
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
    cut: through === null ? null : (entryUpTo(connection, row["num"] as number, through)?.ordinal ?? -1),
    indexed: (row["indexed"] ?? row["base_seq"]) as number,
    newest: ordinal == null ? null : { ordinal: ordinal as number, session: session as number, at: at as string },
    entries: (row["entries"] ?? 0) as number,
    length: (row["length"] ?? 0) as number,
    merged: ((row["merged"] ?? 0) as number) * MERGED,
  };
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
  if (batch.part !== undefined) writeNextPart(connection, num, batch.part);
  return "written";
}

/** What was read before a redaction must not be written after it. */
function erasedMeanwhile(connection: Connection, num: number, { entries }: IndexBatch): boolean {
  const sql = `SELECT 1 FROM records
    WHERE num = ? AND seq IN (SELECT value FROM json_each(?)) AND redacted = 1 LIMIT 1`;
  return connection.get(sql, num, JSON.stringify(entries.map(({ seq }) => seq))) !== undefined;
}

function counts(
  connection: UserConnection,
  spans: readonly Span[],
  terms: readonly string[],
  lists: "short" | "all",
): (PostingCount | Posting)[] {
  const asked = JSON.stringify(terms);
  return spans.flatMap(({ threadId, before }) => {
    const thread = connection.get(
      "SELECT num, merged FROM threads JOIN recall_threads USING (num) WHERE user = ? AND id = ?",
      ...[connection.userId, threadId],
    );
    if (!thread) return [];
    const parts = Math.min(thread["merged"] as number, Math.ceil(before / MERGED));
    const single = Array.from({ length: Math.max(0, before - parts * MERGED) }, (_, at) => parts * MERGED + at);
    const blocks = [...Array.from({ length: parts }, (_, part) => -1 - part), ...single];
    const rows = connection.all(
      `SELECT t.key AS term, p.block, p.count, ${lists === "all" ? LIST : SHORT_LIST} AS list, octet_length(p.list) = 0 AS split
       FROM json_each(?) b CROSS JOIN json_each(?) t
       CROSS JOIN recall_postings p ON p.num = ? AND p.block = b.value AND p.term = t.value`,
      ...[JSON.stringify(blocks), asked, thread["num"] as number],
    );
    return rows.map((row) => {
      const [block, width] = toBlocks(row["block"] as number);
      const split = row["split"] === 1;
      return {
        threadId,
        term: terms[row["term"] as number]!,
        block,
        blocks: width,
        count: row["count"] as number,
        split,
        ...(!split && row["list"] !== null && { list: row["list"] as string }),
      };
    });
  });
}

/** Merged rows stand under negative numbers: what is read together lies together here, too. */
function toBlocks(block: number): [block: number, blocks: number] {
  return block < 0 ? [(-1 - block) * MERGED, MERGED] : [block, 1];
}

function postings(connection: UserConnection, spans: readonly Span[], terms: readonly string[]): Posting[] {
  const places = counts(connection, spans, terms, "short").flatMap(({ threadId, term, block, blocks }) =>
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
  const list = listOfBlock(row.list, block, BLOCK_SIZE);
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
    `SELECT a.key AS place, p.count, ${LIST} AS list
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

/** What its columns don't say is digits, or a list without its brackets. The oldest rows hold all of their entry, as an array. */
const ENTRY = `iif(e.packed LIKE '[%', e.packed, '[' || e.ordinal || ',' || e.seq || ',' || e.length ||
  iif(instr(e.packed, ','), ',[' || e.packed || ']]', ',"' || e.packed || '"]'))`;

/** Everything the index knows of a thread. */
export function forgetIndex(connection: Connection, num: number): void {
  forgetLists(connection, "num = ?", num);
  for (const table of ["threads", "entries", "postings", "embedders", "vectors"])
    connection.run(`DELETE FROM recall_${table} WHERE num = ?`, num);
}

/** The words of an erased message leave the index with it. */
export function forgetEntry(connection: Connection, num: number, seq: number): void {
  const entry = entryUpTo(connection, num, seq);
  if (entry?.seq !== seq) return;
  const { ordinal, length } = entry;
  connection.run("DELETE FROM recall_entries WHERE num = ? AND ordinal = ?", num, ordinal);
  connection.run("DELETE FROM recall_vectors WHERE num = ? AND seq = ?", num, seq);
  forgetPostings(connection, num, ordinal);
  connection.run("UPDATE recall_threads SET entries = entries - 1, length = length - ? WHERE num = ?", length, num);
}
