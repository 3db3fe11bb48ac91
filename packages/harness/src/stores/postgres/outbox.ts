/**
 * The outbox in PostgreSQL: the same rows and rules as in SQLite (sqlite/outbox.ts), by the server's own clock, for any number
 * of processes. A job is taken with `SKIP LOCKED`, so workers never wait for each other. Each statement may be repeated
 * after its connection was lost: a claim is known by its owner, and nothing depends on an answer that never came.
 */
import type { Json } from "@palimpsest/core/internal/log";
import { type Claim, type ClaimedJob, type JobTable, startJobLoop } from "../job-loop.ts";
import { type Job, type JobStatus, MAX_DELAYS, type NewJob, type Outbox } from "../outbox.ts";
import type { PostgresConnection, SqlQuery } from "./connection.ts";
import { BESIDE_NAMED, beside, NAMED, numOf, type PostgresUserConnection } from "./lineage.ts";
import { connectionProblem } from "./problem.ts";

/** The columns of `QUEUED`, one array each, for the append's statement. */
export function jobColumns(jobs: readonly NewJob[]): readonly unknown[] {
  // One statement writes a row once.
  const each = [...new Map(jobs.map((job) => [JSON.stringify([job.queue, job.key]), job])).values()];
  return [
    each.map(({ queue }) => queue),
    each.map(({ key }) => key),
    each.map(({ payload }) => JSON.stringify(payload)),
    each.map(({ delayMs }) => delayMs),
    each.map(({ maxAttempts }) => maxAttempts),
  ];
}

/** Part of the append's statement, after its `moved`; the first two parameters name the thread. `first`: the number of its first parameter. */
export function QUEUED(schema: string, first: number): string {
  const fresh = "waiting.holder IS NULL AND waiting.attempts = 0 AND waiting.first <= excluded.first";
  const types = ["text", "text", "text", "float8", "int"].map((type, index) => `$${first + index}::${type}[]`);
  return `queued AS (
    INSERT INTO ${schema}.outbox AS waiting (owner, thread, queue, key, payload, first, queued, run, max_attempts)
    SELECT named.owner, moved.num, job.queue, job.key, job.payload, moved.at, moved.at, moved.at + job.delay, job.tries
    FROM ${beside(schema)}, moved, unnest(${types.join(", ")}) AS job (queue, key, payload, delay, tries)
    WHERE ${BESIDE_NAMED} ON CONFLICT (owner, thread, queue, key) DO UPDATE SET
      payload = excluded.payload, queued = excluded.queued,
      max_attempts = excluded.max_attempts, revision = waiting.revision + 1, attempts = 0, error = NULL,
      first = CASE WHEN ${fresh} THEN waiting.first ELSE excluded.first END,
      run = CASE WHEN NOT (${fresh}) THEN excluded.run
        WHEN waiting.run <= excluded.queued THEN waiting.run
        ELSE least(excluded.run, waiting.first + ${MAX_DELAYS} * (excluded.run - excluded.queued)) END
  )`;
}

export function outbox(connection: PostgresUserConnection): Outbox {
  const { schema, run, userId } = connection;
  const jobs = `${schema}.outbox`;
  return {
    async queue(threadId, job) {
      const sql = `WITH moved AS MATERIALIZED (
          SELECT num, ${NOW} AS at FROM ${schema}.threads WHERE ${NAMED} FOR KEY SHARE
        ), ${QUEUED(schema, 3)}
        SELECT num FROM moved`;
      const threads = await run((query) => query(sql, [userId, threadId, ...jobColumns([job])]));
      return threads.length === 1 ? "queued" : "missing";
    },
    async makeDue(threadId, queue) {
      // Also while it runs: what came meanwhile is due when it ends.
      const sql = `UPDATE ${jobs} SET run = ${STATED} WHERE owner = $1 AND thread = ${numOf(schema)}
        AND queue = $3 AND attempts < max_attempts RETURNING 1`;
      return (await run((query) => query(sql, [userId, threadId, queue]))).length;
    },
    async list(queue) {
      const sql = `SELECT ${JOB}, j.attempts, j.error, j.run, ${STATE} AS state FROM ${JOINED(schema)}
        WHERE $1::text IS NULL OR j.queue = $1 ORDER BY j.run, j.owner, j.thread`;
      return (await run((query) => query<StatusRow>(sql, [queue ?? null]))).map(statusOf);
    },
    async revive(queue) {
      const sql = `UPDATE ${jobs} SET attempts = 0, error = NULL, run = ${STATED}, holder = NULL, revision = revision + 1
        WHERE queue = $1 AND attempts >= max_attempts AND (holder IS NULL OR ${EXPIRED(STATED)}) RETURNING 1`;
      return (await run((query) => query(sql, [queue]))).length;
    },
    work: async (options) => startJobLoop(jobTable(connection), options),
  };
}

