/**
 * The driver's pool, and a limit of time for everything that is asked of it: for a connection, for an answer. A server
 * that goes silent looks like one that is slow, so the caller decides how long to wait.
 */
import type { Pool, PoolClient, QueryResult, QueryResultRow } from "pg";
import { within } from "../../long-work.ts";
import { explainMissing } from "../../optional-package.ts";

export interface PoolOptions {
  readonly connections: number;
  /** How long a new connection may take, and its first statement. */
  readonly answerMs: number;
}

export async function openPool(connectionString: string, { connections, answerMs }: PoolOptions): Promise<Pool> {
  const { default: pg } = await loadDriver();
  const pool = new pg.Pool({
    connectionString,
    max: connections,
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    allowExitOnIdle: true,
    fallback_application_name: "palimpsest",
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") => {
        if (oid === INT8) return Number;
        return format === "binary" ? pg.types.getTypeParser(oid, format) : pg.types.getTypeParser(oid, format);
      },
    },
  });
  // A connection that breaks fails the query it runs, or is replaced at its next use; its event would end the process.
  // An event, since older drivers have no option `onConnect`.
  pool.on("connect", (client) => void client.on("error", () => {}));
  pool.on("error", () => {});
  return pool;
}

export async function loadDriver(): Promise<typeof import("pg")> {
  try {
    return await import("pg");
  } catch (error) {
    throw explainMissing(error);
  }
}

const INT8 = 20;

/** The pool's own limit is for a connection that is being made; this one is for a caller that waits. */
export async function connectWithin(pool: Pool, ms: number): Promise<PoolClient> {
  const connecting = pool.connect();
  const tooLong = () => new Error("timeout: no connection could be made");
  try {
    return await within({ ms, signal: NEVER, tooLong }, () => connecting);
  } catch (error) {
    connecting.then(
      (client) => client.release(),
      () => {},
    );
    throw error;
  }
}

const NEVER = new AbortController().signal;

/** Sends one statement. */
export type Ask = <R extends QueryResultRow>(text: string, values?: readonly unknown[]) => Promise<QueryResult<R>>;

export function askOn(client: PoolClient, answerMs: number): Ask {
  return (text, values = []) => {
    // The driver reads the limit of a single query; its types don't know it.
    const query = { text, values: [...values], query_timeout: answerMs + sizeOf(values) / CHARACTERS_PER_MS };
    return client.query(query);
  };
}

/** A large statement takes its time on a slow line: a second more for every million characters. */
const CHARACTERS_PER_MS = 1000;

function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  return Array.isArray(value) ? value.reduce((sum: number, one) => sum + sizeOf(one), 0) : 0;
}
