/** The search index's rows in SQLite. Terms travel as JSON, so that a question of any length is one bound value. */
import { listOfBlock, listsByBlock, readPostings } from "../posting-text.ts";
import {
  type IndexBatch,
  type OrdinalRange,
  POOL,
  type Posting,
  type PostingCount,
  type PostingPlace,
  packRest,
  type SearchEntry,
  type SearchTables,
  type Span,
  type StoredVector,
  unpackEntries,
  type VectorBatch,
  type VectorTable,
} from "../search-tables.ts";
import type { Connection } from "./connection.ts";
import { entryUpTo } from "./entries.ts";
import {
  addPostings,
  BLOCK_SIZE,
  forgetLists,
  forgetPlaces,
  forgetPostings,
  forgetSlots,
  holdsSlots,
  LIST,
  late,
  lineage,
  MERGED,
  mergeBlocks,
  ofUser,
  placeInPool,
  poolNumber,
  postingPool,
  SHORT_LIST,
  userIndex,
  writeNextPart,
} from "./posting-pool.ts";
import {
  bytesAt,
  findThread,
  integerAt,
  integerOrNull,
  markLate,
  NUM,
  textAt,
  textOrNull,
  type UserConnection,
} from "./rows.ts";

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
    user: () => read(() => userIndex(connection)),
    pool: postingPool(connection, write, forgetWords),
    late: (records, after) => guard(() => late(connection, records, Number(after ?? 0))),
    write: (threadId, batch) => write(() => writeBatch(connection, threadId, batch)),
    clear: (threadId) =>
      write(() => {
        const row = findThread(connection, threadId);
        if (!row) return;
        forgetIndex(connection, row.num);
        markLate(connection, row.num);
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
        return { entries: integerAt(row, "entries"), length: integerAt(row, "length") };
      }),
    entries: (ranges) => guard(() => entries(connection, ranges)),
    vectors: vectorTable(connection),
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
  if (!holdsSlots(connection, num, batch)) return "conflict";
  for (const entry of batch.entries)
    connection.run(
      "INSERT INTO recall_entries (num, ordinal, seq, length, packed) VALUES (?, ?, ?, ?, ?)",
      ...[num, entry.ordinal, entry.seq, entry.length, packRest(entry)],
    );
  const pool = poolNumber(connection, connection.userId);
  const { newest, slots } = batch;
  addPostings(connection, slots === undefined ? num : pool, batch.postings);
  const isOwn = slots === undefined && batch.entries.length > 0;
  const length = batch.entries.reduce((sum, entry) => sum + entry.length, 0);
  connection.run(
    `INSERT INTO recall_threads (num, indexed, ordinal, session, at, large, entries, length)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (num) DO UPDATE SET indexed = excluded.indexed, ordinal = excluded.ordinal, session = excluded.session,
       at = excluded.at, large = coalesce(excluded.large, large), entries = entries + excluded.entries, length = length + excluded.length`,
    ...[num, batch.indexed, newest?.ordinal ?? null, newest?.session ?? null, newest?.at ?? null],
    ...[isOwn ? pool : null, batch.entries.length, length],
  );
  addTotals(connection, num, batch.entries.length, length);
  connection.run(
    "DELETE FROM recall_late WHERE user = ? AND num = ? AND ? >= (SELECT version FROM heads WHERE num = ?)",
    ...[connection.userId, num, batch.indexed, num],
  );
  if (batch.part !== undefined) writeNextPart(connection, num, batch.part);
  return "written";
}

