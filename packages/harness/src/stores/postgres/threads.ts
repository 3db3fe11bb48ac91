/**
 * Threads in PostgreSQL: create, list, fork, delete. A fork copies nothing: it names its base and reads through it
 * (`lineage.ts`). Deleting a base hands each fork its own copy first, in the same transaction.
 */
import type { ChainedRecord, Head, ThreadHeader } from "@palimpsest/core/log";
import type { ForkRequest, Lease, Store, ThreadPage, ThreadQuery } from "../store.ts";
import { type Connection, LONG, type Query } from "./connection.ts";
import { HEAD_COLUMNS, type HeadRow, headValues, readHead, stateValues } from "./head.ts";
import { HOLDS, LIVE } from "./leases.ts";
import { lineage } from "./lineage.ts";
import { forgetIndex } from "./recall.ts";

export async function header({ schema, run }: Connection, thread: string): Promise<ThreadHeader | undefined> {
  const sql = `SELECT header FROM ${schema}.threads WHERE id = $1`;
  const [row] = await run((query) => query<{ header: string }>(sql, [thread]));
  return row && (JSON.parse(row.header) as ThreadHeader);
}

export async function head({ schema, run }: Connection, thread: string): Promise<Head | undefined> {
  const sql = `SELECT ${HEAD_COLUMNS} FROM ${schema}.threads WHERE id = $1`;
  const [row] = await run((query) => query<HeadRow>(sql, [thread]));
  return row && readHead(row);
}

export function createThread(
  { schema, transaction }: Connection,
  header: ThreadHeader,
  head: Head,
): Promise<"created" | "exists"> {
  return transaction((query, again) => insert(query, schema, { header, head, base: null, baseAt: 0, again }));
}

interface NewThread {
  readonly header: ThreadHeader;
  readonly head: Head;
  readonly base: string | null;
  readonly baseAt: number;
  readonly again: boolean;
}

async function insert(query: Query, schema: string, thread: NewThread): Promise<"created" | "exists"> {
  const { header, head, base, baseAt, again } = thread;
  // One creation at a time: places are handed out in the order they become visible, so a listing by place misses none.
  await query("SELECT pg_advisory_xact_lock(hashtext('palimpsest threads'), hashtext($1))", [schema]);
  const text = JSON.stringify(header);
  const created = await query(
    `INSERT INTO ${schema}.threads (id, owner, kind, header, base, base_at, ${HEAD_COLUMNS}, title)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (id) DO NOTHING RETURNING 1 AS done`,
    [header.id, header.user, header.kind, text, base, baseAt, ...headValues(head), ...stateValues(head)],
  );
  if (created.length === 1) return "created";
  if (!again) return "exists";
  const own = await query(`SELECT 1 FROM ${schema}.threads WHERE id = $1 AND header = $2`, [header.id, text]);
  return own.length === 1 ? "created" : "exists";
}

export function fork({ schema, transaction }: Connection, request: ForkRequest): ReturnType<Store["fork"]> {
  return transaction(async (query, again) => {
    // The lock keeps the parent from being deleted before the fork stands.
    const sql = `SELECT version FROM ${schema}.threads WHERE id = $1 FOR SHARE`;
    const [parent] = await query<{ version: number }>(sql, [request.from]);
    if (!parent) return "missing";
    if (request.at > parent.version) return "beyond-end";
    const { header, head } = request;
    const result = await insert(query, schema, { header, head, base: request.from, baseAt: request.at, again });
    if (result === "created")
      for (const record of request.records ?? []) await insertFirst(query, schema, header.id, record);
    return result;
  });
}

/** A record the fork starts with; nobody else can write to it yet. */
async function insertFirst(query: Query, schema: string, thread: string, record: ChainedRecord): Promise<void> {
  const { seq, kind, header, body, bodyHash, hash } = record;
  await query(
    `INSERT INTO ${schema}.records (thread, seq, kind, header, body, body_hash, hash)
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`,
    [thread, seq, kind, header, body, bodyHash, hash],
  );
}

/** Down from the thread that wrote the record, through every fork that left at it or later. */
export async function sharers({ schema, run }: Connection, thread: string, seq: number): Promise<readonly string[]> {
  const sql = `${lineage(schema)}, writer AS (
      SELECT r.thread FROM line JOIN ${schema}.records r
        ON r.thread = line.thread AND r.seq = $2 AND r.seq <= line.through LIMIT 1
    ), sharing (id) AS (
      SELECT thread FROM writer
      UNION ALL
      SELECT t.id FROM sharing JOIN ${schema}.threads t ON t.base = sharing.id AND t.base_at >= $2
    ) SELECT id FROM sharing JOIN ${schema}.threads USING (id) ORDER BY place`;
  const rows = await run((query) => query<{ id: string }>(sql, [thread, seq]));
  return rows.map((row) => row.id);
}

