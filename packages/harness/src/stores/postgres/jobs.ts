/**
 * The queue in PostgreSQL: graphile-worker's tables in a schema of their own beside ours, so that a graphile-worker which
 * the database already has, of whatever version, is left alone. Jobs are added by `queue_memory` (schema.ts) inside the
 * append's statement. Only its public functions and its `jobs` view are used; what a person needs to know is in the key.
 */
import type { JobStatus, MemoryJobs, NewMemoryJob } from "../memory-jobs.ts";
import type { Connection } from "./connection.ts";
import { startJobWorker } from "./job-worker.ts";

/** Quoted. A long name is cut, as the server would. */
export function workerSchema(schema: string): string {
  return `"${schema.slice(1, -1).slice(0, 63 - "_worker".length)}_worker"`;
}

/** The columns of `queue_memory`'s arguments, one array each, for the append's statement. */
export function jobColumns(thread: string, jobs: readonly NewMemoryJob[]): readonly unknown[] {
  return [
    jobs.map(({ user, agent }) => keyOf(thread, user, agent)),
    jobs.map(({ user, agent, throughSeq }) => JSON.stringify({ thread, user, agent, throughSeq })),
    jobs.map(({ delayMs }) => delayMs),
    jobs.map(({ maxAttempts }) => maxAttempts),
  ];
}

/** Whoever never queues a job never gets the tables, nor loads the library. */
export function jobInstaller(connection: Connection): () => Promise<void> {
  let installed: Promise<void> | undefined;
  return () => {
    installed ??= install(connection).catch((error: unknown) => {
      installed = undefined;
      throw error;
    });
    return installed;
  };
}

export function memoryJobs(connection: Connection, installed: () => Promise<void>): MemoryJobs {
  const worker = workerSchema(connection.schema);
  const ask = async <R extends object>(sql: string, values: readonly unknown[] = []): Promise<R[]> => {
    await installed();
    return connection.run((query) => query<R>(sql, values));
  };
  return {
    async hurry(thread) {
      const rows = await ask(
        `SELECT (${worker}.reschedule_jobs(array_agg(id), run_at := clock_timestamp())).id FROM ${worker}.jobs
        WHERE starts_with(key, $1) AND locked_at IS NULL AND attempts < max_attempts HAVING count(*) > 0`,
        [keyOf(thread)],
      );
      return rows.length;
    },
    async list() {
      if (!(await isInstalled(connection))) return [];
      // Without a key it was replaced while it ran: the one that replaced it stands for it.
      const sql = `SELECT key, attempts, max_attempts, last_error, run_at, locked_at IS NOT NULL AS locked FROM ${worker}.jobs
        WHERE key IS NOT NULL ORDER BY run_at, id`;
      return (await ask<JobRow>(sql)).map(statusOf);
    },
    async revive() {
      const rows = await ask(
        `SELECT (${worker}.reschedule_jobs(array_agg(id), run_at := clock_timestamp(), attempts := 0)).id
        FROM ${worker}.jobs WHERE key IS NOT NULL AND locked_at IS NULL AND attempts >= max_attempts HAVING count(*) > 0`,
      );
      return rows.length;
    },
    async work(options) {
      await installed();
      return startJobWorker(connection, worker, options);
    },
  };
}

interface JobRow {
  readonly key: string;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly last_error: string | null;
  readonly run_at: Date;
  readonly locked: boolean;
}

function statusOf({ key, attempts, max_attempts, last_error, run_at: runAt, locked }: JobRow): JobStatus {
  const [thread = "", user = "", agent = ""] = key.split("/").map(decodeURIComponent);
  const state = locked ? "running" : attempts >= max_attempts ? "dead" : "waiting";
  // Given back or revived: the reason is of an attempt that no longer counts.
  const error = attempts === 0 ? null : last_error;
  return { thread, user, agent, state, attempts, runAt: runAt.toISOString(), error };
}

/** Of a thread alone: what all its keys start with. */
function keyOf(thread: string, ...rest: readonly string[]): string {
  const key = [thread, ...rest].map(encodeURIComponent).join("/");
  return rest.length === 0 ? `${key}/` : key;
}

async function isInstalled(connection: Connection): Promise<boolean> {
  const sql = "SELECT to_regclass($1) IS NOT NULL AS there";
  const [row] = await connection.run((query) =>
    query<{ there: boolean }>(sql, [`${workerSchema(connection.schema)}.jobs`]),
  );
  return row!.there;
}

async function install(connection: Connection): Promise<void> {
  if (await isInstalled(connection)) return;
  const worker = workerSchema(connection.schema);
  const { runMigrations } = await import("graphile-worker");
  await connection.transaction(async (query) => {
    // One process at a time; the migration itself runs on a connection of its own.
    await query("SELECT pg_advisory_xact_lock(hashtext('palimpsest worker'), hashtext($1))", [worker]);
    await runMigrations({ connectionString: connection.url, schema: worker.slice(1, -1) });
  });
}
