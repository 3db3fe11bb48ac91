/**
 * Leases in PostgreSQL, by the database's own clock, so that processes on different machines agree. The row is locked first and
 * judged by the time it was got, not by the time a statement began to wait for it. A lease isn't worth a wait for the disk: an
 * append brings the lease it was made under there with it, and one that a crash of the server has forgotten is refused at its next
 * append, because its epoch or its owner no longer stands.
 */
import type { Lease, LeaseResult } from "../store.ts";
import { ASYNC_COMMIT } from "./connection.ts";
import { NAMED, type UserConnection } from "./lineage.ts";

export function acquireLease(
  { schema, run, userId }: UserConnection,
  threadId: string,
  owner: string,
  ttlMs: number,
): Promise<LeaseResult> {
  return run(async (query) => {
    const [row] = await query<{ owner: string; taken: Date; until: Date; epoch: number | null }>(
      `WITH ${ASYNC_COMMIT}, standing AS MATERIALIZED (
        SELECT lease_owner, lease_taken, lease_until, ${LIVE} AS live, clock_timestamp() AS at,
          clock_timestamp() + $4::float8 * interval '1 millisecond' AS ends
        FROM ${schema}.threads WHERE ${NAMED} FOR UPDATE
      ), taken AS (
        UPDATE ${schema}.threads t SET lease_owner = $3, lease_epoch = lease_epoch + 1,
          lease_taken = s.at, lease_until = s.ends
        FROM standing s, commit WHERE t.owner = $1 AND t.id = $2 AND (NOT s.live OR s.lease_owner = $3)
        RETURNING t.lease_epoch AS epoch
      ) SELECT s.lease_owner AS owner, s.lease_taken AS taken, s.lease_until AS until, taken.epoch
      FROM standing s LEFT JOIN taken ON true`,
      [userId, threadId, owner, ttlMs],
    );
    if (!row) return { kind: "missing" };
    const { owner: holder, taken, until, epoch } = row;
    if (epoch !== null) return { kind: "acquired", lease: { threadId, owner, epoch } };
    return { kind: "busy", owner: holder, renewedAt: taken.toISOString(), expiresAt: until.toISOString() };
  });
}

export async function renewLease(connection: UserConnection, lease: Lease, ttlMs: number): Promise<"renewed" | "lost"> {
  const until = `statement_timestamp() + $5::float8 * interval '1 millisecond'`;
  const set = `lease_taken = statement_timestamp(), lease_until = ${until}`;
  return (await change(connection, lease, set, ttlMs)) ? "renewed" : "lost";
}

export async function releaseLease(connection: UserConnection, lease: Lease): Promise<void> {
  await change(connection, lease, "lease_until = to_timestamp($5)", 0);
}

/** A lease that ran out but that nobody took still counts: no one else can have written. */
export const HOLDS = (owner: string, epoch: string) => `lease_owner = ${owner} AND lease_epoch = ${epoch}`;

/**
 * Somebody holds the lease and it hasn't run out. One that was taken in the future says that the clock was ahead; it would
 * last until that time comes.
 */
export const LIVE = `coalesce(lease_owner IS NOT NULL AND lease_until > clock_timestamp()
  AND lease_taken <= clock_timestamp() + interval '1 second', false)`;

async function change(
  { schema, run, userId }: UserConnection,
  { threadId, owner, epoch }: Lease,
  set: string,
  value: number,
): Promise<boolean> {
  const sql = `WITH ${ASYNC_COMMIT} UPDATE ${schema}.threads SET ${set}
    FROM commit WHERE ${NAMED} AND ${HOLDS("$3", "$4")} RETURNING 1 AS done`;
  const done = await run((query) => query(sql, [userId, threadId, owner, epoch, value]));
  return done.length === 1;
}
