/**
 * The outbox in PostgreSQL: the same rows and rules as in SQLite (sqlite/jobs.ts), by the server's own clock, for any number
 * of processes. A job is taken with `SKIP LOCKED`, so workers never wait for each other. Each statement may be repeated
 * after its connection was lost: a claim is known by its owner, and nothing depends on an answer that never came.
 */
import type { Json } from "@palimpsest/core/log";
import { type Claim, type ClaimedJob, type JobTable, startJobLoop } from "../job-loop.ts";
import { type Job, type JobStatus, MAX_DELAYS, type NewJob, type Outbox } from "../outbox.ts";
import type { Connection } from "./connection.ts";
import { NAMED, numOf, type UserConnection } from "./lineage.ts";

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

/** Part of the append's statement: queued if the append stands. `first`: the number of its first parameter. */
export function QUEUED(schema: string, first: number): string {
  const fresh = "waiting.holder IS NULL AND waiting.attempts = 0 AND waiting.first <= excluded.first";
  const types = ["text", "text", "text", "float8", "int"].map((type, index) => `$${first + index}::${type}[]`);
  return `queued AS (
    INSERT INTO ${schema}.outbox AS waiting (num, queue, key, payload, first, queued, run, max_attempts)
    SELECT moved.num, job.queue, job.key, job.payload, at, at, at + job.delay * interval '1 millisecond', job.tries
    FROM moved, unnest(${types.join(", ")}) AS job (queue, key, payload, delay, tries), clock_timestamp() AS at
    ON CONFLICT (num, queue, key) DO UPDATE SET
      payload = excluded.payload, queued = excluded.queued,
      max_attempts = excluded.max_attempts, revision = waiting.revision + 1, attempts = 0, error = NULL,
      first = CASE WHEN ${fresh} THEN waiting.first ELSE excluded.first END,
      run = CASE WHEN NOT (${fresh}) THEN excluded.run
        WHEN waiting.run <= excluded.queued THEN waiting.run
        ELSE least(excluded.run, waiting.first + ${MAX_DELAYS} * (excluded.run - excluded.queued)) END
  )`;
}

export function outbox(connection: UserConnection): Outbox {
  const { schema, run, userId } = connection;
  const jobs = `${schema}.outbox`;
  return {
    async queue(threadId, job) {
      const sql = `WITH moved AS (SELECT num FROM ${schema}.threads WHERE ${NAMED} FOR KEY SHARE), ${QUEUED(schema, 2)}
        SELECT num FROM moved`;
      const threads = await run((query) => query(sql, [[userId, threadId], ...jobColumns([job])]));
      return threads.length === 1 ? "queued" : "missing";
    },
    async makeDue(threadId, queue) {
      // Also while it runs: what came meanwhile is due when it ends.
      const sql = `UPDATE ${jobs} SET run = ${NOW} WHERE attempts < max_attempts
        AND num = ${numOf(schema)} AND queue = $2 RETURNING 1`;
      return (await run((query) => query(sql, [[userId, threadId], queue]))).length;
    },
    async list(queue) {
      const sql = `SELECT ${JOB}, j.attempts, j.error, j.run, ${STATE} AS state
        FROM ${jobs} j JOIN ${schema}.threads t USING (num)
        WHERE $1::text IS NULL OR j.queue = $1 ORDER BY j.run, j.num`;
      return (await run((query) => query<StatusRow>(sql, [queue ?? null]))).map(statusOf);
    },
    async revive(queue) {
      const sql = `UPDATE ${jobs} SET attempts = 0, error = NULL, run = ${NOW}, holder = NULL, revision = revision + 1
        WHERE queue = $1 AND attempts >= max_attempts AND (holder IS NULL OR ${EXPIRED}) RETURNING 1`;
      return (await run((query) => query(sql, [queue]))).length;
    },
    work: async (options) => startJobLoop(jobTable(connection), options),
  };
}

