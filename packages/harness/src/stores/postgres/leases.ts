/**
 * Leases in PostgreSQL, by the database's own clock, so that processes on different machines agree. `clock_timestamp`
 * and not `now`: a statement that waited for the row must judge by the time it got it. A lease isn't worth a wait for the
 * disk: an append brings the lease it was made under there with it, and one that a crash of the server has forgotten
 * is refused at its next append, because its epoch or its owner no longer stands.
 */
import type { Lease, LeaseResult } from "../store.ts";
import { NAMED, type UserConnection } from "./lineage.ts";

export function acquireLease(
  { schema, run, userId }: UserConnection,
  threadId: string,
  owner: string,
  ttlMs: number,
): Promise<LeaseResult> {
  return run(async (query) => {
    const [taken] = await query<{ epoch: number }>(
      `UPDATE ${schema}.threads SET lease_owner = $2, lease_epoch = lease_epoch + 1,
        lease_taken = clock_timestamp(), lease_until = ${UNTIL("$3")}
      WHERE ${NAMED} AND (NOT ${LIVE} OR lease_owner = $2) AND ${UNHURRIED} RETURNING lease_epoch AS epoch`,
      [[userId, threadId], owner, ttlMs],
    );
    if (taken) return { kind: "acquired", lease: { threadId, owner, epoch: taken.epoch } };
    const [row] = await query<{ owner: string; taken: Date; until: Date }>(
      `SELECT lease_owner AS owner, lease_taken AS taken, lease_until AS until FROM ${schema}.threads WHERE ${NAMED}`,
      [[userId, threadId]],
    );
    if (!row) return { kind: "missing" };
    const { owner: holder, taken: renewed, until } = row;
    return { kind: "busy", owner: holder, renewedAt: renewed.toISOString(), expiresAt: until.toISOString() };
  });
}

export async function renewLease(connection: UserConnection, lease: Lease, ttlMs: number): Promise<"renewed" | "lost"> {
  const set = `lease_taken = clock_timestamp(), lease_until = ${UNTIL("$4")}`;
  return (await change(connection, lease, set, ttlMs)) ? "renewed" : "lost";
}

export async function releaseLease(connection: UserConnection, lease: Lease): Promise<void> {
  await change(connection, lease, "lease_until = to_timestamp($4)", 0);
}

/** A lease that ran out but that nobody took still counts: no one else can have written. */
export const HOLDS = (owner: string, epoch: string) => `lease_owner = ${owner} AND lease_epoch = ${epoch}`;

/**
 * Somebody holds the lease and it hasn't run out. One that was taken in the future says that the clock was ahead; it would
 * last until that time comes.
 */
export const LIVE = `coalesce(lease_owner IS NOT NULL AND lease_until > clock_timestamp()
  AND lease_taken <= clock_timestamp() + interval '1 second', false)`;

/** Always true. Its effect ends with the statement, which is its own transaction. */
export const UNHURRIED = "set_config('synchronous_commit', 'off', true) = 'off'";

const UNTIL = (ms: string) => `clock_timestamp() + ${ms}::float8 * interval '1 millisecond'`;

async function change(
  { schema, run, userId }: UserConnection,
  { threadId, owner, epoch }: Lease,
  set: string,
  value: number,
): Promise<boolean> {
  const sql = `UPDATE ${schema}.threads SET ${set}
    WHERE ${NAMED} AND ${HOLDS("$2", "$3")} AND ${UNHURRIED} RETURNING 1 AS done`;
  const done = await run((query) => query(sql, [[userId, threadId], owner, epoch, value]));
  return done.length === 1;
}
