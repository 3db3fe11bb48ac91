/**
 * How a thread is found. It is named by its user and its id; inside, everything refers to its number among the user's threads.
 * The user is the first parameter of every statement and a condition on each of its tables.
 */
import type { PostgresConnection } from "./connection.ts";

/** A connection as one user sees it. */
export interface PostgresUserConnection extends PostgresConnection {
  readonly userId: string;
}

/** What a fork takes over of a thread that goes: everything through a record. Threads by their numbers. */
export interface Inheritance {
  readonly owner: string;
  readonly parent: number;
  readonly fork: number;
  readonly through: number;
}

export type ThreadRowName = readonly [user: string, id: string];

/** In a statement on `threads` whose first two parameters are the name. */
export const NAMED = "owner = $1 AND id = $2";

/**
 * The row of the named thread, for parts of a statement that write beside it: what Citus is to write on the node of a user it has
 * to read from a table there, too, or it would hand on what it writes to every node.
 */
export function beside(schema: string): string {
  return `${schema}.threads named`;
}

export const BESIDE_NAMED = "named.owner = $1 AND named.id = $2";

/** The thread's number, where the first two parameters are the name. */
export function numOf(schema: string): string {
  return `(SELECT num FROM ${schema}.threads WHERE ${NAMED})`;
}

/**
 * Whose records a thread shows: its own, then its base's through the fork, and so on. Opens a statement; the first two parameters
 * are the name.
 */
export function lineage(schema: string): string {
  return `WITH RECURSIVE line (thread, through, base, base_at, depth) AS (
    SELECT num, 9223372036854775807, base, base_at, 0 FROM ${schema}.threads WHERE ${NAMED}
    UNION ALL
    SELECT t.num, LEAST(line.through, line.base_at), t.base, t.base_at, line.depth + 1
    FROM line JOIN ${schema}.threads t ON t.owner = $1 AND t.num = line.base
  )`;
}
