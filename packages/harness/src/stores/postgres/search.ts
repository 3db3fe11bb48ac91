/**
 * The search index's rows in PostgreSQL. Every method is one round trip or one transaction, whatever the number of
 * threads: lists travel as arrays.
 */
import type { QueryResultRow } from "pg";
import { withoutEntry } from "../posting-text.ts";
import {
  type IndexBatch,
  type IndexedSegment,
  type NewPosting,
  packEntry,
  type SearchTables,
  unpackEntries,
} from "../search-tables.ts";
import type { Query } from "./connection.ts";
import { lineage, NAMED, numOf, type ThreadName, type UserConnection } from "./lineage.ts";
import { BLOCK_SIZE, blockMerging, mergedBlocks, singlePostings } from "./merged-blocks.ts";
import { vectorTable } from "./vectors.ts";

export function searchTables(connection: UserConnection): SearchTables {
  const { schema, run, transaction, userId } = connection;
  const rows = <R extends QueryResultRow>(sql: string, ...values: unknown[]) => run((query) => query<R>(sql, values));
  return {
    blockSize: BLOCK_SIZE,
    async lineage(threadId) {
      // Most threads are no forks, and planning the walk through a lineage takes longer than reading one row.
      const [own] = await rows<SegmentRow & { base: number | null }>(`${WHOLE(schema)} WHERE ${NAMED}`, [
        userId,
        threadId,
      ]);
      if (!own) return [];
      if (own.base === null) return [toSegment(own)];
      const sql = `${lineage(schema)} SELECT ${SEGMENT}, line.through AS line_through, line.depth,
          CASE WHEN line.depth > 0 THEN coalesce((SELECT e.ordinal FROM ${schema}.recall_entries e
            WHERE e.thread = t.num AND e.seq <= line.through ORDER BY e.seq DESC LIMIT 1), -1) END AS cut
        FROM line JOIN ${schema}.threads t ON t.num = line.thread ${STATE(schema)}`;
      const line = await rows<SegmentRow>(sql, [userId, threadId]);
      return line.sort((a, b) => b.depth! - a.depth!).map(toSegment);
    },
    async ofUser() {
      return (await rows<SegmentRow>(`${WHOLE(schema)} WHERE t.owner = $1`, userId)).map(toSegment);
    },
    async late(records, after) {
      const sql = `SELECT t.num, t.owner AS "userId", t.id AS "threadId" FROM ${schema}.threads t ${STATE(schema)}
        WHERE t.num > $1 AND t.version - coalesce(i.indexed, t.base_at) >= $2 ORDER BY t.num LIMIT ${LATE_PAGE}`;
      const page = await rows<{ num: number; userId: string; threadId: string }>(sql, after ?? 0, records);
      const threads = page.map(({ userId: owner, threadId }) => ({ userId: owner, threadId }));
      return { threads, next: page.length < LATE_PAGE ? null : page.at(-1)!.num };
    },
    write: (threadId, batch) => transaction((query) => writeBatch(query, schema, [userId, threadId], batch)),
    clear: (threadId) =>
      transaction(async (query) => {
        const [row] = await query<{ num: number }>(`SELECT num FROM ${schema}.threads WHERE ${NAMED}`, [
          [userId, threadId],
        ]);
        if (row) await forgetIndex(query, schema, row.num);
      }),
    merging: blockMerging(connection),
    postings: (spans, terms) => singlePostings(connection, spans, terms),
    async totals(threadId, through) {
      const sql = `SELECT count(*) AS entries, coalesce(sum(length), 0)::float8 AS length
        FROM ${schema}.recall_entries WHERE thread = ${numOf(schema)} AND ordinal <= $2`;
      const [row] = await rows<{ entries: number; length: number }>(sql, [userId, threadId], through);
      return row!;
    },
    async entries(ranges) {
      const sql = `SELECT w.thread, e.packed
        FROM unnest($1::text[], $2::int[], $3::int[]) AS w (thread, first, last)
        JOIN ${schema}.threads h ON h.owner = $4 AND h.id = w.thread CROSS JOIN LATERAL (
          SELECT string_agg(packed, ',') AS packed FROM ${schema}.recall_entries
          WHERE thread = h.num AND ordinal BETWEEN w.first AND w.last
        ) e WHERE e.packed IS NOT NULL`;
      const values = (["threadId", "first", "last"] as const).map((name) => ranges.map((range) => range[name]));
      const packedRows = await rows<{ thread: string; packed: string }>(sql, ...values, userId);
      return packedRows.flatMap(({ thread, packed }) => unpackEntries(thread, packed));
    },
    vectors: vectorTable(connection),
  };
}

const LATE_PAGE = 500;

interface SegmentRow extends QueryResultRow {
  readonly threadId: string;
  readonly base_at: number;
  readonly version: number;
  readonly indexed: number | null;
  readonly ordinal: number | null;
  readonly session: number | null;
  readonly at: string | null;
  readonly entries: number | null;
  readonly length: number | null;
  readonly merged: readonly number[] | null;
  readonly cut: number | null;
  readonly line_through: number | null;
  readonly depth?: number;
}

const SEGMENT = `t.id AS "threadId", t.base_at, t.version, i.indexed, i.ordinal, i.session, i.at, i.entries, i.length, i.merged`;
const WHOLE = (schema: string) =>
  `SELECT ${SEGMENT}, t.base, NULL AS line_through, NULL AS cut FROM ${schema}.threads t ${STATE(schema)}`;
const STATE = (schema: string) => `LEFT JOIN ${schema}.recall_threads i ON i.thread = t.num`;

