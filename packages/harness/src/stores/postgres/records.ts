/**
 * Records in PostgreSQL: append, redact, read. An append is one statement, so it takes one round trip and can't be half
 * done; its compare-and-set is the update of the thread's row, which makes the writers of one thread wait for each other
 * and nobody else.
 */
import type { QueryResultRow } from "pg";
import { assertInOrder } from "../driver-rules.ts";
import { letterOf } from "../packed-record.ts";
import type {
  AppendBatch,
  AppendResult,
  FirstAppendResult,
  LeaseClaim,
  RecordQuery,
  RedactRequest,
  StoredRecord,
} from "../store.ts";
import { ASYNC_COMMIT, DURABLE, type SqlQuery } from "./connection.ts";
import { headValues, stateValues } from "./head.ts";
import { type HeldRow, HOLDS, heldBy, standing } from "./leases.ts";
import {
  BESIDE_NAMED,
  beside,
  lineage,
  NAMED,
  numOf,
  type PostgresUserConnection,
  type ThreadRowName,
} from "./lineage.ts";
import { MATCHED, matchColumns } from "./matches.ts";
import { jobColumns, QUEUED } from "./outbox.ts";
import { KEPT, promptColumns } from "./prompts.ts";
import {
  fromRow,
  HEADER_COLUMNS,
  RARE_KINDS,
  RECORD_COLUMNS,
  type RecordRow,
  textOf,
  textRow,
  WRITTEN_COLUMNS,
  WRITTEN_TYPES,
  writtenColumns,
} from "./record-row.ts";
import { forgetEntry } from "./search.ts";
import { FORGET_RUNS } from "./shared-runs.ts";

interface Append {
  readonly name: ThreadRowName;
  readonly batch: AppendBatch;
  readonly again: boolean;
}

export function append(
  connection: PostgresUserConnection,
  threadId: string,
  batch: AppendBatch,
): Promise<AppendResult> {
  const name = [connection.userId, threadId] as const;
  return connection.run((query, again) => write(query, connection.schema, { name, batch, again }));
}

async function write(query: SqlQuery, schema: string, request: Append): Promise<AppendResult> {
  const { name, batch } = request;
  const { head, lease, flush, leaseAfter } = batch;
  assertInOrder(batch);
  if (lease.threadId !== name[1]) return refusal(query, schema, request);
  const { clauses, values } = written(schema, 12, batch);
  const [done] = await query<{ moved: number }>(
    `WITH ${flush === "later" ? ASYNC_COMMIT : DURABLE}, moved AS (
      UPDATE ${schema}.threads SET version = $4, messages = $5, updated_at = $6, head = $7, late = true,
        state = coalesce($8, state), title = CASE WHEN $8 IS NULL THEN title ELSE $9 END
        ${leaseAfter === "released" ? ", lease_until = to_timestamp(0)" : ""}
      FROM commit WHERE ${NAMED} AND version = $3 AND ${HOLDS("$10", "$11")} RETURNING num, commit.at
    ), ${clauses} SELECT count(*) AS moved FROM moved`,
    [...name, batch.expect, ...threadValues(batch), lease.owner, lease.epoch, ...values],
  );
  return done!.moved === 1 ? { kind: "appended", version: head.version } : refusal(query, schema, request);
}

/**
 * The same, where the lease is taken with it. The row is locked and judged first, as by `acquireLease`; where the log has
 * moved on, only the lease is written.
 */
export function appendFirst(
  { schema, run, userId }: PostgresUserConnection,
  threadId: string,
  batch: AppendBatch,
  { ttlMs, after }: LeaseClaim,
): Promise<FirstAppendResult> {
  const { owner } = batch.lease;
  assertInOrder(batch);
  const { clauses, values } = written(schema, 13, batch);
  const ifSame = (column: string, value: string) => `${column} = CASE WHEN s.same THEN ${value} ELSE t.${column} END`;
  const ends = batch.leaseAfter === "released" ? "CASE WHEN s.same THEN to_timestamp(0) ELSE s.ends END" : "s.ends";
  return run(async (query, again) => {
    const [row] = await query<HeldRow & { epoch: number | null; newest: number; same: boolean | null }>(
      `WITH ${batch.flush === "later" ? ASYNC_COMMIT : DURABLE},
      ${standing(schema, "$11", ", lease_epoch, version = $3 AND head::json ->> 'hash' = $12 AS same")}, taken AS (
        UPDATE ${schema}.threads t SET ${ifSame("version", "$4")}, ${ifSame("messages", "$5")}, ${ifSame("updated_at", "$6")},
          ${ifSame("head", "$7")}, late = t.late OR s.same, ${ifSame("state", "coalesce($8, t.state)")},
          title = CASE WHEN s.same AND $8::text IS NOT NULL THEN $9 ELSE t.title END,
          lease_owner = $10, lease_epoch = t.lease_epoch + 1, lease_taken = s.at, lease_until = ${ends}
        FROM standing s, commit WHERE t.owner = $1 AND t.id = $2 AND (NOT s.live OR s.lease_owner = $10)
        RETURNING t.num, commit.at, t.lease_epoch AS epoch, s.same
      ), moved AS (SELECT num, at FROM taken WHERE same), ${clauses}
      SELECT s.lease_owner AS owner, s.lease_taken AS taken, s.lease_until AS until, s.lease_epoch AS newest,
        taken.epoch, taken.same FROM standing s LEFT JOIN taken ON true`,
      [userId, threadId, batch.expect, ...threadValues(batch), owner, ttlMs, after, ...values],
    );
    if (row === undefined) return { kind: "missing" };
    // An attempt whose connection broke may have been committed after all, and another holder may have come since.
    const stands = row.same === true || (again && (await areThere(query, schema, [userId, threadId], batch)));
    if (row.epoch === null && !stands) return heldBy(row);
    // Then ours is over: no append is let through under its owner and the other's epoch.
    return { kind: stands ? "appended" : "moved", lease: { threadId, owner, epoch: row.epoch ?? row.newest } };
  });
}

