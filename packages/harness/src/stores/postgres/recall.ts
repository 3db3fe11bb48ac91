/**
 * The search index's rows in PostgreSQL. Every method is one round trip or one transaction, whatever the number of
 * threads: lists travel as arrays.
 */
import type { QueryResultRow } from "pg";
import {
  BLOCK_SIZE,
  type Entry,
  type IndexBatch,
  type NewPosting,
  newestByBlock,
  type RecallTables,
  type Span,
  type Stretch,
} from "../recall-tables.ts";
import type { Connection, Query } from "./connection.ts";
import { lineage } from "./lineage.ts";

export function recallTables(connection: Connection): RecallTables {
  const { schema, run, transaction } = connection;
  const rows = <R extends QueryResultRow>(sql: string, ...values: unknown[]) => run((query) => query<R>(sql, values));
  return {
    async lineage(thread) {
      const sql = `${lineage(schema)} SELECT ${STRETCH(schema)}, line.through AS line_through, line.depth,
          CASE WHEN line.depth > 0 THEN coalesce((SELECT e.ordinal FROM ${schema}.recall_entries e
            WHERE e.thread = t.id AND e.seq <= line.through ORDER BY e.seq DESC LIMIT 1), -1) END AS cut
        FROM line JOIN ${schema}.threads t ON t.id = line.thread ${STATE(schema)}`;
      const found = await rows<StretchRow>(sql, thread);
      return found.sort((a, b) => b.depth! - a.depth!).map(stretch);
    },
    async ofUser(user) {
      const sql = `SELECT ${STRETCH(schema)}, NULL AS line_through, NULL AS cut FROM ${schema}.threads t ${STATE(schema)} WHERE t.owner = $1`;
      return (await rows<StretchRow>(sql, user)).map(stretch);
    },
    write: (thread, batch) => transaction((query) => writeBatch(query, schema, thread, batch)),
    repair: (thread, block, postings) => transaction((query) => repair(query, schema, thread, block, postings)),
    clear: (thread) => transaction((query) => forgetIndex(query, schema, thread)),
    // Rows come as one JSON text each: what a row costs to hand over is most of what it costs.
    async postings(spans, terms) {
      // OFFSET 0 keeps the planner from joining whole tables where a few index ranges are asked for.
      const sql = `SELECT s.thread, p.term, json_agg(json_build_array(p.block, p.count, p.list)) AS rows
        FROM ${SPANS} CROSS JOIN unnest($3::text[]) AS t (term) CROSS JOIN LATERAL (
          SELECT * FROM ${schema}.recall_postings
          WHERE thread = s.thread AND term = t.term AND block < s.before OFFSET 0
        ) p GROUP BY s.thread, p.term`;
      const found = await rows<PostingRow>(sql, ...columns(spans), terms);
      return found.flatMap(({ thread, term, rows }) =>
        rows.map(([block, count, list]) => ({ thread, term, block, count, list })),
      );
    },
    async totals(thread, through) {
      const sql = `SELECT count(*) AS entries, coalesce(sum(length), 0)::float8 AS length
        FROM ${schema}.recall_entries WHERE thread = $1 AND ordinal <= $2`;
      const [row] = await rows<{ entries: number; length: number }>(sql, thread, through);
      return row!;
    },
    async entries(ranges) {
      const sql = `SELECT e.thread, json_agg(json_build_array(
          e.ordinal, e.seq, e.session, e.at, e.speaker, e.length, e.asks)) AS rows
        FROM unnest($1::text[], $2::int[], $3::int[]) AS w (thread, first, last) CROSS JOIN LATERAL (
          SELECT * FROM ${schema}.recall_entries
          WHERE thread = w.thread AND ordinal BETWEEN w.first AND w.last OFFSET 0
        ) e GROUP BY e.thread`;
      const values = (["thread", "first", "last"] as const).map((name) => ranges.map((range) => range[name]));
      return (await rows<EntryRow>(sql, ...values)).flatMap(({ thread, rows }) =>
        rows.map(([ordinal, seq, session, at, speaker, length, asks]): Entry => {
          return { thread, ordinal, seq, session, at, speaker, length, asks };
        }),
      );
    },
    blocks: (threads) =>
      rows<{ thread: string; block: number; newest: string }>(
        `SELECT thread, block, newest FROM ${schema}.recall_blocks WHERE thread = ANY ($1)`,
        threads,
      ),
  };
}

const SPANS = "unnest($1::text[], $2::int[]) AS s (thread, before)";

function columns(spans: readonly Span[]): [string[], number[]] {
  return [spans.map(({ thread }) => thread), spans.map(({ before }) => before)];
}

interface PostingRow extends QueryResultRow {
  readonly thread: string;
  readonly term: string;
  readonly rows: readonly [block: number, count: number, list: string][];
}

interface EntryRow extends QueryResultRow {
  readonly thread: string;
  readonly rows: readonly [number, number, number, string, string, number, boolean][];
}

interface StretchRow extends QueryResultRow {
  readonly thread: string;
  readonly base_at: number;
  readonly version: number;
  readonly indexed: number | null;
  readonly ordinal: number | null;
  readonly session: number | null;
  readonly at: string | null;
  readonly entries: number | null;
  readonly length: number | null;
  readonly stale: number[];
  readonly cut: number | null;
  readonly line_through: number | null;
  readonly depth?: number;
}

