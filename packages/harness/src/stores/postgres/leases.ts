/**
 * Leases in PostgreSQL, by the database's own clock, so that processes on different machines agree. The row is locked first and
 * judged by the time it was got, not by the time a statement began to wait for it. A lease isn't worth a wait for the disk: an
 * append brings the lease it was made under there with it, and one that a crash of the server has forgotten is refused at its next
 * append, because its epoch or its owner no longer stands.
 */
import type { HeldLease, Lease, LeaseResult } from "../store.ts";
import { ASYNC_COMMIT } from "./connection.ts";
import { NAMED, type PostgresUserConnection } from "./lineage.ts";

export function acquireLease(
  { schema, run, userId }: PostgresUserConnection,
  threadId: string,
  owner: string,
  ttlMs: number,
): Promise<LeaseResult> {
  return run(async (query) => {
    const [row] = await query<HeldRow & { epoch: number | null }>(
      `WITH ${ASYNC_COMMIT}, ${standing(schema, "$4")}, taken AS (
        UPDATE ${schema}.threads t SET lease_owner = $3, lease_epoch = lease_epoch + 1,
          lease_taken = s.at, lease_until = s.ends
        FROM standing s, commit WHERE t.owner = $1 AND t.id = $2 AND (NOT s.live OR s.lease_owner = $3)
        RETURNING t.lease_epoch AS epoch
      ) SELECT s.lease_owner AS owner, s.lease_taken AS taken, s.lease_until AS until, taken.epoch
      FROM standing s LEFT JOIN taken ON true`,
      [userId, threadId, owner, ttlMs],
    );
    if (!row) return { kind: "missing" };
    return row.epoch === null ? heldBy(row) : { kind: "acquired", lease: { threadId, owner, epoch: row.epoch } };
  });
}

/**
 * Part of a statement that takes a lease: the thread's row, locked, with the lease that stands in it. `ttl`: the parameter
 * with the new one's milliseconds.
 */
export function standing(schema: string, ttl: string, more = ""): string {
  return `standing AS MATERIALIZED (
    SELECT lease_owner, lease_taken, lease_until, ${LIVE} AS live, clock_timestamp() AS at,
      clock_timestamp() + ${ttl}::float8 * interval '1 millisecond' AS ends${more}
    FROM ${schema}.threads WHERE ${NAMED} FOR UPDATE
  )`;
}

export interface HeldRow {
  readonly owner: string;
  readonly taken: Date;
  readonly until: Date;
}

export function heldBy({ owner, taken, until }: HeldRow): HeldLease {
  return { kind: "busy", owner, renewedAt: taken.toISOString(), expiresAt: until.toISOString() };
}

/** One that was given back stays free: a heartbeat may come after the append that ended it. */
export async function renewLease(
  connection: PostgresUserConnection,
  lease: Lease,
  ttlMs: number,
): Promise<"renewed" | "lost"> {
  const until = `statement_timestamp() + $5::float8 * interval '1 millisecond'`;
  const set = `lease_taken = statement_timestamp(), lease_until = ${until}`;
  return (await change(connection, lease, set, ttlMs, "AND lease_until > to_timestamp(0)")) ? "renewed" : "lost";
}

export async function releaseLease(connection: PostgresUserConnection, lease: Lease): Promise<void> {
  await change(connection, lease, "lease_until = to_timestamp($5)", 0);
}

/** A lease that ran out but was not taken since still counts: no one else can have written. */
export const HOLDS = (owner: string, epoch: string) => `lease_owner = ${owner} AND lease_epoch = ${epoch}`;

/**
 * Somebody holds the lease and it hasn't run out. One that was taken in the future says that the clock was ahead; it would
 * last until that time comes.
 */
export const LIVE = `coalesce(lease_owner IS NOT NULL AND lease_until > clock_timestamp()
  AND lease_taken <= clock_timestamp() + interval '1 second', false)`;

async function change(
  { schema, run, userId }: PostgresUserConnection,
  { threadId, owner, epoch }: Lease,
  set: string,
  value: number,
  where = "",
): Promise<boolean> {
  const sql = `WITH ${ASYNC_COMMIT} UPDATE ${schema}.threads SET ${set}
    FROM commit WHERE ${NAMED} AND ${HOLDS("$3", "$4")} ${where} RETURNING 1 AS done`;
  const done = await run((query) => query(sql, [userId, threadId, owner, epoch, value]));
  return done.length === 1;
}
