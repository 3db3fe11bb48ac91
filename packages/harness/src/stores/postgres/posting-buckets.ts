/**
 * Postings in PostgreSQL: the terms of a block lie in buckets by a hash, many in a row, because most terms stand in a block once
 * or twice, and a row with its entry in the index takes five times as much as they do. A bucket is one line for each term: a
 * newline, the term, a tab, its count, a blank and its list (posting-text.ts). The server cuts out the line that is asked for.
 */
import type { QueryResultRow } from "pg";
import type { NewPosting, Posting } from "../search-tables.ts";
import type { SqlQuery } from "./connection.ts";

/** Fewer are written again by each batch with more of them, more take more bytes. Of merged blocks there are more. */
const [BUCKETS, MERGED_BUCKETS] = [1024, 16_384];

/** FNV-1a. Its values are stored, so it stays as it is. */
export function hashOf(term: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < term.length; at += 1) hash = Math.imul(hash ^ term.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) & (MERGED_BUCKETS - 1);
}

/** In a statement: the bucket of a hash in a block, or in merged blocks, whose numbers are negative. */
const BUCKET = (hash: string, block: string) =>
  `${hash} & CASE WHEN ${block} < 0 THEN ${MERGED_BUCKETS - 1} ELSE ${BUCKETS - 1} END`;

function bucketOf(term: string, block: number): number {
  return hashOf(term) & ((block < 0 ? MERGED_BUCKETS : BUCKETS) - 1);
}

/** What a thread's postings are found by, or the pool's. */
export type OwnThread = readonly [owner: string, thread: number];
const OWN = "owner = $1 AND thread = $2";

type BucketLine = Pick<Posting, "count" | "list">;

export interface Bucket {
  readonly block: number;
  readonly bucket: number;
  readonly lines: Map<string, BucketLine>;
}

interface BucketRow extends QueryResultRow {
  readonly block: number;
  readonly bucket: number;
  readonly lines: string;
}

/**
 * A part of a statement that joins the terms in `t (term, hash)` with the blocks in `b (block)` of the thread `num`: `p` is the
 * line of each that is there. OFFSET 0 keeps the planner from joining whole tables where a few index ranges are asked for.
 */
export const LINES = (schema: string, num: string) => `CROSS JOIN LATERAL (
    SELECT split_part(split_part(lines, E'\\n' || t.term || E'\\t', 2), E'\\n', 1) AS line FROM ${schema}.recall_postings
    WHERE owner = $1 AND thread = ${num} AND block = b.block AND bucket = ${BUCKET("t.hash", "b.block")} OFFSET 0
  ) p WHERE p.line <> ''`;

/** Of a `p.line`. */
export function readLine(line: string): BucketLine {
  const blank = line.indexOf(" ");
  return { count: Number(line.slice(0, blank)), list: line.slice(blank + 1) };
}

/** Adds to the lists of their blocks. A transaction that writes or erases postings holds the pool's row, so buckets don't change meanwhile. */
export async function addPostings(
  query: SqlQuery,
  schema: string,
  own: OwnThread,
  postings: readonly NewPosting[],
): Promise<void> {
  const buckets = new Map<string, Bucket>();
  const at = (block: number, bucket: number): Bucket => {
    const known = buckets.get(`${block} ${bucket}`) ?? { block, bucket, lines: new Map() };
    buckets.set(`${block} ${bucket}`, known);
    return known;
  };
  const places = postings.map(({ term, block }) => at(block, bucketOf(term, block)));
  const wanted = [...buckets.values()];
  const rows = await query<BucketRow>(
    `SELECT p.block, p.bucket, p.lines FROM unnest($3::int[], $4::int[]) AS w (block, bucket)
    JOIN ${schema}.recall_postings p ON p.owner = $1 AND p.thread = $2 AND p.block = w.block AND p.bucket = w.bucket`,
    [...own, wanted.map(({ block }) => block), wanted.map(({ bucket }) => bucket)],
  );
  for (const { block, bucket, lines } of rows)
    for (const [term, line] of readLines(lines)) at(block, bucket).lines.set(term, line);
  for (const [index, { term, count, list }] of postings.entries()) {
    const { lines } = places[index]!;
    const before = lines.get(term);
    lines.set(term, before ? { count: before.count + count, list: before.list + list } : { count, list });
  }
  await writeBuckets(query, schema, own, wanted);
}

