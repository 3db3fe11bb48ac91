/**
 * Threads in PostgreSQL: create, list, fork, delete. A fork copies nothing: it names its base and reads through it
 * (`lineage.ts`). Deleting a base hands each fork its own copy first, in the same transaction.
 */

import type { ChainedRecord, Head, ThreadHeader } from "@palimpsest/core/internal/log";
import { orphaned, readHeader, readMark, writeMark } from "../driver-rules.ts";
import type { ForkRequest, Lease, Store, ThreadPage, ThreadQuery } from "../store.ts";
import { LONG, type SqlQuery } from "./connection.ts";
import { HEAD_COLUMNS, type HeadRow, headValues, MINUTE, readHead, stateValues } from "./head.ts";
import { HOLDS, LIVE } from "./leases.ts";
import { lineage, NAMED, type PostgresUserConnection } from "./lineage.ts";
import { inheritMatches } from "./matches.ts";
import { forgetPrompts, inheritPrompts } from "./prompts.ts";
import { WRITTEN_COLUMNS, WRITTEN_TYPES, writtenColumns } from "./record-row.ts";
import { forgetIndex } from "./search.ts";
import { FORGET_RUNS } from "./shared-runs.ts";

export async function header(
  { schema, run, userId }: PostgresUserConnection,
  threadId: string,
): Promise<ThreadHeader | undefined> {
  const sql = `SELECT header FROM ${schema}.threads WHERE ${NAMED}`;
  const [row] = await run((query) => query<{ header: string }>(sql, [userId, threadId]));
  return row && readHeader(row.header);
}

export async function head(
  { schema, run, userId }: PostgresUserConnection,
  threadId: string,
): Promise<Head | undefined> {
  const sql = `SELECT ${HEAD_COLUMNS} FROM ${schema}.threads WHERE ${NAMED}`;
  const [row] = await run((query) => query<HeadRow>(sql, [userId, threadId]));
  return row && readHead(row);
}

export function createThread(
  { schema, transaction }: PostgresUserConnection,
  header: ThreadHeader,
  head: Head,
  records: readonly ChainedRecord[] = [],
): Promise<"created" | "exists"> {
  return transaction((query, again) => insert(query, schema, { header, head, records, base: null, baseAt: 0, again }));
}

interface NewThreadRow {
  readonly header: ThreadHeader;
  readonly head: Head;
  /** What it starts with. */
  readonly records: readonly ChainedRecord[];
  readonly base: number | null;
  readonly baseAt: number;
  readonly again: boolean;
}

/**
 * One creation of a user at a time, by the row that counts them: numbers are handed out in the order threads become visible, so
 * that a listing of the user's threads by number misses none. The number of one that exists already is lost.
 */
async function insert(query: SqlQuery, schema: string, thread: NewThreadRow): Promise<"created" | "exists"> {
  const { header, head, records, base, baseAt, again } = thread;
  const text = JSON.stringify(header);
  const [counted] = await query<{ num: number }>(
    `INSERT INTO ${schema}.users AS u (owner, threads) VALUES ($1, 1)
    ON CONFLICT (owner) DO UPDATE SET threads = u.threads + 1 RETURNING threads AS num`,
    [header.user],
  );
  const { num } = counted!;
  const named = [header.user, header.id, num, header.kind, text, base, baseAt];
  const created = await query(
    `INSERT INTO ${schema}.threads (owner, id, num, kind, header, base, base_at, ${HEAD_COLUMNS}, title)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT (owner, id) DO NOTHING RETURNING 1`,
    [...named, ...headValues(head), ...stateValues(head)],
  );
  if (created.length === 1) {
    if (records.length > 0)
      await query(
        `INSERT INTO ${schema}.records (owner, thread, ${WRITTEN_COLUMNS})
        SELECT $1, $2::int, new.* FROM unnest(${WRITTEN_TYPES.map((type, at) => `$${at + 3}::${type}[]`).join(", ")}) AS new`,
        [header.user, num, ...writtenColumns(records)],
      );
    return "created";
  }
  if (!again) return "exists";
  const own = await query(`SELECT 1 FROM ${schema}.threads WHERE ${NAMED} AND header = $3`, [
    header.user,
    header.id,
    text,
  ]);
  return own.length === 1 ? "created" : "exists";
}

