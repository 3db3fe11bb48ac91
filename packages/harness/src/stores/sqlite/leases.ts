/**
 * Leases: who may append, by the database's own clock so that machines with different clocks agree. The epoch outlives
 * its lease: it only ever grows, which is how a late writer is told apart. A lease isn't worth a wait for the disk: an
 * append brings the lease it was made under there with it, and a power cut ends whoever held one without appending.
 */
import type { Lease, LeaseResult } from "../store.ts";
import type { Connection } from "./connection.ts";
import { findThread, NUM, type UserConnection } from "./rows.ts";

const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
/** One that was taken in the future says that the clock was ahead; it would last until that time comes. */
const LIVE = `expires > ${NOW} AND taken <= ${NOW} + 1000`;

export function acquireLease(connection: UserConnection, thread: string, owner: string, ttlMs: number): LeaseResult {
  const take = (): LeaseResult => {
    const row = findThread(connection, thread);
    if (!row) return { kind: "missing" };
    const held = connection.get(`SELECT owner, expires FROM leases WHERE num = ? AND ${LIVE}`, row.num);
    if (held && held["owner"] !== owner) {
      const expiresAt = new Date(held["expires"] as number).toISOString();
      return { kind: "busy", owner: held["owner"] as string, expiresAt };
    }
    const taken = connection.get(
      `INSERT INTO leases (num, owner, epoch, taken, expires) VALUES (?, ?, 1, ${NOW}, ${NOW} + ?)
       ON CONFLICT (num) DO UPDATE
       SET owner = excluded.owner, epoch = epoch + 1, taken = excluded.taken, expires = excluded.expires
       RETURNING epoch`,
      row.num,
      owner,
      ttlMs,
    );
    return { kind: "acquired", lease: { thread, owner, epoch: taken!["epoch"] as number } };
  };
  return connection.unhurried(() => connection.transaction("IMMEDIATE", take));
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

function change(connection: UserConnection, { thread, owner, epoch }: Lease, set: string): boolean {
  const sql = `UPDATE leases SET ${set} WHERE num = ${NUM} AND owner = ? AND epoch = ?`;
  return connection.unhurried(() => connection.run(sql, connection.user, thread, owner, epoch)).changes === 1;
}
