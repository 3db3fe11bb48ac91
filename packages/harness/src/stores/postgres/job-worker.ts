/**
 * Carries out jobs with graphile-worker, in any number of processes. What it lacks is added here: a worker that was
 * killed keeps its locks for hours, so each one leaves a sign of life and clears away after those that have vanished;
 * and a runner that gave up, because the server was away, is started again.
 */
import { EventEmitter } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { JobHelpers, Runner, WorkerEvents } from "graphile-worker";
import { untilAborted } from "../../abort.ts";
import type { JobWorker, MemoryJob, WorkOptions } from "../memory-jobs.ts";
import type { Connection } from "./connection.ts";

export const MEMORY_TASK = "palimpsest-memory";

export async function startJobWorker(connection: Connection, worker: string, options: WorkOptions): Promise<JobWorker> {
  const { leaseMs, onEvent, pollMs, stopMs } = options;
  const stopping = new AbortController();
  let pool = "";
  /** Jobs that were aborted, with the attempts they had before; failed in graphile-worker's eyes, not in ours. */
  const interrupted = new Map<string, number>();
  const carry: Carry = (job, helpers) => carryOut(job, helpers, options, interrupted);
  const launch = () => run(connection, worker, { ...options, carry }, (id) => (pool = id));
  const trouble = (error: unknown) => onEvent({ type: "worker-trouble", error: wordsOf(error) });
  const keepHouse = () => connection.run((query) => sweep({ query, schema: connection.schema, worker, pool, leaseMs }));

  let runner = await launch();
  await keepHouse();
  const rest = (ms: number) => pause(ms, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
  const housekeeping = (async () => {
    while (!stopping.signal.aborted) {
      await rest(leaseMs / 3);
      if (!stopping.signal.aborted) await keepHouse().catch(trouble);
    }
  })();
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      await runner.promise.catch(trouble);
      await rest(pollMs);
      if (stopping.signal.aborted) return;
      await launch().then((next) => (runner = next), trouble);
    }
  })();
  return {
    // New jobs are announced by the server; one that was made due is found at the next poll.
    wake: () => {},
    async stop() {
      stopping.abort();
      // A server that is away can't be told; the jobs are taken over when the lease has run out.
      const patience = pause(stopMs + 1000, undefined, { ref: false });
      const ended = Promise.allSettled([runner.stop(), watching, housekeeping]);
      await Promise.race([ended.then(() => giveBack(connection, worker, { pool, interrupted })), patience]).catch(
        trouble,
      );
    },
  };
}

type Carry = (job: MemoryJob, helpers: JobHelpers) => Promise<void>;

async function run(
  connection: Connection,
  worker: string,
  options: WorkOptions & { readonly carry: Carry },
  onPool: (id: string) => void,
): Promise<Runner> {
  const graphile = await import("graphile-worker");
  const events: WorkerEvents = new EventEmitter();
  events.on("pool:create", ({ workerPool }) => onPool(workerPool.id));
  // What it would print is told through our events.
  const silent = new graphile.Logger(() => () => {});
  return graphile.run({
    connectionString: connection.url,
    maxPoolSize: options.concurrency + 2,
    schema: worker.slice(1, -1),
    concurrency: options.concurrency,
    pollInterval: options.pollMs,
    gracefulShutdownAbortTimeout: options.stopMs,
    noHandleSignals: true,
    parsedCronItems: [],
    logger: silent,
    events,
    taskList: {
      [MEMORY_TASK]: (payload, helpers) => options.carry(payload as MemoryJob, helpers),
    },
  });
}

async function carryOut(
  job: MemoryJob,
  { job: row, abortSignal }: JobHelpers,
  { process, onEvent }: WorkOptions,
  interrupted: Map<string, number>,
): Promise<void> {
  const attempt = row.attempts;
  const signal = abortSignal ?? new AbortController().signal;
  onEvent({ type: "job-start", job, attempt });
  try {
    await untilAborted(signal, () => process(job, signal));
  } catch (error) {
    if (signal.aborted) {
      interrupted.set(row.id, attempt - 1);
      throw new Error(row.last_error ?? "the queue is stopping");
    }
    onEvent({ type: "job-fail", job, attempt, error: wordsOf(error) });
    throw error instanceof Error ? error : new Error(String(error));
  }
  onEvent({ type: "job-end", job });
}

/**
 * graphile-worker doesn't wait until a job that ended during its shutdown is written down, so its lock is taken here.
 * Without a key a job was replaced while it ran: its successor does the work.
 */
async function giveBack(connection: Connection, worker: string, { pool, interrupted }: Interrupted): Promise<void> {
  if (interrupted.size === 0) return;
  await connection.run(async (query) => {
    await query(`SELECT ${worker}.force_unlock_workers(ARRAY[$1::text])`, [pool]);
    for (const [id, attempts] of interrupted) {
      const sql = `SELECT ${worker}.reschedule_jobs(ARRAY[id], run_at := clock_timestamp(), attempts := $2)
        FROM ${worker}.jobs WHERE id = $1 AND key IS NOT NULL`;
      await query(sql, [id, attempts]);
    }
  });
}

interface Interrupted {
  readonly pool: string;
  readonly interrupted: ReadonlyMap<string, number>;
}

interface House {
  readonly query: Parameters<Parameters<Connection["run"]>[0]>[0];
  readonly schema: string;
  readonly worker: string;
  readonly pool: string;
  readonly leaseMs: number;
}

/** Each statement is harmless to repeat, and any worker may do it for all. */
async function sweep({ query, schema, worker, pool, leaseMs }: House): Promise<void> {
  const lease = "$1::float8 * interval '1 millisecond'";
  const now = "clock_timestamp()";
  await query(
    `INSERT INTO ${schema}.memory_workers (id, seen) VALUES ($1, ${now})
    ON CONFLICT (id) DO UPDATE SET seen = excluded.seen`,
    [pool],
  );
  // A time far ahead is a clock that was set back: it proves no life.
  await query(
    `SELECT ${worker}.force_unlock_workers(array_agg(gone.locked_by)) FROM (
      SELECT DISTINCT j.locked_by FROM ${worker}.jobs j LEFT JOIN ${schema}.memory_workers w ON w.id = j.locked_by
      WHERE j.locked_by IS NOT NULL
        AND coalesce(w.seen, j.locked_at) NOT BETWEEN ${now} - ${lease} AND ${now} + ${lease}
    ) gone HAVING count(*) > 0`,
    [leaseMs],
  );
  await query(`DELETE FROM ${schema}.memory_workers WHERE seen < ${now} - 10 * ${lease}`, [leaseMs]);
  // Jobs that were replaced while they ran, and then failed: their successors do the work.
  await query(
    `SELECT ${worker}.complete_jobs(array_agg(id)) FROM ${worker}.jobs
    WHERE key IS NULL AND locked_at IS NULL AND attempts >= max_attempts HAVING count(*) > 0`,
  );
  await query(
    `SELECT ${worker}.reschedule_jobs(array_agg(id), run_at := ${now}) FROM ${worker}.jobs
    WHERE locked_at IS NULL AND attempts < max_attempts AND updated_at > ${now} + interval '1 second' HAVING count(*) > 0`,
  );
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