/** What is known of all threads of the user. */
function addTotals(connection: Connection, num: number, entries: number, length: number): void {
  connection.run(
    `UPDATE recall_users SET entries = entries + ?, length = length + ?
     WHERE user = (SELECT user FROM threads WHERE num = ?)`,
    ...[entries, length, num],
  );
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
  return spans.flatMap(({ threadId, from = 0, before }) => {
    const thread = connection.get(threadId === POOL ? POOL_ROW : THREAD_ROW, ...namesOf(connection, threadId));
    if (!thread) return [];
    const parts = Math.min(integerAt(thread, "merged"), Math.ceil(before / MERGED));
    const first = Math.max(from, parts * MERGED);
    const single = Array.from({ length: Math.max(0, before - first) }, (_, at) => first + at);
    // Of blocks that are being merged a term stands in the part already, or still in its blocks.
    const next = -1 - integerAt(thread, "merged");
    const blocks = [
      ...Array.from({ length: parts }, (_, part) => -1 - part),
      ...(single.length > 0 ? [next] : []),
      ...single,
    ];
    const list = lists === "all" ? LIST : `iif(p.block = ?, ${LIST}, ${SHORT_LIST})`;
    const rows = connection.all(
      `SELECT t.key AS term, p.block, p.count, ${list} AS list, octet_length(p.list) = 0 AS split
       FROM json_each(?) b CROSS JOIN json_each(?) t
       CROSS JOIN recall_postings p ON p.num = ? AND p.block = b.value AND p.term = t.value`,
      ...[...(lists === "all" ? [] : [next]), JSON.stringify(blocks), asked, integerAt(thread, "num")],
    );
    return rows.flatMap((row): (PostingCount | Posting)[] => {
      const term = terms[integerAt(row, "term")]!;
      const [block, width] = toBlocks(integerAt(row, "block"));
      if (row["block"] === next)
        return [...listsByBlock(textAt(row, "list"), BLOCK_SIZE)]
          .map(([at, own]) => ({ threadId, term, block: block + at, blocks: 1, count: own.count, list: own.text() }))
          .filter((one) => single.includes(one.block));
      const counted = { threadId, term, block, blocks: width, count: integerAt(row, "count") };
      const split = row["split"] === 1;
      const isHere = !split && row["list"] !== null;
      return [isHere ? { ...counted, split, list: textAt(row, "list") } : { ...counted, split }];
    });
  });
}

/** The pool's blocks aren't merged: threads may still get places in each of them. */
const POOL_ROW = "SELECT num, 0 AS merged FROM recall_users WHERE user = ?";
const THREAD_ROW = "SELECT num, merged FROM threads JOIN recall_threads USING (num) WHERE user = ? AND id = ?";

function namesOf({ userId }: UserConnection, threadId: string): string[] {
  return threadId === POOL ? [userId] : [userId, threadId];
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
  const numbers = new Map<string, number>();
  for (const { threadId } of places) {
    if (numbers.has(threadId)) continue;
    const sql = `SELECT num FROM ${threadId === POOL ? "recall_users WHERE user = ?" : "threads WHERE user = ? AND id = ?"}`;
    numbers.set(threadId, integerOrNull(connection.get(sql, ...namesOf(connection, threadId)), "num") ?? 0);
  }
  const rows = connection.all(
    `SELECT a.key AS place, p.count, ${LIST} AS list
     FROM json_each(?) a
     CROSS JOIN recall_postings p ON p.num = a.value ->> 0 AND p.block = a.value ->> 1 AND p.term = a.value ->> 2`,
    JSON.stringify(places.map((place) => [numbers.get(place.threadId), rowOf(place), place.term])),
  );
  return rows.map((row) => {
    const { threadId, term, block, blocks } = places[integerAt(row, "place")]!;
    return {
      threadId,
      term,
      block,
      blocks,
      count: integerAt(row, "count"),
      list: textAt(row, "list"),
    };
  });
}

function entries(connection: UserConnection, ranges: readonly OrdinalRange[]): SearchEntry[] {
  const rows = connection.all(
    `SELECT t.id, (SELECT group_concat(${ENTRY}) FROM json_each(o.value ->> 1) r CROSS JOIN recall_entries e
       ON e.num = t.num AND e.ordinal BETWEEN r.value ->> 0 AND r.value ->> 1) AS packed
     FROM json_each(?) o CROSS JOIN threads t ON t.user = ? AND t.id = o.value ->> 0`,
    JSON.stringify(
      [...Map.groupBy(ranges, ({ threadId }) => threadId)].map(([threadId, own]) => [
        threadId,
        own.map(({ first, last }) => [first, last]),
      ]),
    ),
    connection.userId,
  );
  return rows.flatMap((row) => unpackEntries(textAt(row, "id"), textOrNull(row, "packed") ?? ""));
}

/** What its columns don't say is digits, or a list without its brackets. The oldest rows hold all of their entry, as an array. */
const ENTRY = `iif(e.packed LIKE '[%', e.packed, '[' || e.ordinal || ',' || e.seq || ',' || e.length ||
  iif(instr(e.packed, ','), ',[' || e.packed || ']]', ',"' || e.packed || '"]'))`;

/** Everything the index knows of a thread. */
export function forgetIndex(connection: Connection, num: number): void {
  forgetWords(connection, num);
  for (const table of ["embedders", "vectors"]) connection.run(`DELETE FROM recall_${table} WHERE num = ?`, num);
}

