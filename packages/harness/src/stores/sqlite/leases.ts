/**
 * Leases: who may append, by the database's own clock so that machines with different clocks agree. The epoch outlives
 * its lease: it only ever grows, which is how a late writer is told apart. A lease isn't worth a wait for the disk: an
 * append brings the lease it was made under there with it, and a power cut ends the lease of a holder that has not appended.
 */
import type { Lease, LeaseResult } from "../store.ts";
import type { Connection } from "./connection.ts";
import { NUM, type UserConnection } from "./rows.ts";

const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
/** One that was taken in the future says that the clock was ahead; it would last until that time comes. */
const LIVE = `leases.expires > ${NOW} AND leases.taken <= ${NOW} + 1000`;

export function acquireLease(connection: UserConnection, threadId: string, owner: string, ttlMs: number): LeaseResult {
  const { userId } = connection;
  // `all` runs it to its end, so that a commit that fails is told.
  const [taken] = connection.unhurried(() =>
    connection.all(
      `INSERT INTO leases (num, owner, epoch, taken, expires)
       SELECT num, ?, 1, ${NOW}, ${NOW} + ? FROM threads WHERE user = ? AND id = ?
       ON CONFLICT (num) DO UPDATE
       SET owner = excluded.owner, epoch = epoch + 1, taken = excluded.taken, expires = excluded.expires
       WHERE leases.owner = excluded.owner OR NOT coalesce(${LIVE}, FALSE)
       RETURNING epoch`,
      ...[owner, ttlMs, userId, threadId],
    ),
  );
  if (taken) return { kind: "acquired", lease: { threadId, owner, epoch: taken["epoch"] as number } };
  const row = connection.get(`SELECT owner, expires FROM leases WHERE num = ${NUM}`, userId, threadId);
  if (!row) return { kind: "missing" };
  const expiresAt = new Date(row["expires"] as number).toISOString();
  return { kind: "busy", owner: row["owner"] as string, expiresAt };
}

export function renewLease(connection: UserConnection, lease: Lease, ttlMs: number): "renewed" | "lost" {
  return change(connection, lease, `taken = ${NOW}, expires = ${NOW} + ${Math.trunc(ttlMs)}`) ? "renewed" : "lost";
}

export function releaseLease(connection: UserConnection, lease: Lease): void {
  change(connection, lease, "expires = 0");
}

/** A lease that ran out but that nobody took still counts: no one else can have written. */
export function holdsLease(connection: Connection, num: number, lease: Lease): boolean {
  const row = connection.get("SELECT owner, epoch FROM leases WHERE num = ?", num);
  return row?.["owner"] === lease.owner && row["epoch"] === lease.epoch;
}

/** Whether anyone holds the thread right now. */
export function isLeased(connection: Connection, num: number): boolean {
  return connection.get(`SELECT 1 FROM leases WHERE num = ? AND ${LIVE}`, num) !== undefined;
}

function change(connection: UserConnection, { threadId, owner, epoch }: Lease, set: string): boolean {
  const sql = `UPDATE leases SET ${set} WHERE num = ${NUM} AND owner = ? AND epoch = ?`;
  return connection.unhurried(() => connection.run(sql, connection.userId, threadId, owner, epoch)).changes === 1;
}