export function fork(
  { schema, transaction, userId }: PostgresUserConnection,
  request: ForkRequest,
): ReturnType<Store["fork"]> {
  return transaction(async (query, again) => {
    // The lock keeps the parent from being deleted before the fork stands.
    const sql = `SELECT num, version FROM ${schema}.threads WHERE ${NAMED} FOR SHARE`;
    const [parent] = await query<{ num: number; version: number }>(sql, [userId, request.from]);
    if (!parent) return "missing";
    if (request.at > parent.version) return "beyond-end";
    const { header, head, records = [] } = request;
    return insert(query, schema, { header, head, records, base: parent.num, baseAt: request.at, again });
  });
}

/** Down from the thread that wrote the record, through every fork that left at it or later. */
export async function sharers(
  { schema, run, userId }: PostgresUserConnection,
  threadId: string,
  seq: number,
): Promise<readonly string[]> {
  const sql = `${lineage(schema)}, writer AS (
      SELECT r.thread::bigint AS thread FROM line JOIN ${schema}.records r
        ON r.owner = $1 AND r.thread = line.thread AND r.seq = $3 AND r.seq <= line.through LIMIT 1
    ), sharing (num) AS (
      SELECT thread FROM writer
      UNION ALL
      SELECT t.num FROM sharing JOIN ${schema}.threads t
        ON t.owner = $1 AND t.base = sharing.num AND t.base_at >= $3
    ) SELECT t.id FROM sharing JOIN ${schema}.threads t ON t.owner = $1 AND t.num = sharing.num ORDER BY t.num`;
  const rows = await run((query) => query<{ id: string }>(sql, [userId, threadId, seq]));
  return rows.map((row) => row.id);
}

export function deleteThread(
  { schema, transaction, userId }: PostgresUserConnection,
  threadId: string,
  lease?: Lease,
): Promise<"deleted" | "missing" | "busy"> {
  return transaction(async (query, again) => {
    const [row] = await query<Family & { live: boolean }>(
      `SELECT ${LIVE} AND NOT (${HOLDS("$3", "$4")}) AS live, num, header, base, base_at
      FROM ${schema}.threads WHERE ${NAMED} FOR UPDATE`,
      [userId, threadId, lease?.owner ?? "", lease?.epoch ?? -1],
    );
    if (!row) return again ? "deleted" : "missing";
    if (row.live) return "busy";
    const forks = await query<Family>(
      `SELECT num, header, base, base_at FROM ${schema}.threads WHERE owner = $1 AND base = $2 ORDER BY num FOR UPDATE`,
      [userId, row.num],
    );
    for (const fork of forks) await inherit(query, schema, userId, row, fork);
    await forgetIndex(query, schema, userId, row.num);
    await forgetPrompts(query, schema, userId, row.num);
    await query(FORGET_RUNS(schema), [userId, threadId]);
    for (const table of ["records", "drafts", "outbox", "matches"])
      await query(`DELETE FROM ${schema}.${table} WHERE owner = $1 AND thread = $2`, [userId, row.num]);
    await query(`DELETE FROM ${schema}.threads WHERE ${NAMED}`, [userId, threadId]);
    return "deleted";
  }, LONG);
}

interface Family {
  readonly num: number;
  readonly header: string;
  readonly base: number | null;
  readonly base_at: number;
}