const JOB = `j.queue, j.key, j.owner AS "userId", t.id AS "threadId", j.payload`;
const JOINED = (schema: string) =>
  `${schema}.outbox j JOIN ${schema}.threads t ON t.owner = j.owner AND t.num = j.thread`;
const MS = (time: string) => `extract(epoch FROM ${time})::float8 * 1000`;
/** Not `now()`: a statement that waited must judge by the time it got its row. */
const NOW = MS("clock_timestamp()");
/** The same where nothing is judged by it, or one moment is as good as another: a change may hold no other on Citus. */
const STATED = MS("statement_timestamp()");
/** A row from the future says that the clock was set back. */
const AHEAD = (time: string, now = NOW) => `${time} > ${now} + 1000`;
const EXPIRED = (now = NOW) => `(until <= ${now} OR ${AHEAD("leased", now)})`;
const STATE = `CASE WHEN holder IS NOT NULL AND NOT ${EXPIRED()} THEN 'running'
  WHEN attempts >= max_attempts THEN 'dead' ELSE 'waiting' END`;
/** The row of a claimed job; the first two parameters name its thread. */
const CLAIMED = (schema: string) =>
  `owner = $1 AND thread = ${numOf(schema)} AND queue = $3 AND key = $4 AND holder = $5`;

function jobTable({ schema, run }: PostgresConnection): JobTable {
  const jobs = `${schema}.outbox`;
  const claim = CLAIMED(schema);
  const nameOf = ({ job, owner }: ClaimedJob) => [job.userId, job.threadId, job.queue, job.key, owner];
  return {
    claim: (asked) => run((query, again) => take({ query, schema, again }, asked)),
    async renew(claimed, leaseMs) {
      const sql = `UPDATE ${jobs} SET leased = ${STATED}, until = ${STATED} + $6::float8 WHERE ${claim} RETURNING 1`;
      return (await run((query) => query(sql, [...nameOf(claimed), leaseMs]))).length === 1 ? "renewed" : "lost";
    },
    async finish(claimed) {
      // Two statements: one would judge both by the same snapshot, and an append that commits meanwhile would escape both.
      const done = `DELETE FROM ${jobs} WHERE ${claim} AND revision = $6`;
      await run((query) => query(done, [...nameOf(claimed), claimed.revision]));
      await run((query) => query(`UPDATE ${jobs} SET holder = NULL WHERE ${claim}`, nameOf(claimed)));
    },
    async fail(claimed, error, pauseMs) {
      const sql = `WITH clock AS MATERIALIZED (SELECT ${STATED} AS at, ${STATED} + $8::float8 AS later)
        UPDATE ${jobs} SET holder = NULL, error = $7, queued = CASE WHEN revision = $6 THEN at ELSE queued END,
          run = CASE WHEN revision = $6 THEN later ELSE run END FROM clock WHERE ${claim}`;
      await run((query) => query(sql, [...nameOf(claimed), claimed.revision, error, pauseMs]));
    },
    async giveBack(claimed) {
      const sql = `UPDATE ${jobs} SET holder = NULL, attempts = greatest(0, attempts - 1) WHERE ${claim}`;
      await run((query) => query(sql, nameOf(claimed)));
    },
  };
}

interface Taking {
  readonly query: SqlQuery;
  readonly schema: string;
  readonly again: boolean;
}

