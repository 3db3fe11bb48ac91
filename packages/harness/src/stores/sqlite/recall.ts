/** The search index's rows in SQLite. Terms travel as JSON, so that a question of any length is one bound value. */
import type {
  Entry,
  IndexBatch,
  NewPosting,
  OrdinalRange,
  Posting,
  RecallTables,
  Span,
  Stretch,
} from "../recall-tables.ts";
import { BLOCK_SIZE, newestByBlock } from "../recall-tables.ts";
import type { Connection, Row } from "./connection.ts";
import { findThread } from "./rows.ts";

export function recallTables(connection: Connection): RecallTables {
  const { guard } = connection;
  const write = <T>(work: () => T) => guard(() => connection.transaction("IMMEDIATE", work));
  return {
    lineage: (thread) => guard(() => lineage(connection, thread)),
    ofUser: (user) => guard(() => ofUser(connection, user)),
    write: (thread, batch) => write(() => writeBatch(connection, thread, batch)),
    repair: (thread, block, postings) => write(() => repair(connection, thread, block, postings)),
    clear: (thread) =>
      write(() => {
        const row = findThread(connection, thread);
        if (row) forgetIndex(connection, row.num);
      }),
    postings: (spans, terms) => guard(() => spans.flatMap((span) => postings(connection, span, terms))),
    totals: (thread, through) =>
      guard(() => {
        const row = connection.get(
          `SELECT count(*) AS entries, coalesce(sum(length), 0) AS length FROM recall_entries
           WHERE num = (SELECT num FROM threads WHERE id = ?) AND ordinal <= ?`,
          thread,
          through,
        )!;
        return { entries: row["entries"] as number, length: row["length"] as number };
      }),
    entries: (ranges) => guard(() => entries(connection, ranges)),
    blocks: (threads) =>
      guard(() =>
        threads.flatMap((thread) =>
          connection
            .all("SELECT block, newest FROM recall_blocks WHERE num = (SELECT num FROM threads WHERE id = ?)", thread)
            .map((row) => ({ thread, block: row["block"] as number, newest: row["newest"] as string })),
        ),
      ),
  };
}

const STRETCH = `t.id, t.num, t.base, t.base_seq, h.version, i.indexed, i.ordinal, i.session, i.at, i.entries, i.length,
  (SELECT json_group_array(block) FROM recall_stale s WHERE s.num = t.num) AS stale
  FROM threads t JOIN heads h USING (num) LEFT JOIN recall_threads i USING (num)`;

function lineage(connection: Connection, thread: string): Stretch[] {
  const found: Stretch[] = [];
  let through: number | null = null;
  let row = connection.get(`SELECT ${STRETCH} WHERE t.id = ?`, thread);
  while (row) {
    found.unshift(stretch(connection, row, through));
    if (row["base"] === null) break;
    through = Math.min(through ?? Number.MAX_SAFE_INTEGER, row["base_seq"] as number);
    row = connection.get(`SELECT ${STRETCH} WHERE t.num = ?`, row["base"] as number);
  }
  return found;
}

function ofUser(connection: Connection, user: string): Stretch[] {
  return connection.all(`SELECT ${STRETCH} WHERE t.user = ?`, user).map((row) => stretch(connection, row, null));
}

function stretch(connection: Connection, row: Row, through: number | null): Stretch {
  const { at, ordinal, session } = row;
  return {
    thread: row["id"] as string,
    through: through ?? (row["version"] as number),
    cut: through === null ? null : cutAt(connection, row["num"] as number, through),
    indexed: (row["indexed"] ?? row["base_seq"]) as number,
    newest: ordinal == null ? null : { ordinal: ordinal as number, session: session as number, at: at as string },
    entries: (row["entries"] ?? 0) as number,
    length: (row["length"] ?? 0) as number,
    stale: JSON.parse(row["stale"] as string) as number[],
  };
}

function cutAt(connection: Connection, num: number, seq: number): number {
  const sql = "SELECT ordinal FROM recall_entries WHERE num = ? AND seq <= ? ORDER BY seq DESC LIMIT 1";
  return (connection.get(sql, num, seq)?.["ordinal"] ?? -1) as number;
}

