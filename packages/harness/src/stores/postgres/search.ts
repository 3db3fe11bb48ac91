/**
 * The search index's rows in PostgreSQL. Every method is one round trip or one transaction, whatever the number of
 * threads: lists travel as arrays.
 */
import type { QueryResultRow } from "pg";
import { readMark, writeMark } from "../driver-rules.ts";
import { withoutPlaces } from "../posting-text.ts";
import {
  type IndexBatch,
  type IndexedSegment,
  packRest,
  type SearchTables,
  type UserIndex,
  unpackEntries,
} from "../search-tables.ts";
import type { SqlQuery } from "./connection.ts";
import {
  BESIDE_NAMED,
  beside,
  lineage,
  NAMED,
  numOf,
  type PostgresUserConnection,
  type ThreadRowName,
} from "./lineage.ts";
import { BLOCK_SIZE, blockMerging, forgetMerged, mergedBlocks, POOL_NUM, singlePostings } from "./merged-blocks.ts";
import { addPostings, changeLists } from "./posting-buckets.ts";
import { forgetPlaces, forgetSlots, holdsSlots, lockPool, postingPool } from "./posting-pool.ts";
import { vectorTable } from "./vectors.ts";

export function searchTables(connection: PostgresUserConnection): SearchTables {
  const { schema, run, transaction, userId } = connection;
  const rows = <R extends QueryResultRow>(sql: string, ...values: unknown[]) => run((query) => query<R>(sql, values));
  return {
    blockSize: BLOCK_SIZE,
    async lineage(threadId) {
      // Most threads are no forks, and planning the walk through a lineage takes longer than reading one row.
      const whole = `${WHOLE(schema)} WHERE t.owner = $1 AND t.id = $2`;
      const [own] = await rows<SegmentRow & { base: number | null }>(whole, userId, threadId);
      if (!own) return [];
      if (own.base === null) return [toSegment(own)];
      const sql = `${lineage(schema)} SELECT ${SEGMENT(schema)}, line.through AS line_through, line.depth,
          CASE WHEN line.depth > 0 THEN coalesce((SELECT e.ordinal FROM ${schema}.recall_entries e
            WHERE e.owner = $1 AND e.thread = t.num AND e.seq <= line.through ORDER BY e.seq DESC LIMIT 1), -1) END AS cut
        FROM line JOIN ${schema}.threads t ON t.owner = $1 AND t.num = line.thread ${STATE(schema)}`;
      const line = await rows<SegmentRow>(sql, userId, threadId);
      return line.sort((a, b) => b.depth! - a.depth!).map(toSegment);
    },
    async ofUser() {
      return (await rows<SegmentRow>(`${WHOLE(schema)} WHERE t.owner = $1`, userId)).map(toSegment);
    },
    user: () => run((query) => userIndex(query, schema, userId)),
    pool: postingPool(connection, forgetWords),
    async late(records, after) {
      const { num, updated: owner } = after === null ? { num: 0, updated: "" } : readMark(after);
      const sql = `SELECT t.num, t.owner AS "userId", t.id AS "threadId" FROM ${schema}.threads t ${STATE(schema, "t.owner")}
        WHERE (t.owner, t.num) > ($1, $2::bigint) AND t.version - coalesce(i.indexed, t.base_at) >= $3
        ORDER BY t.owner, t.num LIMIT ${LATE_PAGE}`;
      const page = await rows<{ num: number; userId: string; threadId: string }>(sql, owner, num, records);
      const threads = page.map(({ userId, threadId }) => ({ userId, threadId }));
      const last = page.at(-1);
      const next = last && page.length === LATE_PAGE ? writeMark({ num: last.num, updated: last.userId }) : null;
      return { threads, next };
    },
    write: (threadId, batch) => transaction((query) => writeBatch(query, schema, [userId, threadId], batch)),
    clear: (threadId) =>
      transaction(async (query) => {
        const sql = `UPDATE ${schema}.threads SET late = true WHERE ${NAMED} RETURNING num`;
        const [row] = await query<{ num: number }>(sql, [userId, threadId]);
        if (row) await forgetIndex(query, schema, userId, row.num);
      }),
    merging: blockMerging(connection),
    postings: (spans, terms) => singlePostings(connection, spans, terms),
    async totals(threadId, through) {
      const sql = `SELECT count(*) AS entries, coalesce(sum(length), 0)::float8 AS length
        FROM ${schema}.recall_entries WHERE owner = $1 AND thread = ${numOf(schema)} AND ordinal <= $3`;
      const [row] = await rows<{ entries: number; length: number }>(sql, userId, threadId, through);
      return row!;
    },
    async entries(ranges) {
      const sql = `SELECT w.thread, e.packed
        FROM unnest($2::text[], $3::int[], $4::int[]) AS w (thread, first, last)
        JOIN ${schema}.threads h ON h.owner = $1 AND h.id = w.thread CROSS JOIN LATERAL (
          SELECT string_agg(${ENTRY}, ',') AS packed FROM ${schema}.recall_entries
          WHERE owner = $1 AND thread = h.num AND ordinal BETWEEN w.first AND w.last
        ) e WHERE e.packed IS NOT NULL`;
      const values = (["threadId", "first", "last"] as const).map((name) => ranges.map((range) => range[name]));
      const packedRows = await rows<{ thread: string; packed: string }>(sql, userId, ...values);
      return packedRows.flatMap(({ thread, packed }) => unpackEntries(thread, packed));
    },
    vectors: vectorTable(connection),
  };
}

