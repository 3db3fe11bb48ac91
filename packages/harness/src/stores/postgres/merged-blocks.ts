/**
 * Full blocks of postings once more, 16 as one row a term: a search of a long thread has fewer rows to reach. They are a copy:
 * the blocks stay, for the long lists. An erasure takes away the copy of what was erased in the same transaction.
 */
import type { QueryResultRow } from "pg";
import { blockMark } from "../posting-text.ts";
import {
  type BlockMerging,
  POOL,
  type Posting,
  type PostingCount,
  type PostingPlace,
  type Span,
} from "../search-tables.ts";
import { LONG, type SqlQuery } from "./connection.ts";
import { numOf, type PostgresUserConnection } from "./lineage.ts";
import { bucketSteps, hashOf, LINES, readBuckets, readLine, regrouped, writeBuckets } from "./posting-buckets.ts";

/** A row costs more to reach here than to write. */
export const BLOCK_SIZE = 4096;
/** The number under which a user's pool is: threads are counted from 1. */
export const POOL_NUM = 0;
const MERGED = 16;
/** 262,144 messages. Below some 200,000 one more round trip, for long lists, costs as much as the rows that are saved. */
const FROM = 64;
/** Of a term that more entries of them hold the lists are read from the blocks: what is sought is seldom in all of them. */
const LONG_LIST = 8192;

export function blockMerging(connection: PostgresUserConnection): BlockMerging {
  const { schema, run, transaction, userId } = connection;
  return {
    blocks: MERGED,
    by: "job",
    from: FROM,
    merge: (threadId) => transaction((query) => mergeBlocks(query, schema, [userId, threadId]), LONG),
    counts: (spans, terms) => run((query) => counts(query, schema, values(spans, terms, userId))),
    lists: (places) => run((query) => lists(query, schema, userId, places)),
  };
}

/** Every list of the terms in the blocks themselves. */
export function singlePostings(
  { schema, run, userId }: PostgresUserConnection,
  spans: readonly Span[],
  terms: readonly string[],
): Promise<Posting[]> {
  const sql = `SELECT s.thread AS "threadId", t.term, b.block, p.line
    FROM ${SPANS(schema)} CROSS JOIN generate_series(s.first, s.before - 1) AS b (block) ${TERMS(schema)}`;
  return run(async (query) => (await query<LineRow>(sql, values(spans, terms, userId))).map(singlePosting));
}

interface LineRow extends QueryResultRow {
  readonly threadId: string;
  readonly term: string;
  readonly block: number;
  readonly line: string;
}

function singlePosting({ threadId, term, block, line }: LineRow): Posting {
  return { threadId, term, block, blocks: 1, ...readLine(line) };
}

/** The first part that isn't merged. */
function firstUnmerged(parts: readonly number[]): number {
  const merged = new Set(parts);
  let part = 0;
  while (merged.has(part)) part += 1;
  return part;
}

/** In blocks, as a segment says it. */
export function mergedBlocks(parts: readonly number[]): number {
  return firstUnmerged(parts) * MERGED;
}

/** Planned by itself (OFFSET 0): joined with the rest it takes longer to plan, and more to run. The pool's blocks aren't merged. */
const SPANS = (schema: string) => `(
  SELECT s.thread, s.first, s.before, h.num, coalesce(i.merged, '{}') AS merged
  FROM unnest($2::text[], $3::int[], $5::int[]) AS s (thread, before, first) ${NUMBERS(schema, "s")}
  LEFT JOIN ${schema}.recall_threads i ON i.owner = $1 AND i.thread = h.num OFFSET 0
) AS s`;

/** The numbers of threads, or of the pool, that `named.thread` names. */
const NUMBERS = (schema: string, named: string) => `CROSS JOIN LATERAL (
    SELECT num FROM ${schema}.threads WHERE owner = $1 AND id = ${named}.thread
    UNION ALL SELECT ${POOL_NUM} WHERE ${named}.thread = '${POOL}'
  ) h`;

const TERMS = (schema: string) =>
  `CROSS JOIN unnest($4::text[], $6::int[]) AS t (term, hash) ${LINES(schema, "s.num")}`;

function values(spans: readonly Span[], terms: readonly string[], userId: string): unknown[] {
  const column = <K extends keyof Span>(name: K) => spans.map((span) => span[name] ?? 0);
  return [userId, column("threadId"), column("before"), terms, column("from"), terms.map(hashOf)];
}

