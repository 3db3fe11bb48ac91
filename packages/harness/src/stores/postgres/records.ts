/**
 * Records in PostgreSQL: append, redact, read. An append is one statement, so it takes one round trip and can't be half
 * done; its compare-and-set is the update of the thread's row, which makes the writers of one thread wait for each other
 * and nobody else.
 */
import type { ChainedRecord } from "@palimpsest/core/log";
import { assertInOrder, storedRecord } from "../driver.ts";
import type { AppendBatch, AppendResult, RecordQuery, RedactRequest, StoredRecord } from "../store.ts";
import { ASYNC_COMMIT, DURABLE, type Query } from "./connection.ts";
import { headValues, stateValues } from "./head.ts";
import { HOLDS } from "./leases.ts";
import { BESIDE_NAMED, beside, lineage, NAMED, type ThreadName, type UserConnection } from "./lineage.ts";
import { MATCHED, matchColumns } from "./matches.ts";
import { jobColumns, QUEUED } from "./outbox.ts";
import { KEPT, promptColumns } from "./prompts.ts";
import { forgetEntry } from "./search.ts";
import { FORGET_RUNS } from "./shared-runs.ts";

interface Append {
  readonly name: ThreadName;
  readonly batch: AppendBatch;
  readonly again: boolean;
}

export function append(connection: UserConnection, threadId: string, batch: AppendBatch): Promise<AppendResult> {
  const name = [connection.userId, threadId] as const;
  return connection.run((query, again) => write(query, connection.schema, { name, batch, again }));
}

async function write(query: Query, schema: string, request: Append): Promise<AppendResult> {
  const { name, batch } = request;
  const { records, head, lease, expect, jobs = [], prompts = [], matches = [], flush } = batch;
  assertInOrder(batch);
  if (lease.threadId !== name[1]) return refusal(query, schema, request);
  const column = <K extends keyof ChainedRecord>(name: K) => records.map((record) => record[name]);
  const [state, title] = records.some(({ kind }) => kind === "state") ? stateValues(head) : [null, null];
  const more = alsoWritten(schema, 18, [
    { part: QUEUED, values: jobs.length > 0 ? jobColumns(jobs) : [] },
    { part: KEPT, values: prompts.length > 0 ? promptColumns(prompts, expect) : [] },
    { part: MATCHED, values: matches.length > 0 ? matchColumns(matches) : [] },
  ]);
  const [done] = await query<{ moved: number }>(
    `WITH ${flush === "later" ? ASYNC_COMMIT : DURABLE}, moved AS (
      UPDATE ${schema}.threads SET version = $4, messages = $5, updated_at = $6, head = $7, late = true,
        state = coalesce($8, state), title = CASE WHEN $8 IS NULL THEN title ELSE $9 END
      FROM commit WHERE ${NAMED} AND version = $3 AND ${HOLDS("$10", "$11")} RETURNING num, commit.at
    ), written AS (
      INSERT INTO ${schema}.records (owner, thread, seq, kind, header, body, body_hash, hash)
      SELECT named.owner, moved.num, new.* FROM ${beside(schema)}, moved,
        unnest($12::bigint[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[]) AS new
      WHERE ${BESIDE_NAMED}
    )${more.map(({ clause }) => `, ${clause}`).join("")}
    SELECT count(*) AS moved FROM moved`,
    [
      ...name,
      expect,
      ...headValues(head),
      state,
      title,
      lease.owner,
      lease.epoch,
      column("seq"),
      column("kind"),
      column("header"),
      column("body"),
      column("bodyHash"),
      column("hash"),
      ...more.flatMap(({ values }) => values),
    ],
  );
  return done!.moved === 1 ? { kind: "appended", version: head.version } : refusal(query, schema, request);
}

interface Part {
  /** `first`: the number of its first parameter. */
  readonly part: (schema: string, first: number) => string;
  readonly values: readonly unknown[];
}

/** What an append brings beside its records, where it brings any, each with the parameters after those of the one before. */
function alsoWritten(schema: string, first: number, parts: readonly Part[]) {
  let next = first;
  return parts
    .filter(({ values }) => values.length > 0)
    .map(({ part, values }) => {
      const clause = part(schema, next);
      next += values.length;
      return { clause, values };
    });
}

async function refusal(query: Query, schema: string, { name, batch, again }: Append): Promise<AppendResult> {
  const { lease } = batch;
  const last = batch.records.at(-1);
  const [row] = await query<{ version: number; holds: boolean | null; own: boolean }>(
    `SELECT version, ${HOLDS("$3", "$4")} AS holds, EXISTS (
        SELECT 1 FROM ${schema}.records r WHERE r.owner = $1 AND r.thread = t.num AND r.seq = $5 AND r.hash = $6
      ) AS own
    FROM ${schema}.threads t WHERE ${NAMED}`,
    [...name, lease.owner, lease.epoch, last?.seq ?? 0, last?.hash ?? ""],
  );
  if (row === undefined) return { kind: "missing" };
  // The attempt whose connection broke was committed after all: these very records stand at their place.
  if (again && row.own) return { kind: "appended", version: batch.head.version };
  if (lease.threadId !== name[1] || row.holds !== true) return { kind: "lease-lost" };
  return { kind: "conflict", version: row.version };
}