function writeBatch(connection: Connection, thread: string, batch: IndexBatch): "written" | "conflict" | "missing" {
  const row = findThread(connection, thread);
  if (!row) return "missing";
  const { num } = row;
  const stands = connection.get("SELECT indexed FROM recall_threads WHERE num = ?", num)?.["indexed"] ?? row.baseSeq;
  if (stands !== batch.expect) return "conflict";
  for (const { ordinal, seq, session, at, speaker, length, asks } of batch.entries)
    connection.run(
      "INSERT INTO recall_entries (num, ordinal, seq, session, at, speaker, length, asks) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      ...[num, ordinal, seq, session, at, speaker, length, asks ? 1 : 0],
    );
  addPostings(connection, num, batch.postings);
  for (const { block, newest } of newestByBlock(batch.entries))
    connection.run(
      `INSERT INTO recall_blocks (num, block, newest) VALUES (?, ?, ?)
       ON CONFLICT (num, block) DO UPDATE SET newest = max(newest, excluded.newest)`,
      ...[num, block, newest],
    );
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

function addPostings(connection: Connection, num: number, postings: readonly NewPosting[]): void {
  for (const { term, block, count, list } of postings) {
    const { changes } = connection.run(
      "UPDATE recall_postings SET count = count + ?, list = list || ? WHERE num = ? AND term = ? AND block = ?",
      ...[count, list, num, term, block],
    );
    if (changes > 0) continue;
    connection.run(
      "INSERT INTO recall_postings (num, term, block, count, list) VALUES (?, ?, ?, ?, ?)",
      ...[num, term, block, count, list],
    );
  }
}

/** Only if it still waits: another process may have made it anew. */
function repair(connection: Connection, thread: string, block: number, postings: readonly NewPosting[]): void {
  const num = findThread(connection, thread)?.num;
  if (num === undefined) return;
  const { changes } = connection.run("DELETE FROM recall_stale WHERE num = ? AND block = ?", num, block);
  if (changes > 0) addPostings(connection, num, postings);
}

/** Rows come as one JSON text each: what a row costs to hand over is most of what it costs. */
function postings(connection: Connection, { thread, before }: Span, terms: readonly string[]): Posting[] {
  const rows = connection.all(
    `SELECT p.term, json_group_array(json_array(p.block, p.count, p.list)) AS rows
     FROM json_each(?) t CROSS JOIN recall_postings p
     ON p.num = (SELECT num FROM threads WHERE id = ?) AND p.term = t.value AND p.block < ? GROUP BY t.key`,
    JSON.stringify(terms),
    thread,
    before,
  );
  return rows.flatMap((row) => {
    const list = JSON.parse(row["rows"] as string) as [number, number, string][];
    return list.map(([block, count, list]) => ({ thread, term: row["term"] as string, block, count, list }));
  });
}

function entries(connection: Connection, ranges: readonly OrdinalRange[]): Entry[] {
  return [...Map.groupBy(ranges, ({ thread }) => thread)].flatMap(([thread, own]) => {
    const row = connection.get(
      `SELECT json_group_array(json_array(e.ordinal, e.seq, e.session, e.at, e.speaker, e.length, e.asks)) AS rows
       FROM json_each(?) o CROSS JOIN recall_entries e
       ON e.num = (SELECT num FROM threads WHERE id = ?) AND e.ordinal BETWEEN o.value ->> 0 AND o.value ->> 1`,
      JSON.stringify(own.map(({ first, last }) => [first, last])),
      thread,
    );
    const rows = JSON.parse(row!["rows"] as string) as [number, number, number, string, string, number, number][];
    return rows.map(([ordinal, seq, session, at, speaker, length, asks]) => {
      return { thread, ordinal, seq, session, at, speaker, length, asks: asks === 1 };
    });
  });
}

/** Everything the index knows of a thread. */
export function forgetIndex(connection: Connection, num: number): void {
  for (const table of ["recall_threads", "recall_entries", "recall_postings", "recall_blocks", "recall_stale"])
    connection.run(`DELETE FROM ${table} WHERE num = ?`, num);
}

/** The words of an erased message leave the index with it: its block's postings go, and are made anew without it. */
export function forgetEntry(connection: Connection, num: number, seq: number): void {
  const entry = connection.get("SELECT ordinal, length FROM recall_entries WHERE num = ? AND seq = ?", num, seq);
  if (!entry) return;
  const block = Math.floor((entry["ordinal"] as number) / BLOCK_SIZE);
  connection.run("DELETE FROM recall_entries WHERE num = ? AND seq = ?", num, seq);
  connection.run("DELETE FROM recall_postings WHERE num = ? AND block = ?", num, block);
  connection.run("INSERT OR IGNORE INTO recall_stale (num, block) VALUES (?, ?)", num, block);
  connection.run(
    "UPDATE recall_threads SET entries = entries - 1, length = length - ? WHERE num = ?",
    entry["length"] as number,
    num,
  );
}
