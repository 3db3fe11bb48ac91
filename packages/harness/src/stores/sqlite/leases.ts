/**
 * Leases: who may append, by the database's own clock so that machines with different clocks agree. The epoch outlives
 * its lease: it only ever grows, which is how a late writer is told apart. A lease isn't worth a wait for the disk: an
 * append brings the lease it was made under there with it, and a power cut ends the lease of a holder that has not appended.
 * A lease ends before its time when its owner is proven to be gone (`owners.ts`).
 */
import type { Lease, LeaseResult } from "../store.ts";
import type { Connection, Row } from "./connection.ts";
import { NUM, type UserConnection } from "./rows.ts";

const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
/** One that was taken in the future says that the clock was ahead; it would last until that time comes. */
const LIVE = `leases.expires > ${NOW} AND leases.taken <= ${NOW} + 1000`;

export function acquireLease(connection: UserConnection, threadId: string, owner: string, ttlMs: number): LeaseResult {
  const asked = { threadId, owner, ttlMs };
  const taken = take(connection, asked, null);
  if (taken !== null) return taken;
  const row = connection.get(`SELECT ${COLUMNS} FROM leases WHERE num = ${NUM}`, connection.userId, threadId);
  if (!row) return { kind: "missing" };
  const dead = holderGone(connection, row);
  const takenOver = dead === null ? null : take(connection, asked, { holder: dead, epoch: row["epoch"] as number });
  if (takenOver !== null) return takenOver;
  return {
    kind: "busy",
    owner: row["owner"] as string,
    renewedAt: new Date(row["taken"] as number).toISOString(),
    expiresAt: new Date(row["expires"] as number).toISOString(),
  };
}

const COLUMNS = "owner, epoch, taken, expires, holder, holder_epoch";

/** `dead`: a lease that is free although its time has not passed. Null: somebody else holds it, or there is no thread. */
function take(
  connection: UserConnection,
  { threadId, owner, ttlMs }: { readonly threadId: string; readonly owner: string; readonly ttlMs: number },
  dead: { readonly holder: string; readonly epoch: number } | null,
): LeaseResult | null {
  // `all` runs it to its end, so that a commit that fails is told.
  const [taken] = connection.unhurried(() =>
    connection.all(
      `INSERT INTO leases (num, owner, epoch, taken, expires, holder, holder_epoch)
       SELECT num, ?, 1, ${NOW}, ${NOW} + ?, ?, 1 FROM threads WHERE user = ? AND id = ?
       ON CONFLICT (num) DO UPDATE
       SET owner = excluded.owner, epoch = leases.epoch + 1, taken = excluded.taken, expires = excluded.expires,
         holder = excluded.holder, holder_epoch = leases.epoch + 1
       WHERE leases.owner = excluded.owner OR NOT coalesce(${LIVE}, FALSE) OR (leases.holder = ? AND leases.epoch = ?)
       RETURNING epoch`,
      ...[owner, ttlMs, connection.owners.own(), connection.userId, threadId],
      ...[dead?.holder ?? null, dead?.epoch ?? null],
    ),
  );
  return taken ? { kind: "acquired", lease: { threadId, owner, epoch: taken["epoch"] as number } } : null;
}

/** The lock of a lease whose owner is proven to be gone; null: there is no proof. */
function holderGone({ owners }: Connection, { holder, epoch, holder_epoch: since }: Row): string | null {
  if (typeof holder !== "string" || since !== epoch) return null;
  return owners.isGone(holder) ? holder : null;
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
  const row = connection.get(`SELECT ${COLUMNS} FROM leases WHERE num = ? AND ${LIVE}`, num);
  return row !== undefined && holderGone(connection, row) === null;
}

function change(connection: UserConnection, { threadId, owner, epoch }: Lease, set: string): boolean {
  const sql = `UPDATE leases SET ${set} WHERE num = ${NUM} AND owner = ? AND epoch = ?`;
  return connection.unhurried(() => connection.run(sql, connection.userId, threadId, owner, epoch)).changes === 1;
}
