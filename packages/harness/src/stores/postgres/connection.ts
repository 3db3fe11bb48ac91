/**
 * Work on one PostgreSQL, and the one place that decides what a failure means. Work that a lost connection interrupted
 * is tried again until the deadline, and is told so (`again`), because its first attempt may have been committed. A
 * connection without an answer counts as lost. Nothing here knows the tables.
 */
import type { Pool, PoolClient, QueryResultRow } from "pg";
import { StoreError } from "../store-error.ts";
import { type Ask, askOn, connectWithin, openPool } from "./pool.ts";
import { connectionProblem, describeProblem, isReadOnlyRefusal, StandbyError } from "./problem.ts";
import { type PostgresTarget, readPostgresUrl } from "./url.ts";

/** Runs one statement and returns its rows. */
export type SqlQuery = <R extends QueryResultRow>(text: string, values?: readonly unknown[]) => Promise<R[]>;

/** `again`: an earlier attempt lost its connection, so its effects may already stand. */
export type SqlWork<T> = (query: SqlQuery, again: boolean) => Promise<T>;

export interface PostgresConnection {
  /** Quoted name of the schema that holds our tables. */
  readonly schema: string;
  /** One or more statements, each its own transaction. */
  run<T>(work: SqlWork<T>, limits?: WorkLimits): Promise<T>;
  /** All statements in one transaction. */
  transaction<T>(work: SqlWork<T>, limits?: WorkLimits): Promise<T>;
  /** Waits for work under way. */
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** How long work may wait for a server that went away or fell silent (15 s). */
  readonly reconnectMs?: number;
  /** How long a statement may go without an answer (10 s) before its connection counts as lost. */
  readonly answerMs?: number;
  readonly connections?: number;
}

type WorkLimits = Pick<ConnectionOptions, "answerMs">;

/** For work that is known to take its time: migrations, vacuum, the removal of a thread that others were forked from. */
export const LONG: WorkLimits = { answerMs: 3_600_000 };

export async function connectPostgres(url: string, options: ConnectionOptions = {}): Promise<PostgresConnection> {
  const target = readPostgresUrl(url);
  const { reconnectMs = 15_000, answerMs = 10_000, connections = 10 } = options;
  const pool = await openPool(target.connectionString, { connections, answerMs });
  const underWay = new Set<Promise<unknown>>();
  const server: ServerFacts = { pool, target, reconnectMs, answerMs, everConnected: false, closed: false };
  const counted = <T>(work: Promise<T>): Promise<T> => {
    const done: Promise<unknown> = work.catch(() => {}).then(() => underWay.delete(done));
    underWay.add(done);
    return work;
  };
  return {
    schema: target.schema,
    run: (work, limits) => counted(retrying(server, (ask, again) => work(rowsOf(ask), again), limits)),
    transaction: (work, limits) =>
      counted(retrying(server, (ask, again) => inTransaction(ask, (query) => work(query, again)), limits)),
    close: async () => {
      if (server.closed) return;
      server.closed = true;
      // The pool would forget callers that wait for one of its connections.
      await Promise.all(underWay);
      await pool.end();
    },
  };
}

interface ServerFacts extends Required<Omit<ConnectionOptions, "connections">> {
  readonly pool: Pool;
  readonly target: PostgresTarget;
  /** A server that was never there is told at once. */
  everConnected: boolean;
  closed: boolean;
}