/** Due jobs are looked for among all users, then taken one user's at a time: who locks rows on Citus must say whose they are. */
async function take({ query, schema, again }: Taking, claim: Claim): Promise<ClaimedJob | undefined> {
  const { queue, owner, leaseMs, alive } = claim;
  // The claim whose connection broke may stand.
  const standing = `SELECT ${JOB}, j.attempts, j.revision FROM ${JOINED(schema)} WHERE holder = $1`;
  const [job] = again ? await query<JobRow>(standing, [owner]).catch(withoutNode) : [];
  if (job !== undefined) return claimedOf(job, owner);
  const candidates = await query<Candidate>(CANDIDATES(`${schema}.outbox`, "$1", "$2"), [queue, alive]).catch(
    async (error: unknown) => withoutNode(error) && onNodesThere(query, schema, claim),
  );
  const sql = `WITH due AS MATERIALIZED (
      SELECT ${NOW} AS at, ${NOW} + $6::float8 AS ends FROM ${schema}.outbox
      WHERE owner = $1 AND thread = $3 AND queue = $4 AND key = $5 AND ${DUE("$2")} FOR UPDATE SKIP LOCKED
    ), j AS (
      UPDATE ${schema}.outbox o SET holder = $7, leased = due.at, until = due.ends, attempts = attempts + 1
      FROM due WHERE o.owner = $1 AND o.thread = $3 AND o.queue = $4 AND o.key = $5 RETURNING o.*
    ) SELECT ${JOB}, j.attempts, j.revision FROM j JOIN ${schema}.threads t ON t.owner = $1 AND t.num = j.thread`;
  for (const one of candidates) {
    const [taken] = await query<JobRow>(sql, [one.owner, alive, one.thread, queue, one.key, leaseMs, owner]);
    if (taken !== undefined) return claimedOf(taken, owner);
  }
  return undefined;
}

/** Nothing, if a node is away: a claim that stands there runs out. */
function withoutNode(error: unknown): [] {
  if (connectionProblem(error) !== "node") throw error;
  return [];
}

interface Candidate {
  readonly run: number;
  readonly owner: string;
  readonly thread: number;
  readonly key: string;
}

const DUE = (alive: string) => `attempts < max_attempts AND (run <= ${NOW} OR ${AHEAD("queued")})
    AND (holder IS NULL OR (${EXPIRED()} AND holder <> ALL (${alive}::text[])))`;
/** More than there are workers that look at the same moment: each takes the first that the others left. */
const CANDIDATES = (table: string, queue: string, alive: string) =>
  `SELECT run, owner, thread, key FROM ${table} WHERE queue = ${queue} AND ${DUE(alive)} ORDER BY run LIMIT 32`;

/** A query over all shards fails with one node. Shard by shard, those of the others are found. */
async function onNodesThere(query: SqlQuery, schema: string, { queue, alive }: Claim): Promise<readonly Candidate[]> {
  const each = `SELECT coalesce(json_agg(d)::text, '[]') FROM (${CANDIDATES("%%s", "%L", "%L")}) d`;
  const shards = await query<{ result: string }>(
    "SELECT result FROM run_command_on_shards($1::regclass, format($2, $3::text, $4::text[]::text)) WHERE success",
    [`${schema}.outbox`, each, queue, alive],
  );
  return shards.flatMap(({ result }): readonly Candidate[] => JSON.parse(result)).sort((a, b) => a.run - b.run);
}

/** The payload is text: as the server's own JSON its keys would be put in another order. */
interface StoredJob extends Omit<Job, "payload"> {
  readonly payload: string;
}

interface JobRow extends StoredJob {
  readonly attempts: number;
  readonly revision: number;
}

function claimedOf(row: JobRow, owner: string): ClaimedJob {
  return { job: jobOf(row), attempt: row.attempts, owner, revision: row.revision };
}

function jobOf({ queue, key, userId, threadId, payload }: StoredJob): Job {
  const value: Json = JSON.parse(payload);
  return { queue, key, userId, threadId, payload: value };
}

interface StatusRow extends StoredJob, Pick<JobStatus, "state" | "attempts" | "error"> {
  readonly run: number;
}

function statusOf(row: StatusRow): JobStatus {
  const { state, attempts, error } = row;
  return { ...jobOf(row), state, attempts, error, runAt: new Date(row.run).toISOString() };
}