/** Those of blocks, from one to another; of buckets, too, where that is asked for. */
export async function readBuckets(
  query: SqlQuery,
  schema: string,
  own: OwnThread,
  blocks: readonly [first: number, last: number],
  buckets: readonly [first: number, last: number] = [0, BUCKETS - 1],
): Promise<Bucket[]> {
  const rows = await query<BucketRow>(
    `SELECT block, bucket, lines FROM ${schema}.recall_postings
    WHERE ${OWN} AND block BETWEEN $3 AND $4 AND bucket BETWEEN $5 AND $6 ORDER BY block, bucket`,
    [...own, ...blocks, ...buckets],
  );
  return rows.map(({ block, bucket, lines }) => ({ block, bucket, lines: readLines(lines) }));
}

/** In the place of those that are there; without lines a bucket goes. */
export async function writeBuckets(
  query: SqlQuery,
  schema: string,
  own: OwnThread,
  buckets: readonly Bucket[],
): Promise<void> {
  const [full, empty] = [
    buckets.filter(({ lines }) => lines.size > 0),
    buckets.filter(({ lines }) => lines.size === 0),
  ];
  const places = (some: readonly Bucket[]) => [some.map(({ block }) => block), some.map(({ bucket }) => bucket)];
  if (full.length > 0)
    await query(
      `INSERT INTO ${schema}.recall_postings (owner, thread, block, bucket, lines)
      SELECT $1, $2::int, * FROM unnest($3::int[], $4::int[], $5::text[])
      ON CONFLICT (owner, thread, block, bucket) DO UPDATE SET lines = excluded.lines`,
      [...own, ...places(full), full.map(({ lines }) => spellLines(lines))],
    );
  if (empty.length > 0)
    await query(
      `DELETE FROM ${schema}.recall_postings p USING unnest($3::int[], $4::int[]) AS w (block, bucket)
      WHERE p.owner = $1 AND p.thread = $2 AND p.block = w.block AND p.bucket = w.bucket`,
      [...own, ...places(empty)],
    );
}

/** Takes out what `without` leaves of a list, of all terms in a block; only buckets that change are written. */
export async function changeLists(
  query: SqlQuery,
  schema: string,
  own: OwnThread,
  block: number,
  without: (list: string) => { readonly list: string; readonly removed: number },
): Promise<void> {
  const changed: Bucket[] = [];
  for (const bucket of await readBuckets(query, schema, own, [block, block])) {
    let isChanged = false;
    for (const [term, { count, list }] of bucket.lines) {
      const left = without(list);
      if (left.removed === 0) continue;
      isChanged = true;
      if (count > left.removed) bucket.lines.set(term, { count: count - left.removed, list: left.list });
      else bucket.lines.delete(term);
    }
    if (isChanged) changed.push(bucket);
  }
  await writeBuckets(query, schema, own, changed);
}

/** The lines of several blocks, each term's from all of them, as buckets of the merged block `into`. */
export function regrouped(lines: ReadonlyMap<string, BucketLine>, into: number): Bucket[] {
  const buckets = new Map<number, Bucket>();
  for (const [term, line] of lines) {
    const bucket = bucketOf(term, into);
    const place = buckets.get(bucket) ?? { block: into, bucket, lines: new Map() };
    buckets.set(bucket, place);
    place.lines.set(term, line);
  }
  return [...buckets.values()];
}

/** The first and the last bucket of each step through blocks of which not all is to be in memory at once. */
export function bucketSteps(): (readonly [first: number, last: number])[] {
  const size = 32;
  return Array.from({ length: BUCKETS / size }, (_, step) => [step * size, (step + 1) * size - 1]);
}

function readLines(text: string): Map<string, BucketLine> {
  const lines = new Map<string, BucketLine>();
  for (const line of text.split("\n").slice(1)) {
    const tab = line.indexOf("\t");
    lines.set(line.slice(0, tab), readLine(line.slice(tab + 1)));
  }
  return lines;
}

function spellLines(lines: ReadonlyMap<string, BucketLine>): string {
  return [...lines].map(([term, { count, list }]) => `\n${term}\t${count} ${list}`).join("");
}
