/**
 * How postings lie in their rows: by blocks that are appended to, then, when 16 of them are full, by parts that no longer change.
 * Reading them is search.ts.
 */
import { listsByBlock, type MergedPosting, PlaceLists, readPostings, withoutEntry } from "../posting-text.ts";
import type { NewPosting } from "../search-tables.ts";
import type { Connection } from "./connection.ts";
import { NUM, type UserConnection } from "./rows.ts";

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

/** One step. */
export function mergeBlocks(connection: UserConnection, threadId: string): "merged" | "nothing" {
  const sql = `SELECT num, merged, ordinal FROM recall_threads WHERE num = ${NUM}`;
  const row = connection.get(sql, connection.userId, threadId);
  if (!row) return "nothing";
  const [num, part] = [row["num"] as number, row["merged"] as number];
  const [first, last] = [part * MERGED, (part + 1) * MERGED - 1];
  // Ordinals only rise, so a block is done when a later one has begun.
  if (Math.floor(((row["ordinal"] ?? 0) as number) / BLOCK_SIZE) <= last) return "nothing";
  const range = "num = ? AND block BETWEEN ? AND ?";
  const lists = new PlaceLists();
  for (const { block, term, list } of connection.each(
    `SELECT block, term, list FROM recall_postings WHERE ${range} ORDER BY block`,
    ...[num, first, last],
  )) {
    const start = ((block as number) - first) * BLOCK_SIZE;
    readPostings(
      list as string,
      BLOCK_SIZE,
      (offset, weight, passages) => lists.add(term as string, offset, weight, passages),
      start,
    );
  }
  connection.run(`DELETE FROM recall_postings WHERE ${range}`, num, first, last);
  writePart(connection, num, part, lists.merged());
  connection.run("UPDATE recall_threads SET merged = ? WHERE num = ?", part + 1, num);
  return "merged";
}

/** Of blocks of which nothing is there yet. */
export function writeNextPart(connection: Connection, num: number, postings: readonly MergedPosting[]): void {
  const part = connection.get("SELECT merged FROM recall_threads WHERE num = ?", num)!["merged"] as number;
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
    const [term, before] = [row["term"] as string, row["list"] as string];
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
