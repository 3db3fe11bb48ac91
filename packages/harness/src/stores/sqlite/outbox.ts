/**
 * The outbox in SQLite: one row for each thread, queue and key. Times are the caller's, in milliseconds; a row from the
 * future says that the clock was set back, and is due. An append that comes while its job runs raises the revision, so
 * the running one can't take the new append's row with it when it ends.
 */
import type { Json } from "@palimpsest/core/internal/log";
import { type Claim, type ClaimedJob, type JobTable, startJobLoop } from "../job-loop.ts";
import { type Job, type JobStatus, MAX_DELAYS, type NewJob, type Outbox } from "../outbox.ts";
import type { Connection, SqliteRow } from "./connection.ts";
import { findThread, integerAt, NUM, textAt, textOrNull, type UserConnection } from "./rows.ts";

/** Inside a transaction: the append's that asks for it. */
export function queueJob(connection: Connection, num: number, job: NewJob): void {
  const fresh = "owner IS NULL AND attempts = 0 AND first <= excluded.first";
  connection.run(
    `INSERT INTO outbox (num, queue, key, payload, first, queued, run, max_attempts)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (num, queue, key) DO UPDATE SET
       payload = excluded.payload, queued = excluded.queued, max_attempts = excluded.max_attempts,
       revision = revision + 1, attempts = 0, error = NULL,
       first = CASE WHEN ${fresh} THEN first ELSE excluded.first END,
       run = CASE WHEN NOT (${fresh}) THEN excluded.run
         WHEN run <= excluded.queued THEN run
         ELSE min(excluded.run, first + ${MAX_DELAYS} * (excluded.run - excluded.queued)) END`,
    num,
    job.queue,
    job.key,
    JSON.stringify(job.payload),
    ...[job.now, job.now, job.now + job.delayMs],
    job.maxAttempts,
  );
}

export function outbox(connection: UserConnection): Outbox {
  const { guard } = connection;
  return {
    queue: (threadId, job) =>
      guard(() =>
        connection.transaction("IMMEDIATE", () => {
          const row = findThread(connection, threadId);
          if (row === undefined) return "missing";
          queueJob(connection, row.num, job);
          return "queued";
        }),
      ),
    makeDue: (threadId, queue) =>
      guard(() => {
        const sql = `UPDATE outbox SET run = 0 WHERE num = ${NUM} AND queue = ? AND attempts < max_attempts`;
        // Also while it runs: what came meanwhile is due when it ends.
        return connection.run(sql, connection.userId, threadId, queue).changes;
      }),
    list: (queue) =>
      guard(() => {
        // Node 22 binds no numbered parameters.
        const sql = `SELECT ${JOB}, j.attempts, j.max_attempts, j.run, j.error, j.owner ${JOINED}
          WHERE j.queue = coalesce(?, j.queue) ORDER BY j.run, j.row`;
        return connection.all(sql, queue ?? null).map(statusOf);
      }),
    revive: (queue) =>
      guard(() => {
        const sql = `UPDATE outbox SET attempts = 0, error = NULL, run = 0, owner = NULL, revision = revision + 1
          WHERE queue = ? AND attempts >= max_attempts`;
        return connection.run(sql, queue).changes;
      }),
    work: async (options) => startJobLoop(jobTable(connection, options.now), options),
  };
}

const JOB = "j.queue, j.key, t.user AS userId, t.id AS threadId, j.payload";
const JOINED = "FROM outbox j JOIN threads t USING (num)";

function jobTable(connection: Connection, now: () => number): JobTable {
  const { guard } = connection;
  return {
    // Looks before it locks: an idle worker must not stand in the way of those who write.
    claim: (claim) =>
      guard(() =>
        mayTake(connection, claim.queue, now())
          ? connection.transaction("IMMEDIATE", () => take(connection, claim, now()))
          : undefined,
      ),
    renew: ({ owner }, leaseMs) =>
      guard(() => {
        const sql = "UPDATE outbox SET leased = ?, until = ? WHERE owner = ?";
        return connection.run(sql, now(), now() + leaseMs, owner).changes === 1 ? "renewed" : "lost";
      }),
    finish: ({ owner, revision }) =>
      guard(() =>
        connection.transaction("IMMEDIATE", () => {
          connection.run("DELETE FROM outbox WHERE owner = ? AND revision = ?", owner, revision);
          connection.run("UPDATE outbox SET owner = NULL WHERE owner = ?", owner);
        }),
      ),
    fail: ({ owner, revision }, error, pauseMs) =>
      guard(() => {
        connection.run(
          `UPDATE outbox SET owner = NULL, error = ?, queued = CASE revision WHEN ? THEN ? ELSE queued END,
             run = CASE revision WHEN ? THEN ? ELSE run END WHERE owner = ?`,
          ...[error, revision, now(), revision, now() + pauseMs, owner],
        );
      }),
    giveBack: ({ owner }) =>
      guard(() => {
        connection.run("UPDATE outbox SET owner = NULL, attempts = max(0, attempts - 1) WHERE owner = ?", owner);
      }),
  };
}

const DUE = "owner IS NULL AND attempts < max_attempts AND (run <= ? OR queued > ?)";
const EXPIRED = "owner IS NOT NULL AND (until <= ? OR leased > ?)";

function mayTake(connection: Connection, queue: string, now: number): boolean {
  const sql = `SELECT 1 FROM outbox WHERE queue = ? AND ((${DUE}) OR (${EXPIRED})) LIMIT 1`;
  return connection.get(sql, queue, now, now, now, now) !== undefined;
}

function take(connection: Connection, { queue, owner, leaseMs, alive }: Claim, now: number): ClaimedJob | undefined {
  connection.run(
    `UPDATE outbox SET owner = NULL WHERE ${EXPIRED} AND owner NOT IN (SELECT value FROM json_each(?))`,
    ...[now, now, JSON.stringify(alive)],
  );
  const row = connection.get(
    `SELECT j.row, ${JOB} ${JOINED} WHERE j.queue = ? AND ${DUE} ORDER BY run, row LIMIT 1`,
    ...[queue, now, now],
  );
  if (!row) return undefined;
  const taken = connection.get(
    "UPDATE outbox SET owner = ?, leased = ?, until = ?, attempts = attempts + 1 WHERE row = ? RETURNING attempts, revision",
    ...[owner, now, now + leaseMs, row["row"]!],
  )!;
  return { job: jobOf(row), attempt: integerAt(taken, "attempts"), owner, revision: integerAt(taken, "revision") };
}

function statusOf(row: SqliteRow): JobStatus {
  const attempts = integerAt(row, "attempts");
  const state = row["owner"] !== null ? "running" : attempts >= integerAt(row, "max_attempts") ? "dead" : "waiting";
  const runAt = new Date(integerAt(row, "run")).toISOString();
  return { ...jobOf(row), state, attempts, runAt, error: textOrNull(row, "error") };
}

function jobOf(row: SqliteRow): Job {
  const payload: Json = JSON.parse(textAt(row, "payload"));
  return {
    queue: textAt(row, "queue"),
    key: textAt(row, "key"),
    userId: textAt(row, "userId"),
    threadId: textAt(row, "threadId"),
    payload,
  };
}