/** What its columns don't say is digits, or a list without its brackets. */
const ENTRY = `'[' || ordinal || ',' || seq || ',' || length ||
  CASE WHEN strpos(packed, ',') > 0 THEN ',[' || packed || ']]' ELSE ',"' || packed || '"]' END`;

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
  readonly slots: readonly (readonly [ordinal: number, first: number, size: number])[] | null;
  readonly cut: number | null;
  readonly line_through: number | null;
  readonly depth?: number;
}

const SEGMENT = (schema: string) => `t.id AS "threadId", t.base_at, t.version, i.indexed, i.ordinal, i.session, i.at,
  i.entries, i.length, i.merged, CASE WHEN i.large IS NOT TRUE THEN (
    SELECT json_agg(json_build_array(s.ordinal, s.first, s.size) ORDER BY s.ordinal)
    FROM ${schema}.recall_slots s WHERE s.owner = $1 AND s.thread = t.num) END AS slots`;
const WHOLE = (schema: string, more = "") =>
  `SELECT ${more} ${SEGMENT(schema)}, t.base, NULL AS line_through, NULL AS cut FROM ${schema}.threads t ${STATE(schema)}`;
/** Citus must be told for each table whose rows they are. */
const STATE = (schema: string, owner = "$1") =>
  `LEFT JOIN ${schema}.recall_threads i ON i.owner = ${owner} AND i.thread = t.num`;

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
    ...(row.slots && { slots: row.slots.map(([ordinal, first, size]) => ({ threadId, ordinal, first, size })) }),
  };
}

/** So many threads may be looked at that only were late. */
const MOST_STALE = 64;