function toSegment(row: SegmentRow): IndexedSegment {
  const { threadId, version, ordinal, session, at, cut } = row;
  return {
    threadId,
    through: cut === null ? version : row.line_through!,
    cut,
    indexed: row.indexed ?? row.base_at,
    newest: ordinal === null ? null : { ordinal, session: session!, at: at! },
    entries: row.entries ?? 0,
    length: row.length ?? 0,
    merged: mergedBlocks(row.merged ?? []),
  };
}

async function writeBatch(query: Query, schema: string, name: ThreadName, batch: IndexBatch) {
  // Derived: what a crash of the server takes of it is made again from the log.
  await query("SELECT set_config('synchronous_commit', 'off', true)");
  // The row is made first if need be, so that there is something to lock: two fillers of one thread take turns, and a
  // redaction waits for the batch or is seen by it.
  const [there] = await query<{ thread: number; indexed: number }>(
    `INSERT INTO ${schema}.recall_threads (thread, indexed, entries, length)
    SELECT num, base_at, 0, 0 FROM ${schema}.threads WHERE ${NAMED} FOR SHARE
    ON CONFLICT (thread) DO UPDATE SET indexed = recall_threads.indexed RETURNING thread, indexed`,
    [name],
  );
  if (there === undefined) return "missing" as const;
  const { thread } = there;
  if (there.indexed !== batch.expect) return "conflict" as const;
  const erased = await query(
    `SELECT 1 AS found FROM ${schema}.records WHERE thread = $1 AND seq = ANY ($2::bigint[]) AND redacted LIMIT 1`,
    [thread, batch.entries.map(({ seq }) => seq)],
  );
  if (erased.length > 0) return "conflict" as const;
  await query(
    `INSERT INTO ${schema}.recall_entries (thread, ordinal, seq, length, packed)
    SELECT $1, * FROM unnest($2::int[], $3::bigint[], $4::int[], $5::text[])`,
    [
      thread,
      batch.entries.map(({ ordinal }) => ordinal),
      batch.entries.map(({ seq }) => seq),
      batch.entries.map(({ length }) => length),
      batch.entries.map(packEntry),
    ],
  );
  await addPostings(query, schema, thread, batch.postings);
  const length = batch.entries.reduce((sum, entry) => sum + entry.length, 0);
  const place = [batch.newest?.ordinal ?? null, batch.newest?.session ?? null, batch.newest?.at ?? null];
  await query(
    `UPDATE ${schema}.recall_threads SET indexed = $2, ordinal = $3, session = $4, at = $5,
      entries = entries + $6, length = length + $7 WHERE thread = $1`,
    [thread, batch.indexed, ...place, batch.entries.length, length],
  );
  return "written" as const;
}

async function addPostings(
  query: Query,
  schema: string,
  thread: number,
  postings: readonly NewPosting[],
): Promise<void> {
  await query(
    `INSERT INTO ${schema}.recall_postings AS p (thread, term, block, count, list)
    SELECT $1, * FROM unnest($2::text[], $3::int[], $4::int[], $5::text[])
    ON CONFLICT (thread, block, term) DO UPDATE SET count = p.count + excluded.count, list = p.list || excluded.list`,
    [
      thread,
      postings.map(({ term }) => term),
      postings.map(({ block }) => block),
      postings.map(({ count }) => count),
      postings.map(({ list }) => list),
    ],
  );
}

/** Everything the index knows of a thread. */
export async function forgetIndex(query: Query, schema: string, thread: number): Promise<void> {
  for (const table of ["threads", "entries", "postings", "embedders", "vectors"])
    await query(`DELETE FROM ${schema}.recall_${table} WHERE thread = $1`, [thread]);
}

/** The words of an erased message leave the index with it. */
export async function forgetEntry(query: Query, schema: string, name: ThreadName, seq: number): Promise<void> {
  const [gone] = await query<{ thread: number; ordinal: number; length: number }>(
    `${lineage(schema)} DELETE FROM ${schema}.recall_entries e USING line
    WHERE e.thread = line.thread AND e.seq = $2 AND e.seq <= line.through RETURNING e.thread, e.ordinal, e.length`,
    [name, seq],
  );
  if (!gone) return;
  await query(`DELETE FROM ${schema}.recall_vectors WHERE thread = $1 AND seq = $2`, [gone.thread, seq]);
  const block = [gone.thread, Math.floor(gone.ordinal / BLOCK_SIZE)];
  const rows = await query<{ term: string; list: string }>(
    `SELECT term, list FROM ${schema}.recall_postings WHERE thread = $1 AND block = $2`,
    block,
  );
  const place = gone.ordinal % BLOCK_SIZE;
  const holders = rows.filter(({ list }) => withoutEntry(list, place, BLOCK_SIZE) !== list);
  await query(
    `UPDATE ${schema}.recall_postings p SET list = new.list, count = p.count - 1
    FROM unnest($3::text[], $4::text[]) AS new (term, list) WHERE p.thread = $1 AND p.block = $2 AND p.term = new.term`,
    [...block, holders.map(({ term }) => term), holders.map(({ list }) => withoutEntry(list, place, BLOCK_SIZE))],
  );
  await query(`DELETE FROM ${schema}.recall_postings WHERE thread = $1 AND block = $2 AND count = 0`, block);
  await query(`UPDATE ${schema}.recall_threads SET entries = entries - 1, length = length - $2 WHERE thread = $1`, [
    gone.thread,
    gone.length,
  ]);
}
