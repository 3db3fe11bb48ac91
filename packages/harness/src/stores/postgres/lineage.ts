/**
 * How a thread is found. It is named by its user and its id, which travel as one value; inside, everything refers to the
 * number of its row.
 */
import type { Connection } from "./connection.ts";

/** A connection as one user sees it. */
export interface UserConnection extends Connection {
  readonly userId: string;
}

export type ThreadName = readonly [user: string, id: string];

/** In a statement on `threads` whose `$1` is the name. */
export const NAMED = "owner = ($1::text[])[1] AND id = ($1::text[])[2]";

/** The thread's number, where `$1` is the name. */
export function numOf(schema: string): string {
  return `(SELECT num FROM ${schema}.threads WHERE ${NAMED})`;
}

/** Whose records a thread shows: its own, then its base's through the fork, and so on. Opens a statement; `$1` is the name. */
export function lineage(schema: string): string {
  return `WITH RECURSIVE line (thread, through, base, base_at, depth) AS (
    SELECT num, 9223372036854775807, base, base_at, 0 FROM ${schema}.threads WHERE ${NAMED}
    UNION ALL
    SELECT t.num, LEAST(line.through, line.base_at), t.base, t.base_at, line.depth + 1
    FROM line JOIN ${schema}.threads t ON t.num = line.base
  )`;
}