async function userIndex(query: SqlQuery, schema: string, userId: string): Promise<UserIndex> {
  const [own] = await query<{ entries: number; length: number; from: number; before: number; times: string[] }>(
    `SELECT entries, length::float8, b.from::int, b.before::int, ARRAY(
      SELECT coalesce((SELECT i.at FROM ${schema}.recall_slots s
        JOIN ${schema}.recall_threads i ON i.owner = $1 AND i.thread = s.thread WHERE s.owner = $1 AND s.first < (block + 1) * ${BLOCK_SIZE} ORDER BY s.first DESC LIMIT 1), '')
      FROM generate_series(b.from, b.before - 1) AS block ORDER BY block
    ) AS times
    FROM ${schema}.recall_users u CROSS JOIN LATERAL (
      SELECT coalesce(min(first) / ${BLOCK_SIZE}, u.next) AS from, (u.next + ${BLOCK_SIZE - 1}) / ${BLOCK_SIZE} AS before
      FROM ${schema}.recall_slots WHERE owner = $1
    ) b WHERE u.owner = $1`,
    [userId],
  );
  const flagged = await query<SegmentRow & { num: number; large: boolean; late: boolean }>(
    `${WHOLE(schema, "t.num, t.late, coalesce(i.large, false) AS large,")} WHERE t.owner = $1 AND (t.late OR t.num IN
      (SELECT thread FROM ${schema}.recall_threads WHERE owner = $1 AND large))`,
    [userId],
  );
  const isLate = (row: SegmentRow) => (row.indexed ?? row.base_at) < row.version;
  const stale = flagged.filter((row) => row.late && !isLate(row));
  if (stale.length > MOST_STALE) await unmark(query, schema, userId, stale);
  const { from = 0, before = 0, times = [] } = own ?? {};
  return {
    entries: own?.entries ?? 0,
    length: own?.length ?? 0,
    from: Math.min(from, before),
    before,
    times: new Map(times.map((time, at) => [from + at, time])),
    large: flagged.filter(({ large }) => large).map(toSegment),
    late: flagged.filter((row) => row.late && isLate(row)).map(toSegment),
  };
}

/** Marks are taken off in passing, and many at once: each costs a new version of a thread's row. */
async function unmark(query: SqlQuery, schema: string, owner: string, rows: readonly Unmarked[]): Promise<void> {
  const sql = `UPDATE ${schema}.threads t SET late = false FROM unnest($2::bigint[], $3::bigint[]) AS seen (num, version)
    WHERE t.owner = $1 AND t.num = seen.num AND t.version = seen.version`;
  // A store that can't be written is searched all the same.
  await query(sql, [owner, rows.map(({ num }) => num), rows.map(({ version }) => version)]).catch(() => {});
}

type Unmarked = { readonly num: number; readonly version: number };

async function writeBatch(query: SqlQuery, schema: string, name: ThreadRowName, batch: IndexBatch) {
  // Derived: what a crash of the server takes of it is made again from the log.
  await query("SELECT set_config('synchronous_commit', 'off', true)");
  // The row is made first if need be, so that there is something to lock: two fillers of one thread take turns, and a
  // redaction waits for the batch or is seen by it.
  const [there] = await query<{ thread: number; indexed: number }>(
    `WITH thread AS MATERIALIZED (SELECT num, base_at FROM ${schema}.threads WHERE ${NAMED} FOR SHARE), held AS (
      INSERT INTO ${schema}.recall_threads AS i (owner, thread, indexed, entries, length)
      SELECT named.owner, thread.num, thread.base_at, 0, 0 FROM ${beside(schema)}, thread WHERE ${BESIDE_NAMED}
      ON CONFLICT (owner, thread) DO UPDATE SET indexed = i.indexed RETURNING thread, indexed
    ) SELECT thread, indexed FROM held`,
    name,
  );
  if (there === undefined) return "missing" as const;
  const { thread } = there;
  const own = [name[0], thread] as const;
  if (there.indexed !== batch.expect) return "conflict" as const;
  const { slots } = batch;
  await lockPool(query, schema, name[0]);
  if (!(await holdsSlots(query, schema, name[0], thread, batch))) return "conflict" as const;
  const erased = await query(
    `SELECT 1 AS found FROM ${schema}.records
    WHERE owner = $1 AND thread = $2 AND seq = ANY ($3::bigint[]) AND redacted LIMIT 1`,
    [...own, batch.entries.map(({ seq }) => seq)],
  );
  if (erased.length > 0) return "conflict" as const;
  await query(
    `INSERT INTO ${schema}.recall_entries (owner, thread, ordinal, seq, length, packed)
    SELECT $1, $2::int, * FROM unnest($3::int[], $4::int[], $5::int[], $6::text[])`,
    [
      ...own,
      batch.entries.map(({ ordinal }) => ordinal),
      batch.entries.map(({ seq }) => seq),
      batch.entries.map(({ length }) => length),
      batch.entries.map(packRest),
    ],
  );
  await addPostings(query, schema, slots === undefined ? own : [name[0], POOL_NUM], batch.postings);
  const length = batch.entries.reduce((sum, entry) => sum + entry.length, 0);
  const place = [batch.newest?.ordinal ?? null, batch.newest?.session ?? null, batch.newest?.at ?? null];
  await query(
    `UPDATE ${schema}.recall_threads SET indexed = $3, ordinal = $4, session = $5, at = $6,
      entries = entries + $7, length = length + $8, large = large OR $9
    WHERE owner = $1 AND thread = $2`,
    [...own, batch.indexed, ...place, batch.entries.length, length, slots === undefined && batch.entries.length > 0],
  );
  await addTotals(query, schema, name[0], batch.entries.length, length);
  return "written" as const;
}

