/**
 * Connections to one PostgreSQL: a pool, and the one place that decides what a failure means. Work that a lost
 * connection interrupted is tried again until the deadline, and is told so (`again`), because its first attempt may
 * have been committed. Nothing here knows the tables.
 */
import type { Pool, PoolClient, QueryResultRow } from "pg";
import { StoreError } from "../store-error.ts";
import { connectionProblem, describeProblem } from "./problem.ts";
import { readPostgresUrl } from "./url.ts";

/** Runs one statement and returns its rows. */
export type Query = <R extends QueryResultRow>(text: string, values?: readonly unknown[]) => Promise<R[]>;

/** `again`: an earlier attempt lost its connection, so its effects may already stand. */
type Work<T> = (query: Query, again: boolean) => Promise<T>;

export interface Connection {
  /** Quoted name of the schema that holds our tables. */
  readonly schema: string;
  /** One or more statements, each its own transaction. */
  run<T>(work: Work<T>): Promise<T>;
  /** All statements in one transaction. */
  transaction<T>(work: Work<T>): Promise<T>;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** How long work may wait for a server that went away. */
  readonly reconnectMs?: number;
  readonly connections?: number;
}

export async function connectPostgres(url: string, options: ConnectionOptions = {}): Promise<Connection> {
  const target = readPostgresUrl(url);
  const { reconnectMs = 15_000, connections = 10 } = options;
  const pool = await openPool(target.connectionString, connections);
  let everConnected = false;
  let closed = false;

  const attempt = async <T>(work: (client: PoolClient) => Promise<T>): Promise<T> => {
    if (closed) throw new StoreError("closed", `The store at ${target.place} is closed: open it again.`);
    const client = await pool.connect();
    everConnected = true;
    let failure: unknown;
    try {
      return await work(client);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      // A connection that failed on its own account is not worth keeping; one that refused a statement is fine.
      client.release(failure !== undefined && connectionProblem(failure) === "lost");
    }
  };
  const retrying = async <T>(work: (client: PoolClient, again: boolean) => Promise<T>): Promise<T> => {
    const deadline = Date.now() + reconnectMs;
    let again = false;
    for (let pause = 25; ; pause = Math.min(pause * 2, 1000)) {
      try {
        return await attempt((client) => work(client, again));
      } catch (error) {
        const problem = connectionProblem(error);
        if (problem === "lost") again = true;
        const patience = everConnected || problem === "starting" ? deadline : 0;
        if (problem === "none" || (problem !== "conflict" && Date.now() + pause > patience)) {
          throw describeProblem(error, target);
        }
      }
      await new Promise((wake) => setTimeout(wake, pause * (0.5 + Math.random() / 2)));
    }
  };
  return {
    schema: target.schema,
    run: (work) => retrying((client, again) => work(queryOn(client), again)),
    transaction: (work) => retrying((client, again) => inTransaction(client, (query) => work(query, again))),
    close: async () => {
      if (!closed) {
        closed = true;
        await pool.end();
      }
    },
  };
}

async function openPool(connectionString: string, connections: number): Promise<Pool> {
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({
    connectionString,
    max: connections,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    allowExitOnIdle: true,
    fallback_application_name: "palimpsest",
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === INT8 ? Number : pg.types.getTypeParser(oid, format as "text"),
    },
    onConnect: async (client) => {
      // A connection that breaks fails the query it runs, or is replaced at its next use; its event would end the process.
      client.on("error", () => {});
      await client.query(SESSION);
    },
  });
  pool.on("error", () => {});
  return pool;
}

const INT8 = 20;

/** What our guarantees rest on, whatever the server's defaults: an acknowledged append is on disk; a waiting update re-reads its row. */
const SESSION = `SELECT
  set_config('default_transaction_isolation', 'read committed', false),
  set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false)`;

function queryOn(client: PoolClient): Query {
  return async <R extends QueryResultRow>(text: string, values: readonly unknown[] = []) =>
    (await client.query<R>(text, [...values])).rows;
}

async function inTransaction<T>(client: PoolClient, work: (query: Query) => Promise<T>): Promise<T> {
  await client.query("BEGIN");
  try {
    const result = await work(queryOn(client));
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}