/** Of the thread's row: the head, and the state where it changes. */
function threadValues({ head, records }: AppendBatch): readonly unknown[] {
  const changesState = records.some(({ kind }) => kind === "state");
  return [...headValues(head), ...(changesState ? stateValues(head) : [null, null])];
}

/** The records and what else an append brings, for the thread in `moved`; parameters from `first` on. */
function written(
  schema: string,
  first: number,
  { records, expect, jobs = [], prompts = [], matches = [] }: AppendBatch,
) {
  const columns = writtenColumns(records);
  const lists = WRITTEN_TYPES.map((type, index) => `$${first + index}::${type}[]`);
  const more = alsoWritten(schema, first + columns.length, [
    { part: QUEUED, values: jobs.length > 0 ? jobColumns(jobs) : [] },
    { part: KEPT, values: prompts.length > 0 ? promptColumns(prompts, expect) : [] },
    { part: MATCHED, values: matches.length > 0 ? matchColumns(matches) : [] },
  ]);
  const insert = `written AS (
    INSERT INTO ${schema}.records (owner, thread, ${WRITTEN_COLUMNS})
    SELECT named.owner, moved.num, new.* FROM ${beside(schema)}, moved, unnest(${lists.join(", ")}) AS new
    WHERE ${BESIDE_NAMED}
  )`;
  return {
    clauses: [insert, ...more.map(({ clause }) => clause)].join(", "),
    values: [...columns, ...more.flatMap(({ values }) => values)],
  };
}

interface RecordPart {
  /** `first`: the number of its first parameter. */
  readonly part: (schema: string, first: number) => string;
  readonly values: readonly unknown[];
}

/** What an append brings beside its records, where it brings any, each with the parameters after those of the one before. */
function alsoWritten(schema: string, first: number, parts: readonly RecordPart[]) {
  let next = first;
  return parts
    .filter(({ values }) => values.length > 0)
    .map(({ part, values }) => {
      const clause = part(schema, next);
      next += values.length;
      return { clause, values };
    });
}

async function refusal(query: SqlQuery, schema: string, { name, batch, again }: Append): Promise<AppendResult> {
  const { lease } = batch;
  const [row] = await query<{ version: number; holds: boolean | null }>(
    `SELECT version, ${HOLDS("$3", "$4")} AS holds FROM ${schema}.threads t WHERE ${NAMED}`,
    [...name, lease.owner, lease.epoch],
  );
  if (row === undefined) return { kind: "missing" };
  // The attempt whose connection broke was committed after all.
  if (again && (await areThere(query, schema, name, batch))) return { kind: "appended", version: batch.head.version };
  if (lease.threadId !== name[1] || row.holds !== true) return { kind: "lease-lost" };
  return { kind: "conflict", version: row.version };
}

/** Whether these very records stand at their place. */
async function areThere(
  query: SqlQuery,
  schema: string,
  name: ThreadRowName,
  { records }: AppendBatch,
): Promise<boolean> {
  const last = records.at(-1);
  const [row] = await query<RecordRow & QueryResultRow>(
    `SELECT ${HEADER_COLUMNS} FROM ${schema}.records r WHERE r.owner = $1 AND r.thread = ${numOf(schema)} AND r.seq = $3`,
    [...name, last?.seq ?? 0],
  );
  return row !== undefined && textOf(row).hash === last?.hash;
}

export async function redact(connection: PostgresUserConnection, request: RedactRequest): Promise<AppendResult> {
  const { schema, userId } = connection;
  const { bodies, headers = [], batches } = request;
  // Everyone locks the threads in the same order, so two redactions can't wait for each other.
  const ordered = [...batches].sort((a, b) => (a.threadId < b.threadId ? -1 : 1));
  let refused: AppendResult | undefined;
  try {
    await connection.transaction(async (query, again) => {
      for (const { threadId, batch } of ordered) {
        const result = await write(query, schema, { name: [userId, threadId], batch, again });
        if (result.kind === "appended") continue;
        refused = result;
        throw ROLL_BACK;
      }
      for (const { threadId, seq, body } of bodies) {
        await rewrite(query, schema, [userId, threadId], seq, { body });
        await forgetEntry(query, schema, [userId, threadId], seq);
        await query(FORGET_RUNS(schema), [userId, threadId]);
      }
      for (const { threadId, seq, header } of headers)
        await rewrite(query, schema, [userId, threadId], seq, { header });
    });
  } catch (error) {
    if (error === ROLL_BACK && refused) return refused;
    throw error;
  }
  return { kind: "appended", version: batches[0]?.batch.head.version ?? 0 };
}