async function retrying<T>(
  server: ServerFacts,
  work: (ask: Ask, again: boolean) => Promise<T>,
  limits: WorkLimits = {},
): Promise<T> {
  const deadline = Date.now() + server.reconnectMs;
  let again = false;
  for (let pause = 25; ; pause = Math.min(pause * 2, 1000)) {
    // What is tried again gets the time that is left, so that a server which stays silent is told of in time.
    const left = again ? Math.max(deadline - Date.now(), LEAST_MS) : server.answerMs;
    const withinMs = Math.min(server.answerMs, left);
    try {
      return await attempt(server, (client) => work(askOn(client, limits.answerMs ?? withinMs), again), withinMs);
    } catch (error) {
      const problem = connectionProblem(error);
      if (problem === "lost" || problem === "node") again = true;
      const patience = server.everConnected || problem === "starting" ? deadline : 0;
      if (problem === "none" || (problem !== "conflict" && Date.now() + pause > patience)) {
        throw describeProblem(error, server.target);
      }
    }
    await new Promise((wake) => setTimeout(wake, pause * (0.5 + Math.random() / 2)));
  }
}

/** However late it is: a second for one more try. */
const LEAST_MS = 1000;

async function attempt<T>(server: ServerFacts, work: (client: PoolClient) => Promise<T>, withinMs: number): Promise<T> {
  if (server.closed) throw new StoreError("closed", `The store at ${server.target.place} is closed: open it again.`);
  const client = await connectWithin(server.pool, withinMs);
  server.everConnected = true;
  let failure: unknown;
  try {
    return await work(client);
  } catch (error) {
    failure = error instanceof Error && isReadOnlyRefusal(error) ? await whyReadOnly(client, error) : error;
    throw failure;
  } finally {
    // A connection that failed on its own account is not worth keeping, nor one to a server that can't write: the next one
    // may lead to the primary. One that refused a statement is fine.
    client.release(failure !== undefined && (isReadOnlyRefusal(failure) || connectionProblem(failure) === "lost"));
  }
}

/**
 * One that was told to be read-only stays so. Any other refused as a standby: it may be on its way to be the primary, or
 * be it by now, or the address may lead to another one soon.
 */
async function whyReadOnly(client: PoolClient, error: Error): Promise<Error> {
  const state = await client.query<{ told: boolean }>(TOLD_TO_BE_READ_ONLY).catch(() => null);
  return state?.rows[0]?.told === true ? error : new StandbyError(error.message, { cause: error });
}

const TOLD_TO_BE_READ_ONLY = `SELECT NOT pg_is_in_recovery()
  AND current_setting('default_transaction_read_only') = 'on' AS told`;

function rowsOf(ask: Ask): SqlQuery {
  return async <R extends QueryResultRow>(text: string, values?: readonly unknown[]) =>
    (await ask<R>(text, values)).rows;
}

async function inTransaction<T>(ask: Ask, work: (query: SqlQuery) => Promise<T>): Promise<T> {
  await ask(BEGIN);
  try {
    const result = await work(rowsOf(ask));
    await ask("COMMIT");
    return result;
  } catch (error) {
    // A lost connection is closed, and the transaction with it.
    if (connectionProblem(error) !== "lost") await ask("ROLLBACK");
    throw error;
  }
}

const WAITS = `set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
  ELSE current_setting('synchronous_commit') END, true)`;

/**
 * Parts of a statement that writes, which must read from them (`FROM commit`): how long its commit waits, until the transaction
 * ends, which for a single statement is its own. `DURABLE`: for the disk, whatever the server's default says; `ASYNC_COMMIT`: not
 * at all. They stand in a query of their own because Citus refuses settings in the condition of a change.
 */
export const DURABLE = commitWith(WAITS);
export const ASYNC_COMMIT = commitWith("set_config('synchronous_commit', 'off', true)");

/** `at`: the time in milliseconds. */
function commitWith(setting: string): string {
  return `commit AS MATERIALIZED (SELECT ${setting} AS waits, extract(epoch FROM clock_timestamp())::float8 * 1000 AS at)`;
}

/**
 * In one message: a waiting update re-reads its row; a transaction whose client has vanished ends, and its locks with it.
 * Nothing is set for longer than the transaction, because behind a pooler the connection is somebody else's afterwards.
 */
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED;
  SELECT set_config('idle_in_transaction_session_timeout', '60s', true), ${WAITS}`;
