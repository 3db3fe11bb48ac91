/**
 * Full blocks of postings once more, 16 as one row a term: a search of a long thread has fewer rows to reach. They are a copy:
 * the blocks stay, for the long lists and for programs of before, which know nothing of the rest. So a trigger, whoever
 * erases, takes away the copy of what was erased in the same transaction; a later merge makes it again.
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
import { LONG, type Query } from "./connection.ts";
import { numOf, type UserConnection } from "./lineage.ts";

/** A row costs more to reach here than to write. */
export const BLOCK_SIZE = 4096;
const MERGED = 16;
/** 262,144 messages. Below some 200,000 one more round trip, for long lists, costs as much as the rows that are saved. */
const FROM = 64;
/** Of a term that more entries of them hold the lists are read from the blocks: what is sought is seldom in all of them. */
const LONG_LIST = 8192;

export function blockMerging(connection: UserConnection): BlockMerging {
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
  { schema, run, userId }: UserConnection,
  spans: readonly Span[],
  terms: readonly string[],
): Promise<Posting[]> {
  const sql = `SELECT s.thread AS "threadId", p.term, p.block, 1 AS blocks, p.count, p.list
    FROM ${SPANS(schema)} CROSS JOIN generate_series(s.first, s.before - 1) AS b (block) ${TERMS(schema)}`;
  return run((query) => query<Posting & QueryResultRow>(sql, values(spans, terms, userId)));
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
  FROM unnest($1::text[], $2::int[], $5::int[]) AS s (thread, before, first) ${NUMBERS(schema, "s")}
  LEFT JOIN ${schema}.recall_threads i ON i.thread = h.num OFFSET 0
) AS s`;

/** The numbers of threads, or of the pool, that `named.thread` names. */
const NUMBERS = (schema: string, named: string) => `CROSS JOIN LATERAL (
    SELECT num FROM ${schema}.threads WHERE owner = $4 AND id = ${named}.thread
    UNION ALL SELECT -num FROM ${schema}.recall_users WHERE owner = $4 AND ${named}.thread = '${POOL}'
  ) h`;

/** OFFSET 0 keeps the planner from joining whole tables where a few index ranges are asked for. */
const TERMS = (schema: string) => `CROSS JOIN unnest($3::text[]) AS t (term) CROSS JOIN LATERAL (
    SELECT * FROM ${schema}.recall_postings WHERE thread = s.num AND block = b.block AND term = t.term OFFSET 0
  ) p`;

function values(spans: readonly Span[], terms: readonly string[], userId: string): unknown[] {
  const column = <K extends keyof Span>(name: K) => spans.map((span) => span[name] ?? 0);
  return [column("threadId"), column("before"), terms, userId, column("from")];
}

async function counts(
  query: Query,
  schema: string,
  asked: readonly unknown[],
): Promise<readonly (PostingCount | Posting)[]> {
  const isMerged = `s.merged @> ARRAY[a.block / ${MERGED}]`;
  const rows = await query<Omit<Posting, "blocks"> & QueryResultRow>(
    `SELECT s.thread AS "threadId", p.term, p.block, p.count, p.list
    FROM ${SPANS(schema)} CROSS JOIN LATERAL (
      SELECT CASE WHEN ${isMerged} THEN -1 - a.block / ${MERGED} ELSE a.block END AS block
      FROM generate_series(s.first, s.before - 1) AS a (block) WHERE a.block % ${MERGED} = 0 OR NOT ${isMerged}
    ) b ${TERMS(schema)}`,
    asked,
  );
  return rows.map(({ threadId, term, block: row, count, list }) => {
    const place = row < 0 ? { block: (-1 - row) * MERGED, blocks: MERGED } : { block: row, blocks: 1 };
    return list === "" ? { threadId, term, ...place, count, split: true } : { threadId, term, ...place, count, list };
  });
}

/** Only those of blocks are asked for: the others came with their counts. */
function lists(
  query: Query,
  schema: string,
  userId: string,
  places: readonly PostingPlace[],
): Promise<readonly Posting[]> {
  const asked = (["threadId", "block", "term"] as const).map((name) => places.map((place) => place[name]));
  return query<Posting & QueryResultRow>(
    `SELECT w.thread AS "threadId", p.term, p.block, 1 AS blocks, p.count, p.list
    FROM unnest($1::text[], $2::int[], $3::text[]) AS w (thread, block, term)
    ${NUMBERS(schema, "w")} CROSS JOIN LATERAL (
      SELECT * FROM ${schema}.recall_postings WHERE thread = h.num AND block = w.block AND term = w.term OFFSET 0
    ) p`,
    [...asked, userId],
  );
}

/** One step. */
async function mergeBlocks(query: Query, schema: string, name: readonly string[]): Promise<"merged" | "nothing"> {
  // Derived: what a crash of the server takes of it is made again.
  await query("SELECT set_config('synchronous_commit', 'off', true)");
  // Who erases waits for this lock, too (the trigger), and finds what was merged; or it was first, and its words are gone.
  const [row] = await query<{ thread: number; ordinal: number | null; merged: number[] }>(
    `SELECT thread, ordinal, merged FROM ${schema}.recall_threads WHERE thread = ${numOf(schema)} FOR UPDATE`,
    [name],
  );
  if (!row) return "nothing";
  const part = firstUnmerged(row.merged);
  const [first, last] = [part * MERGED, (part + 1) * MERGED - 1];
  // Ordinals only rise, so a block is done when a later one has begun.
  if (Math.floor((row.ordinal ?? 0) / BLOCK_SIZE) <= last) return "nothing";
  const marks = Array.from({ length: MERGED }, (_, block) => blockMark(block));
  await query(
    `INSERT INTO ${schema}.recall_postings (thread, block, term, count, list)
    SELECT $1, $2, term, sum(count), CASE WHEN sum(count) > ${LONG_LIST} THEN ''
      ELSE string_agg(($3::text[])[block - $4 + 1] || list, '' ORDER BY block) END
    FROM ${schema}.recall_postings WHERE thread = $1 AND block BETWEEN $4 AND $5 GROUP BY term ORDER BY term`,
    [row.thread, -1 - part, marks, first, last],
  );
  await query(`UPDATE ${schema}.recall_threads SET merged = array_append(merged, $2) WHERE thread = $1`, [
    row.thread,
    part,
  ]);
  return "merged";
}

/** The step of the schema: which parts are merged, and what keeps them true whichever program erases. */
function mergedParts(schema: string): string[] {
  return [
    `ALTER TABLE ${schema}.recall_threads ADD COLUMN merged int[] NOT NULL DEFAULT '{}'`,
    // The lock is a statement of its own: the next ones see what whoever held it has done.
    `CREATE FUNCTION ${schema}.forget_merged() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM 1 FROM ${schema}.recall_threads WHERE thread IN (SELECT thread FROM gone) FOR UPDATE;
      IF NOT FOUND THEN RETURN NULL; END IF;
      DELETE FROM ${schema}.recall_postings p
        USING (SELECT DISTINCT thread, ordinal / ${BLOCK_SIZE * MERGED} AS part FROM gone) g, ${schema}.recall_threads i
        WHERE i.thread = g.thread AND i.merged @> ARRAY[g.part] AND p.thread = g.thread AND p.block = -1 - g.part;
      UPDATE ${schema}.recall_threads i SET merged = ARRAY(SELECT part FROM unnest(i.merged) AS part WHERE part NOT IN
          (SELECT g.ordinal / ${BLOCK_SIZE * MERGED} FROM gone g WHERE g.thread = i.thread))
        WHERE i.merged <> '{}' AND i.thread IN (SELECT thread FROM gone);
      RETURN NULL;
    END $$`,
    `CREATE TRIGGER forget_merged AFTER DELETE ON ${schema}.recall_entries REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION ${schema}.forget_merged()`,
  ];
}

/** Postings of long messages say in which passages a term stands, which programs that know fewer steps can't read. */
function passagesInPostings(schema: string): string[] {
  return [`UPDATE ${schema}.schema_version SET least = 19`];
}

export const postingSteps = [mergedParts, passagesInPostings] as const;