/** What is known of all threads of the user. */
function addTotals(query: SqlQuery, schema: string, owner: string, entries: number, length: number) {
  const sql = `UPDATE ${schema}.recall_users SET entries = entries + $2, length = length + $3 WHERE owner = $1`;
  return query(sql, [owner, entries, length]);
}

/** Everything the index knows of a thread. */
export async function forgetIndex(query: SqlQuery, schema: string, owner: string, thread: number): Promise<void> {
  await forgetWords(query, schema, owner, thread);
  for (const table of ["embedders", "vectors"])
    await query(`DELETE FROM ${schema}.recall_${table} WHERE ${OWN}`, [owner, thread]);
}

const OWN = "owner = $1 AND thread = $2";

async function forgetWords(query: SqlQuery, schema: string, owner: string, thread: number): Promise<void> {
  const [known] = await query<{ entries: number; length: number }>(
    `SELECT entries, length FROM ${schema}.recall_threads WHERE ${OWN} FOR UPDATE`,
    [owner, thread],
  );
  await forgetSlots(query, schema, owner, thread);
  if (known) await addTotals(query, schema, owner, -known.entries, -known.length);
  for (const table of ["threads", "entries", "postings"])
    await query(`DELETE FROM ${schema}.recall_${table} WHERE ${OWN}`, [owner, thread]);
}

/** The words of an erased message leave the index with it. */
export async function forgetEntry(query: SqlQuery, schema: string, name: ThreadRowName, seq: number): Promise<void> {
  const [gone] = await query<{ thread: number; ordinal: number; length: number }>(
    `${lineage(schema)} DELETE FROM ${schema}.recall_entries e USING line
    WHERE e.owner = $1 AND e.thread = line.thread AND e.seq = $3 AND e.seq <= line.through
    RETURNING e.thread, e.ordinal, e.length`,
    [...name, seq],
  );
  if (!gone) return;
  const own = [name[0], gone.thread] as const;
  await query(`DELETE FROM ${schema}.recall_vectors WHERE ${OWN} AND seq = $3`, [...own, seq]);
  const [state] = await query<{ merged: number[] }>(
    `UPDATE ${schema}.recall_threads SET entries = entries - 1, length = length - $3 WHERE ${OWN} RETURNING merged`,
    [...own, gone.length],
  );
  await forgetMerged(query, schema, own, { ordinal: gone.ordinal, merged: state?.merged ?? [] });
  await lockPool(query, schema, name[0]);
  await addTotals(query, schema, name[0], -1, -gone.length);
  const [pooled] = await query<{ place: number }>(
    `SELECT first + $3 - ordinal AS place FROM ${schema}.recall_slots
    WHERE owner = $1 AND thread = $2 AND $3 BETWEEN ordinal AND ordinal + size - 1`,
    [...own, gone.ordinal],
  );
  if (pooled) return forgetPlaces(query, schema, name[0], pooled.place, pooled.place);
  const place = gone.ordinal % BLOCK_SIZE;
  await changeLists(query, schema, own, Math.floor(gone.ordinal / BLOCK_SIZE), (list) =>
    withoutPlaces(list, place, place),
  );
}