async function counts(
  query: SqlQuery,
  schema: string,
  asked: readonly unknown[],
): Promise<readonly (PostingCount | Posting)[]> {
  const isMerged = `s.merged @> ARRAY[a.block / ${MERGED}]`;
  const rows = await query<LineRow>(
    `SELECT s.thread AS "threadId", t.term, b.block, p.line
    FROM ${SPANS(schema)} CROSS JOIN LATERAL (
      SELECT CASE WHEN ${isMerged} THEN -1 - a.block / ${MERGED} ELSE a.block END AS block
      FROM generate_series(s.first, s.before - 1) AS a (block) WHERE a.block % ${MERGED} = 0 OR NOT ${isMerged}
    ) b ${TERMS(schema)}`,
    asked,
  );
  return rows.map(({ threadId, term, block: row, line }) => {
    const { count, list } = readLine(line);
    const place = row < 0 ? { block: (-1 - row) * MERGED, blocks: MERGED } : { block: row, blocks: 1 };
    return list === "" ? { threadId, term, ...place, count, split: true } : { threadId, term, ...place, count, list };
  });
}

/** Only those of blocks are asked for: the others came with their counts. */
async function lists(
  query: SqlQuery,
  schema: string,
  userId: string,
  places: readonly PostingPlace[],
): Promise<readonly Posting[]> {
  const asked = (["threadId", "block", "term"] as const).map((name) => places.map((place) => place[name]));
  const rows = await query<LineRow>(
    `SELECT b.thread AS "threadId", t.term, b.block, p.line
    FROM unnest($2::text[], $3::int[], $4::text[], $5::int[]) AS b (thread, block, term, hash)
    ${NUMBERS(schema, "b")} CROSS JOIN LATERAL (SELECT b.term, b.hash) t ${LINES(schema, "h.num")}`,
    [userId, ...asked, places.map(({ term }) => hashOf(term))],
  );
  return rows.map(singlePosting);
}

/** One step. */
async function mergeBlocks(query: SqlQuery, schema: string, name: readonly string[]): Promise<"merged" | "nothing"> {
  // Derived: what a crash of the server takes of it is made again.
  await query("SELECT set_config('synchronous_commit', 'off', true)");
  // Who erases waits for this lock, too, and finds what was merged; or it was first, and its words are gone.
  const [row] = await query<{ thread: number; ordinal: number | null; merged: number[] }>(
    `SELECT thread, ordinal, merged FROM ${schema}.recall_threads WHERE owner = $1 AND thread = ${numOf(schema)} FOR UPDATE`,
    name,
  );
  if (!row) return "nothing";
  const part = firstUnmerged(row.merged);
  const [first, last] = [part * MERGED, (part + 1) * MERGED - 1];
  // Ordinals only rise, so a block is done when a later one has begun.
  if (Math.floor((row.ordinal ?? 0) / BLOCK_SIZE) <= last) return "nothing";
  const own = [name[0]!, row.thread] as const;
  for (const buckets of bucketSteps()) {
    const merged = new Map<string, { count: number; list: string }>();
    for (const { block, lines } of await readBuckets(query, schema, own, [first, last], buckets))
      for (const [term, { count, list }] of lines) {
        const before = merged.get(term) ?? { count: 0, list: "" };
        merged.set(term, { count: before.count + count, list: before.list + blockMark(block - first) + list });
      }
    for (const [term, { count }] of merged) if (count > LONG_LIST) merged.set(term, { count, list: "" });
    await writeBuckets(query, schema, own, regrouped(merged, -1 - part));
  }
  await query(
    `UPDATE ${schema}.recall_threads SET merged = array_append(merged, $3::int) WHERE owner = $1 AND thread = $2`,
    [name[0], row.thread, part],
  );
  return "merged";
}

/** An entry was erased, and its row in `recall_threads` is held: the copy of its block goes with it. A later merge makes it again. */
export async function forgetMerged(
  query: SqlQuery,
  schema: string,
  own: readonly [owner: string, thread: number],
  { ordinal, merged }: { readonly ordinal: number; readonly merged: readonly number[] },
): Promise<void> {
  const part = Math.floor(ordinal / (BLOCK_SIZE * MERGED));
  if (!merged.includes(part)) return;
  await query(`DELETE FROM ${schema}.recall_postings WHERE owner = $1 AND thread = $2 AND block = $3`, [
    ...own,
    -1 - part,
  ]);
  await query(
    `UPDATE ${schema}.recall_threads SET merged = array_remove(merged, $3::int) WHERE owner = $1 AND thread = $2`,
    [...own, part],
  );
}
