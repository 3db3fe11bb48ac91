/**
 * The queue in SQLite: one row for each thread, user and agent that has something to learn from. Times are the caller's, in
 * milliseconds; a row from the future says that the clock was set back, and is due. A turn that comes while its job runs
 * raises the revision, so the running one can't take the new turn's row with it when it ends.
 */
import { type Claim, type ClaimedJob, type JobTable, startJobLoop } from "../job-loop.ts";
import { type JobStatus, MAX_DELAYS, type MemoryJobs, type NewMemoryJob } from "../memory-jobs.ts";
import type { Connection, Row } from "./connection.ts";
import { NUM, type UserConnection } from "./rows.ts";

/** Inside the append's transaction. */
export function queueJob(connection: UserConnection, num: number, job: NewMemoryJob): void {
  const fresh = "owner IS NULL AND attempts = 0 AND first <= excluded.first";
  connection.run(
    `INSERT INTO memory_jobs (num, user, agent, through, first, queued, run, max_attempts)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (num, user, agent) DO UPDATE SET
       through = max(through, excluded.through), queued = excluded.queued, max_attempts = excluded.max_attempts,
       revision = revision + 1, attempts = 0, error = NULL,
       first = CASE WHEN ${fresh} THEN first ELSE excluded.first END,
       run = CASE WHEN NOT (${fresh}) THEN excluded.run
         WHEN run <= excluded.queued THEN run
         ELSE min(excluded.run, first + ${MAX_DELAYS} * (excluded.run - excluded.queued)) END`,
    num,
    connection.user,
    job.agent,
    job.throughSeq,
    ...[job.now, job.now, job.now + job.delayMs],
    job.maxAttempts,
  );
}

export function memoryJobs(connection: UserConnection): MemoryJobs {
  const { guard } = connection;
  return {
    hurry: (thread) =>
      guard(() => {
        const sql = `UPDATE memory_jobs SET run = 0 WHERE num = ${NUM} AND attempts < max_attempts`;
        // Also while it runs: what came meanwhile is due when it ends.
        return connection.run(sql, connection.user, thread).changes;
      }),
    list: () => guard(() => connection.all(`SELECT j.*, t.id AS thread ${JOINED} ORDER BY j.run, j.row`).map(statusOf)),
    revive: () =>
      guard(() => {
        const sql =
          "UPDATE memory_jobs SET attempts = 0, error = NULL, run = 0, owner = NULL, revision = revision + 1 WHERE attempts >= max_attempts";
        return connection.run(sql).changes;
      }),
    work: async (options) => startJobLoop(jobTable(connection, options.now), options),
  };
}

const JOINED = "FROM memory_jobs j JOIN threads t USING (num)";

function jobTable(connection: Connection, now: () => number): JobTable {
  const { guard } = connection;
  return {
    // Looks before it locks: an idle worker must not stand in the way of those who write.
    claim: (claim) =>
      guard(() =>
        mayTake(connection, now())
          ? connection.transaction("IMMEDIATE", () => take(connection, claim, now()))
          : undefined,
      ),
    renew: (owner, leaseMs) =>
      guard(() => {
        const sql = "UPDATE memory_jobs SET leased = ?, until = ? WHERE owner = ?";
        return connection.run(sql, now(), now() + leaseMs, owner).changes === 1 ? "renewed" : "lost";
      }),
    finish: ({ owner, revision }) =>
      guard(() =>
        connection.transaction("IMMEDIATE", () => {
          connection.run("DELETE FROM memory_jobs WHERE owner = ? AND revision = ?", owner, revision);
          connection.run("UPDATE memory_jobs SET owner = NULL WHERE owner = ?", owner);
        }),
      ),
    fail: ({ owner, revision }, error, pauseMs) =>
      guard(() => {
        connection.run(
          `UPDATE memory_jobs SET owner = NULL, error = ?, queued = CASE revision WHEN ? THEN ? ELSE queued END,
             run = CASE revision WHEN ? THEN ? ELSE run END WHERE owner = ?`,
          ...[error, revision, now(), revision, now() + pauseMs, owner],
        );
      }),
    giveBack: (owner) =>
      guard(() => {
        connection.run("UPDATE memory_jobs SET owner = NULL, attempts = max(0, attempts - 1) WHERE owner = ?", owner);
      }),
  };
}

const DUE = "owner IS NULL AND attempts < max_attempts AND (run <= ? OR queued > ?)";
const EXPIRED = "owner IS NOT NULL AND (until <= ? OR leased > ?)";

function mayTake(connection: Connection, now: number): boolean {
  const sql = `SELECT 1 FROM memory_jobs WHERE (${DUE}) OR (${EXPIRED}) LIMIT 1`;
  return connection.get(sql, now, now, now, now) !== undefined;
}

function take(connection: Connection, { owner, leaseMs, alive }: Claim, now: number): ClaimedJob | undefined {
  connection.run(
    `UPDATE memory_jobs SET owner = NULL WHERE ${EXPIRED} AND owner NOT IN (SELECT value FROM json_each(?))`,
    ...[now, now, JSON.stringify(alive)],
  );
  const row = connection.get(
    `SELECT j.row, t.id AS thread ${JOINED} WHERE ${DUE} ORDER BY run, row LIMIT 1`,
    ...[now, now],
  );
  if (!row) return undefined;
  const taken = connection.get(
    "UPDATE memory_jobs SET owner = ?, leased = ?, until = ?, attempts = attempts + 1 WHERE row = ? RETURNING *",
    ...[owner, now, now + leaseMs, row["row"]!],
  )!;
  const { user, agent, through: throughSeq } = taken as { user: string; agent: string; through: number };
  const job = { thread: row["thread"] as string, user, agent, throughSeq };
  return { job, attempt: taken["attempts"] as number, owner, revision: taken["revision"] as number };
}

function statusOf(row: Row): JobStatus {
  const { thread, user, agent, error } = row as { thread: string; user: string; agent: string; error: string | null };
  const attempts = row["attempts"] as number;
  const state = row["owner"] !== null ? "running" : attempts >= (row["max_attempts"] as number) ? "dead" : "waiting";
  const runAt = new Date(row["run"] as number).toISOString();
  return {
    thread,
    user,
    agent,
    state,
    attempts,
    runAt,
    error,
  };
}