const JOB = `j.queue, j.key, t.owner AS "userId", t.id AS "threadId", j.payload`;
/** Not `now()`: a statement that waited must judge by the time it got its row. */
const NOW = "clock_timestamp()";
/** A row from the future says that the clock was set back. */
const AHEAD = (time: string) => `${time} > ${NOW} + interval '1 second'`;
const EXPIRED = `(until <= ${NOW} OR ${AHEAD("leased")})`;
const STATE = `CASE WHEN holder IS NOT NULL AND NOT ${EXPIRED} THEN 'running'
  WHEN attempts >= max_attempts THEN 'dead' ELSE 'waiting' END`;
const UNTIL = (ms: string) => `${NOW} + ${ms}::float8 * interval '1 millisecond'`;

function jobTable({ schema, run }: Connection): JobTable {
  const jobs = `${schema}.outbox`;
  return {
    claim: (claim) => run((query, again) => take({ query, schema, again }, claim)),
    async renew(owner, leaseMs) {
      const sql = `UPDATE ${jobs} SET leased = ${NOW}, until = ${UNTIL("$2")} WHERE holder = $1 RETURNING 1`;
      return (await run((query) => query(sql, [owner, leaseMs]))).length === 1 ? "renewed" : "lost";
    },
    async finish({ owner, revision }) {
      // Two statements: one would judge both by the same snapshot, and an append that commits meanwhile would escape both.
      const done = `DELETE FROM ${jobs} WHERE holder = $1 AND revision = $2`;
      await run((query) => query(done, [owner, revision]));
      await run((query) => query(`UPDATE ${jobs} SET holder = NULL WHERE holder = $1`, [owner]));
    },
    async fail({ owner, revision }, error, pauseMs) {
      const sql = `UPDATE ${jobs} SET holder = NULL, error = $3,
          queued = CASE revision WHEN $2 THEN ${NOW} ELSE queued END,
          run = CASE revision WHEN $2 THEN ${UNTIL("$4")} ELSE run END WHERE holder = $1`;
      await run((query) => query(sql, [owner, revision, error, pauseMs]));
    },
    async giveBack(owner) {
      const sql = `UPDATE ${jobs} SET holder = NULL, attempts = greatest(0, attempts - 1) WHERE holder = $1`;
      await run((query) => query(sql, [owner]));
    },
  };
}

interface Taking {
  readonly query: Parameters<Parameters<Connection["run"]>[0]>[0];
  readonly schema: string;
  readonly again: boolean;
}

async function take({ query, schema, again }: Taking, claim: Claim): Promise<ClaimedJob | undefined> {
  const { queue, owner, leaseMs, alive } = claim;
  const columns = `${JOB}, j.attempts, j.revision`;
  const joined = `${schema}.outbox j JOIN ${schema}.threads t USING (num)`;
  // The claim whose connection broke may stand.
  const [job] = again ? await query<JobRow>(`SELECT ${columns} FROM ${joined} WHERE holder = $1`, [owner]) : [];
  if (job !== undefined) return claimedOf(job, owner);
  const sql = `WITH due AS (
      SELECT j.num, j.queue, j.key FROM ${joined}
      WHERE queue = $4 AND attempts < max_attempts AND (run <= ${NOW} OR ${AHEAD("queued")})
        AND (holder IS NULL OR (${EXPIRED} AND holder <> ALL ($3::text[])))
      ORDER BY run LIMIT 1 FOR UPDATE OF j SKIP LOCKED
    )
    UPDATE ${schema}.outbox j SET holder = $1, leased = ${NOW}, until = ${UNTIL("$2")}, attempts = attempts + 1
    FROM due, ${schema}.threads t
    WHERE (j.num, j.queue, j.key) = (due.num, due.queue, due.key) AND t.num = j.num RETURNING ${columns}`;
  const [taken] = await query<JobRow>(sql, [owner, leaseMs, alive, queue]);
  return taken && claimedOf(taken, owner);
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
  return { queue, key, userId, threadId, payload: JSON.parse(payload) as Json };
}

interface StatusRow extends StoredJob, Pick<JobStatus, "state" | "attempts" | "error"> {
  readonly run: Date;
}

function statusOf(row: StatusRow): JobStatus {
  const { state, attempts, error } = row;
  return { ...jobOf(row), state, attempts, error, runAt: row.run.toISOString() };
}