const ROLL_BACK = new Error("an append was refused");

/** What stands in its place is kept as text, beside the hashes of what was there. The threads that show it are held. */
async function rewrite(
  query: SqlQuery,
  schema: string,
  name: ThreadRowName,
  seq: number,
  now: { readonly body?: string; readonly header?: string },
): Promise<void> {
  const [row] = await query<RecordRow & QueryResultRow & { thread: number }>(
    `${lineage(schema)} SELECT r.thread, ${RECORD_COLUMNS} FROM line JOIN ${schema}.records r
      ON r.owner = $1 AND r.thread = line.thread AND r.seq = $3 AND r.seq <= line.through`,
    [...name, seq],
  );
  if (row === undefined) return;
  const { header, body, bodyHash, hash } = textOf(row);
  const text = textRow({ header, body, bodyHash, hash, ...now });
  await query(
    `UPDATE ${schema}.records SET header = $4, packed = $5, body = $6, zipped = $7, redacted = true
    WHERE owner = $1 AND thread = $2 AND seq = $3`,
    [name[0], row.thread, seq, text.header, text.packed, text.body, text.zipped],
  );
}

const PAGE_CHARACTERS = 2_000_000;

/** Page by page, each one statement: no transaction stays open while the caller thinks. */
export async function* records(
  connection: PostgresUserConnection,
  threadId: string,
  request: RecordQuery = {},
): AsyncGenerator<StoredRecord> {
  const descending = request.order === "descending";
  let [first, last] = request.range ?? [1, Number.MAX_SAFE_INTEGER];
  for (let size = 128; first <= last; ) {
    const page: RecordRowPage = { ...request, range: [first, last], size };
    const rows = await connection.run((query) =>
      readPage(query, connection.schema, [connection.userId, threadId], page),
    );
    for (const row of rows) yield fromRow(row);
    // A short page is no end: the caller may have appended while it looked at it.
    if (rows.length === 0) return;
    if (descending) last = rows.at(-1)!.seq - 1;
    else first = rows.at(-1)!.seq + 1;
    const characters = rows.reduce((sum, row) => sum + row.packed.length + (row.body?.length ?? 0), 1);
    size = Math.max(1, Math.min(1024, Math.floor((PAGE_CHARACTERS * rows.length) / characters)));
  }
}

interface RecordRowPage extends RecordQuery {
  readonly range: NonNullable<RecordQuery["range"]>;
  readonly size: number | null;
}

/** Each segment of the lineage is cut to the page's size before they are joined, so a page costs only its own rows. */
export function readPage(
  query: SqlQuery,
  schema: string,
  thread: ThreadRowName,
  page: RecordRowPage,
): Promise<RecordRow[]> {
  const direction = page.order === "descending" ? "DESC" : "ASC";
  // Said in so many words, because the planner can't see from a list that the index of the rare kinds will do.
  const rare = page.kinds?.every((kind) => kind !== "message" && kind !== "usage") ? `AND r.${RARE_KINDS}` : "";
  return query<RecordRow>(
    `${lineage(schema)} SELECT page.* FROM line CROSS JOIN LATERAL (
      SELECT ${page.bodies === "none" ? HEADER_COLUMNS : RECORD_COLUMNS} FROM ${schema}.records r
      WHERE r.owner = $1 AND r.thread = line.thread AND r.seq BETWEEN $3::bigint AND LEAST($4::bigint, line.through)
        ${page.kinds ? "AND r.kind = ANY ($6)" : ""} ${rare} ${page.seqs ? `AND r.seq = ANY ($${page.kinds ? 7 : 6}::bigint[])` : ""}
      ORDER BY r.seq ${direction} LIMIT $5
    ) page ORDER BY page.seq ${direction} LIMIT $5`,
    [
      ...thread,
      ...page.range,
      page.size,
      ...(page.kinds ? [page.kinds.map(letterOf)] : []),
      ...(page.seqs ? [page.seqs] : []),
    ],
  );
}

export function readSome(
  query: SqlQuery,
  schema: string,
  thread: ThreadRowName,
  seqs: readonly number[],
): Promise<RecordRow[]> {
  return query<RecordRow>(
    `${lineage(schema)} SELECT ${RECORD_COLUMNS} FROM line JOIN ${schema}.records r
      ON r.owner = $1 AND r.thread = line.thread AND r.seq = ANY ($3::bigint[]) AND r.seq <= line.through
    ORDER BY r.seq`,
    [...thread, seqs],
  );
}