const STRETCH = (
  schema: string,
) => `t.id AS thread, t.base_at, t.version, i.indexed, i.ordinal, i.session, i.at, i.entries,
  i.length, ARRAY(SELECT block FROM ${schema}.recall_stale s WHERE s.thread = t.id) AS stale`;
const STATE = (schema: string) => `LEFT JOIN ${schema}.recall_threads i ON i.thread = t.id`;

function stretch(row: StretchRow): Stretch {
  const { thread, version, ordinal, session, at, cut } = row;
  return {
    thread,
    through: cut === null ? version : row.line_through!,
    cut,
    indexed: row.indexed ?? row.base_at,
    newest: ordinal === null ? null : { ordinal, session: session!, at: at! },
    entries: row.entries ?? 0,
    length: row.length ?? 0,
    stale: row.stale,
  };
}

async function writeBatch(query: Query, schema: string, thread: string, batch: IndexBatch) {
  // The row is made first if need be, so that there is something to lock: two fillers of one thread take turns.
  const there = await query(
    `INSERT INTO ${schema}.recall_threads (thread, indexed, entries, length)
    SELECT id, base_at, 0, 0 FROM ${schema}.threads WHERE id = $1 FOR KEY SHARE
    ON CONFLICT (thread) DO UPDATE SET indexed = recall_threads.indexed RETURNING indexed`,
    [thread],
  );
  if (there.length === 0) return "missing" as const;
  if ((there[0] as { indexed: number }).indexed !== batch.expect) return "conflict" as const;
  const column = <K extends keyof IndexBatch["entries"][number]>(name: K) => batch.entries.map((entry) => entry[name]);
  await query(
    `INSERT INTO ${schema}.recall_entries (thread, ordinal, seq, session, at, speaker, length, asks)
    SELECT $1, * FROM unnest($2::int[], $3::bigint[], $4::int[], $5::text[], $6::text[], $7::int[], $8::boolean[])`,
    [
      ...[thread, column("ordinal"), column("seq"), column("session"), column("at"), column("speaker")],
      ...[column("length"), column("asks")],
    ],
  );
  await addPostings(query, schema, thread, batch.postings);
  const newest = newestByBlock(batch.entries);
  await query(
    `INSERT INTO ${schema}.recall_blocks AS b (thread, block, newest) SELECT $1, * FROM unnest($2::int[], $3::text[])
    ON CONFLICT (thread, block) DO UPDATE SET newest = greatest(b.newest, excluded.newest)`,
    [thread, newest.map(({ block }) => block), newest.map((one) => one.newest)],
  );
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
  thread: string,
  postings: readonly NewPosting[],
): Promise<void> {
  await query(
    `INSERT INTO ${schema}.recall_postings AS p (thread, term, block, count, list)
    SELECT $1, * FROM unnest($2::text[], $3::int[], $4::int[], $5::text[])
    ON CONFLICT (thread, term, block) DO UPDATE SET count = p.count + excluded.count, list = p.list || excluded.list`,
    [
      thread,
      postings.map(({ term }) => term),
      postings.map(({ block }) => block),
      postings.map(({ count }) => count),
      postings.map(({ list }) => list),
    ],
  );
}

/** Only if it still waits: another process may have made it anew. */
async function repair(query: Query, schema: string, thread: string, block: number, postings: readonly NewPosting[]) {
  const sql = `DELETE FROM ${schema}.recall_stale WHERE thread = $1 AND block = $2 RETURNING 1 AS done`;
  const waiting = await query(sql, [thread, block]);
  if (waiting.length > 0) await addPostings(query, schema, thread, postings);
}

/** Everything the index knows of a thread. */
export async function forgetIndex(query: Query, schema: string, thread: string): Promise<void> {
  for (const table of ["threads", "entries", "postings", "blocks", "stale"])
    await query(`DELETE FROM ${schema}.recall_${table} WHERE thread = $1`, [thread]);
}

/** The words of an erased message leave the index with it: its block's postings go, and are made anew without it. */
export async function forgetEntry(query: Query, schema: string, thread: string, seq: number): Promise<void> {
  const [gone] = await query<{ thread: string; ordinal: number; length: number }>(
    `${lineage(schema)} DELETE FROM ${schema}.recall_entries e USING line
    WHERE e.thread = line.thread AND e.seq = $2 AND e.seq <= line.through RETURNING e.thread, e.ordinal, e.length`,
    [thread, seq],
  );
  if (!gone) return;
  const block = [gone.thread, Math.floor(gone.ordinal / BLOCK_SIZE)];
  await query(`DELETE FROM ${schema}.recall_postings WHERE thread = $1 AND block = $2`, block);
  await query(`INSERT INTO ${schema}.recall_stale (thread, block) VALUES ($1, $2) ON CONFLICT DO NOTHING`, block);
  await query(`UPDATE ${schema}.recall_threads SET entries = entries - 1, length = length - $2 WHERE thread = $1`, [
    gone.thread,
    gone.length,
  ]);
}