export function deleteThread(
  { schema, transaction }: Connection,
  thread: string,
  held?: Lease,
): Promise<"deleted" | "missing" | "busy"> {
  return transaction(async (query, again) => {
    const [row] = await query<Family & { live: boolean; place: number }>(
      `SELECT ${LIVE} AND NOT (${HOLDS("$2", "$3")}) AS live, place, id, header, base, base_at
      FROM ${schema}.threads WHERE id = $1 FOR UPDATE`,
      [thread, held?.owner ?? "", held?.epoch ?? -1],
    );
    if (!row) return again ? "deleted" : "missing";
    if (row.live) return "busy";
    const forks = await query<Family>(
      `SELECT id, header, base, base_at FROM ${schema}.threads WHERE base = $1 ORDER BY id FOR UPDATE`,
      [thread],
    );
    for (const fork of forks) await inherit(query, schema, row, fork);
    await forgetIndex(query, schema, thread);
    for (const table of ["records", "drafts"])
      await query(`DELETE FROM ${schema}.${table} WHERE thread = $1`, [thread]);
    await query(`DELETE FROM ${schema}.memory_jobs WHERE place = $1`, [row.place]);
    await query(`DELETE FROM ${schema}.threads WHERE id = $1`, [thread]);
    return "deleted";
  }, LONG);
}

interface Family {
  readonly id: string;
  readonly header: string;
  readonly base: string | null;
  readonly base_at: number;
}

/** The fork takes its own copy of the parent's stretch and hangs on the grandparent, if any. */
async function inherit(query: Query, schema: string, parent: Family, fork: Family): Promise<void> {
  await query(
    `INSERT INTO ${schema}.records (thread, seq, kind, header, body, body_hash, hash, redacted)
    SELECT $2, seq, kind, header, body, body_hash, hash, redacted
    FROM ${schema}.records WHERE thread = $1 AND seq <= $3`,
    [parent.id, fork.id, fork.base_at],
  );
  // What it shared is its own now; its index is made anew with it.
  await forgetIndex(query, schema, fork.id);
  const header: ThreadHeader = { ...(JSON.parse(fork.header) as ThreadHeader), parent: null, forkedAt: null };
  await query(`UPDATE ${schema}.threads SET base = $2, base_at = $3, header = $4 WHERE id = $1`, [
    fork.id,
    parent.base,
    Math.min(parent.base_at, fork.base_at),
    JSON.stringify(header),
  ]);
}

/** Judged by the records themselves: the version in the row is part of what is being repaired. */
export async function writeHead(
  { schema, run }: Connection,
  thread: string,
  head: Head,
): Promise<"written" | "conflict" | "missing"> {
  const [row] = await run((query) =>
    query<{ written: boolean }>(
      `WITH written AS (
        UPDATE ${schema}.threads t
        SET version = $2, messages = $3, updated_at = $4, head = $5, state = $6, title = $7
        WHERE id = $1 AND $2 = coalesce((SELECT max(seq) FROM ${schema}.records r WHERE r.thread = t.id), t.base_at)
        RETURNING 1
      ) SELECT EXISTS (SELECT 1 FROM written) AS written FROM ${schema}.threads WHERE id = $1`,
      [thread, ...headValues(head), ...stateValues(head)],
    ),
  );
  if (!row) return "missing";
  return row.written ? "written" : "conflict";
}

interface ListedRow {
  readonly header: string;
  readonly title: string | null;
  readonly messages: number;
  readonly updated_at: string;
  readonly place: number;
}

export async function threads({ schema, run }: Connection, request: ThreadQuery = {}): Promise<ThreadPage> {
  const { user, kind, after, limit = 50, order = "recent" } = request;
  const values: unknown[] = [limit + 1];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const where = ["true"];
  if (user !== undefined) where.push(`owner = ${parameter(user)}`);
  if (kind !== undefined) where.push(`kind = ${parameter(kind)}`);
  if (after !== undefined) {
    const { place, updated } = readCursor(after);
    if (order === "created") where.push(`place > ${parameter(place)}`);
    else where.push(`(updated_at, place) < (${parameter(updated)}, ${parameter(place)}::bigint)`);
  }
  const sql = `SELECT header, title, messages, updated_at, place FROM ${schema}.threads WHERE ${where.join(" AND ")}
    ORDER BY ${order === "created" ? "place" : "updated_at DESC, place DESC"} LIMIT $1`;
  const rows = await run((query) => query<ListedRow>(sql, values));
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { threads: page.map(summary), next: rows.length > limit && last ? `${last.place}~${last.updated_at}` : null };
}

function summary({ header, title, messages, updated_at }: ListedRow): ThreadPage["threads"][number] {
  return { header: JSON.parse(header) as ThreadHeader, title, messages, updatedAt: updated_at };
}

function readCursor(text: string): { place: number; updated: string } {
  const match = /^(\d+)~(.*)$/s.exec(text);
  if (!match) throw new TypeError(`${JSON.stringify(text)} is no page mark: pass the "next" of the page before`);
  return { place: Number(match[1]), updated: match[2]! };
}