/** The fork takes its own copy of the parent's segment and then rests on the grandparent, if there is one. */
async function inherit(query: SqlQuery, schema: string, owner: string, parent: Family, fork: Family): Promise<void> {
  await query(
    `INSERT INTO ${schema}.records (owner, thread, redacted, ${WRITTEN_COLUMNS})
    SELECT owner, $3::int, redacted, ${WRITTEN_COLUMNS}
    FROM ${schema}.records WHERE owner = $1 AND thread = $2 AND seq <= $4`,
    [owner, parent.num, fork.num, fork.base_at],
  );
  const family = { owner, parent: parent.num, fork: fork.num, through: fork.base_at };
  await inheritPrompts(query, schema, family);
  await inheritMatches(query, schema, family);
  // What it shared is its own now; its index is made anew with it.
  await forgetIndex(query, schema, owner, fork.num);
  const header = orphaned(readHeader(fork.header));
  await query(
    `UPDATE ${schema}.threads SET base = $3, base_at = $4, header = $5, late = true WHERE owner = $1 AND num = $2`,
    [owner, fork.num, parent.base, Math.min(parent.base_at, fork.base_at), JSON.stringify(header)],
  );
}

/** Judged by the records themselves: the version in the row is part of what is being repaired. */
export async function writeHead(
  { schema, run, userId }: PostgresUserConnection,
  threadId: string,
  head: Head,
): Promise<"written" | "conflict" | "missing"> {
  const [row] = await run((query) =>
    query<{ written: boolean }>(
      `WITH written AS (
        UPDATE ${schema}.threads t
        SET version = $3, messages = $4, updated_at = $5, head = $6, state = $7, title = $8, late = true
        WHERE ${NAMED} AND $3 = coalesce(
          (SELECT max(seq) FROM ${schema}.records r WHERE r.owner = $1 AND r.thread = t.num), t.base_at)
        RETURNING 1
      ) SELECT EXISTS (SELECT 1 FROM written) AS written FROM ${schema}.threads WHERE ${NAMED}`,
      [userId, threadId, ...headValues(head), ...stateValues(head)],
    ),
  );
  if (!row) return "missing";
  return row.written ? "written" : "conflict";
}

export async function users({ schema, run }: PostgresUserConnection, after = ""): Promise<readonly string[]> {
  const sql = `SELECT DISTINCT owner FROM ${schema}.threads WHERE owner > $1 ORDER BY owner LIMIT 500`;
  return (await run((query) => query<{ owner: string }>(sql, [after]))).map(({ owner }) => owner);
}

interface ThreadListRow {
  readonly header: string;
  readonly title: string | null;
  readonly messages: number;
  readonly updated_at: string;
  readonly num: number;
}

export async function threads(
  { schema, run, userId }: PostgresUserConnection,
  request: ThreadQuery = {},
): Promise<ThreadPage> {
  const { kind, after, limit = 50, order = "recent" } = request;
  const values: unknown[] = [limit + 1, userId];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const where = ["owner = $2"];
  if (kind !== undefined) where.push(`kind = ${parameter(kind)}`);
  if (after !== undefined) {
    const { num, updated } = readMark(after);
    if (order === "created") where.push(`num > ${parameter(num)}`);
    else {
      const [at, place] = [parameter(updated), parameter(num)];
      where.push(`(minute, updated_at, num) < (left(${at}, ${MINUTE}), ${at}, ${place}::bigint)`);
    }
  }
  const sql = `SELECT header, title, messages, updated_at, num FROM ${schema}.threads WHERE ${where.join(" AND ")}
    ORDER BY ${order === "created" ? "num" : "minute DESC, updated_at DESC, num DESC"} LIMIT $1`;
  const rows = await run((query) => query<ThreadListRow>(sql, values));
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const next = rows.length > limit && last ? writeMark({ num: last.num, updated: last.updated_at }) : null;
  return { threads: page.map(summary), next };
}

function summary({ header, title, messages, updated_at }: ThreadListRow): ThreadPage["threads"][number] {
  return { header: readHeader(header), title, messages, updatedAt: updated_at };
}