export async function redact(connection: UserConnection, request: RedactRequest): Promise<AppendResult> {
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
        await query(
          `${lineage(schema)} UPDATE ${schema}.records r SET body = $3, redacted = true
          FROM line WHERE r.owner = $1 AND r.thread = line.thread AND r.seq = $4 AND r.seq <= line.through`,
          [userId, threadId, body, seq],
        );
        await forgetEntry(query, schema, [userId, threadId], seq);
        await query(FORGET_RUNS(schema), [userId, threadId]);
      }
      for (const { threadId, seq, header } of headers) {
        await query(
          `${lineage(schema)} UPDATE ${schema}.records r SET header = $3, redacted = true
          FROM line WHERE r.owner = $1 AND r.thread = line.thread AND r.seq = $4 AND r.seq <= line.through`,
          [userId, threadId, header, seq],
        );
      }
    });
  } catch (error) {
    if (error === ROLL_BACK && refused) return refused;
    throw error;
  }
  return { kind: "appended", version: batches[0]?.batch.head.version ?? 0 };
}

const ROLL_BACK = new Error("an append was refused");

export interface RecordRow {
  readonly seq: number;
  readonly kind: ChainedRecord["kind"];
  readonly header: string;
  readonly body: string | null;
  readonly body_hash: string | null;
  readonly hash: string;
  readonly redacted: boolean;
}

const RECORD_COLUMNS = "r.seq, r.kind, r.header, r.body, r.body_hash, r.hash, r.redacted";
const HEADER_COLUMNS = "r.seq, r.kind, r.header, NULL AS body, r.body_hash, r.hash, r.redacted";
const PAGE_CHARACTERS = 2_000_000;

/** Page by page, each one statement: no transaction stays open while the caller thinks. */
export async function* records(
  connection: UserConnection,
  threadId: string,
  request: RecordQuery = {},
): AsyncGenerator<StoredRecord> {
  const descending = request.order === "descending";
  let [first, last] = request.range ?? [1, Number.MAX_SAFE_INTEGER];
  for (let size = 128; first <= last; ) {
    const page: Page = { ...request, range: [first, last], size };
    const rows = await connection.run((query) =>
      readPage(query, connection.schema, [connection.userId, threadId], page),
    );
    for (const row of rows) yield fromRow(row);
    // A short page is no end: the caller may have appended while it looked at it.
    if (rows.length === 0) return;
    if (descending) last = rows.at(-1)!.seq - 1;
    else first = rows.at(-1)!.seq + 1;
    const characters = rows.reduce((sum, row) => sum + row.header.length + (row.body?.length ?? 0), 1);
    size = Math.max(1, Math.min(1024, Math.floor((PAGE_CHARACTERS * rows.length) / characters)));
  }
}

interface Page extends RecordQuery {
  readonly range: NonNullable<RecordQuery["range"]>;
  readonly size: number | null;
}

/** Each segment of the lineage is cut to the page's size before they are joined, so a page costs only its own rows. */
export function readPage(query: Query, schema: string, thread: ThreadName, page: Page): Promise<RecordRow[]> {
  const direction = page.order === "descending" ? "DESC" : "ASC";
  // Said in so many words, because the planner can't see from a list that the index of the rare kinds will do.
  const rare = page.kinds && !page.kinds.includes("message") ? "AND r.kind <> 'message'" : "";
  return query<RecordRow>(
    `${lineage(schema)} SELECT page.* FROM line CROSS JOIN LATERAL (
      SELECT ${page.bodies === "none" ? HEADER_COLUMNS : RECORD_COLUMNS} FROM ${schema}.records r
      WHERE r.owner = $1 AND r.thread = line.thread AND r.seq BETWEEN $3 AND LEAST($4, line.through)
        ${page.kinds ? "AND r.kind = ANY ($6)" : ""} ${rare} ${page.seqs ? `AND r.seq = ANY ($${page.kinds ? 7 : 6}::bigint[])` : ""}
      ORDER BY r.seq ${direction} LIMIT $5
    ) page ORDER BY page.seq ${direction} LIMIT $5`,
    [...thread, ...page.range, page.size, ...(page.kinds ? [page.kinds] : []), ...(page.seqs ? [page.seqs] : [])],
  );
}

export function readSome(
  query: Query,
  schema: string,
  thread: ThreadName,
  seqs: readonly number[],
): Promise<RecordRow[]> {
  return query<RecordRow>(
    `${lineage(schema)} SELECT ${RECORD_COLUMNS} FROM line JOIN ${schema}.records r
      ON r.owner = $1 AND r.thread = line.thread AND r.seq = ANY ($3::bigint[]) AND r.seq <= line.through
    ORDER BY r.seq`,
    [...thread, seqs],
  );
}

export function fromRow({ body_hash: bodyHash, ...rest }: RecordRow): StoredRecord {
  return storedRecord({ ...rest, bodyHash });
}