function forgetWords(connection: Connection, num: number): void {
  const totals = connection.get("SELECT entries, length FROM recall_threads WHERE num = ?", num);
  if (totals) addTotals(connection, num, -integerAt(totals, "entries"), -integerAt(totals, "length"));
  forgetSlots(connection, num);
  forgetLists(connection, "num = ?", num);
  for (const table of ["threads", "entries", "postings"])
    connection.run(`DELETE FROM recall_${table} WHERE num = ?`, num);
}

/** The words of an erased message leave the index with it. */
export function forgetEntry(connection: Connection, num: number, seq: number): void {
  const entry = entryUpTo(connection, num, seq);
  if (entry?.seq !== seq) return;
  const { ordinal, length } = entry;
  connection.run("DELETE FROM recall_entries WHERE num = ? AND ordinal = ?", num, ordinal);
  connection.run("DELETE FROM recall_vectors WHERE num = ? AND seq = ?", num, seq);
  const pooled = placeInPool(connection, num, ordinal);
  if (pooled === null) forgetPostings(connection, num, ordinal);
  else forgetPlaces(connection, pooled.pool, pooled.place, pooled.place);
  connection.run("UPDATE recall_threads SET entries = entries - 1, length = length - ? WHERE num = ?", length, num);
  addTotals(connection, num, -1, -length);
}

// Vectors of indexed messages in SQLite: one embedder for each thread, a blob for each message.

function vectorTable(connection: UserConnection): VectorTable {
  const { guard, userId } = connection;
  return {
    pending: (threadId, { model, dimension }, limit) =>
      guard(() => {
        const state = connection.get(`SELECT * FROM recall_embedders WHERE num = ${NUM}`, userId, threadId);
        const same = state?.["model"] === model && (dimension === undefined || state["dimension"] === dimension);
        const through = same ? integerAt(state, "through") : 0;
        const num = findThread(connection, threadId)?.num ?? -1;
        const after = entryUpTo(connection, num, through)?.ordinal ?? -1;
        const rows = connection.all(
          "SELECT seq FROM recall_entries WHERE num = ? AND ordinal > ? ORDER BY ordinal LIMIT ?",
          ...[num, after, limit],
        );
        return { through, seqs: rows.map((row) => integerAt(row, "seq")) };
      }),
    // Derived: what a power cut takes of it is made again.
    write: (threadId, batch) =>
      guard(() =>
        connection.unhurried(() => connection.transaction("IMMEDIATE", () => write(connection, threadId, batch))),
      ),
    read: ({ model, dimension }, places) =>
      guard(() => {
        const rows = connection.all(
          `SELECT t.id, v.seq, v.vector FROM json_each(?) p CROSS JOIN threads t ON t.user = ? AND t.id = p.value ->> 0
           JOIN recall_embedders e ON e.num = t.num AND e.model = ? AND e.dimension = ?
           JOIN recall_vectors v ON v.num = t.num AND v.seq = p.value ->> 1`,
          ...[JSON.stringify(places.map(({ threadId, seq }) => [threadId, seq])), userId, model, dimension!],
        );
        return rows.map((row): StoredVector => {
          const vector = new Int8Array(bytesAt(row, "vector"));
          return { threadId: textAt(row, "id"), seq: integerAt(row, "seq"), vector };
        });
      }),
  };
}

function write(
  connection: UserConnection,
  threadId: string,
  { embedder, expect, through, vectors }: VectorBatch,
): "written" | "conflict" | "missing" {
  const num = findThread(connection, threadId)?.num;
  if (num === undefined) return "missing";
  const state = connection.get("SELECT * FROM recall_embedders WHERE num = ?", num);
  const same = state?.["model"] === embedder.model && state["dimension"] === embedder.dimension;
  if (expect !== (same ? state["through"] : 0)) return "conflict";
  if (!same) connection.run("DELETE FROM recall_vectors WHERE num = ?", num);
  connection.run(
    "INSERT OR REPLACE INTO recall_embedders (num, model, dimension, through) VALUES (?, ?, ?, ?)",
    ...[num, embedder.model, embedder.dimension!, through],
  );
  for (const { seq, vector } of vectors) {
    if (entryUpTo(connection, num, seq)?.seq !== seq) continue;
    connection.run(
      "INSERT OR REPLACE INTO recall_vectors (num, seq, vector) VALUES (?, ?, ?)",
      ...[num, seq, new Uint8Array(vector.buffer, vector.byteOffset, vector.length)],
    );
  }
  return "written";
}
