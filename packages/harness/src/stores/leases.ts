/**
 * Holding a lease while some work runs: taken before, renewed by a heartbeat, given back after. The work learns through
 * its signal that the lease was lost; the store refuses its late appends either way.
 */
import { untilAborted } from "../abort.ts";
import type { HeldLease, Lease, Store } from "./store.ts";

export const LEASE_TTL_MS = 30_000;
const HEARTBEAT_MS = 10_000;

export type Leased<T> = { readonly kind: "done"; readonly value: T } | HeldLease | { readonly kind: "missing" };

export interface LeaseOptions {
  readonly owner: string;
  readonly ttlMs?: number;
  readonly heartbeatMs?: number;
  /** Once it aborts the lease is given back at once: work that goes on all the same can write nothing more. */
  readonly abandon?: AbortSignal | undefined;
}

/** A lease that a heartbeat keeps until it is given back. */
export interface KeptLease {
  readonly kind: "kept";
  readonly lease: Lease;
  /** Aborted once the lease was taken over. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

export async function keepLease(
  store: Store,
  threadId: string,
  { owner, ttlMs = LEASE_TTL_MS, heartbeatMs = HEARTBEAT_MS }: Omit<LeaseOptions, "abandon">,
): Promise<KeptLease | HeldLease | { readonly kind: "missing" }> {
  const taken = await store.acquireLease(threadId, owner, ttlMs);
  if (taken.kind !== "acquired") return taken;
  const { lease } = taken;
  const lost = new AbortController();
  const beat = setInterval(async () => {
    // A failed renewal is no proof of loss; the next append asks the database.
    const result = await store.renewLease(lease, ttlMs).catch(() => "unknown" as const);
    if (result === "lost") lost.abort(new Error(`the lease on thread ${threadId} was taken over`));
  }, heartbeatMs);
  beat.unref();
  const release = async (): Promise<void> => {
    clearInterval(beat);
    await store.releaseLease(lease).catch(() => {});
  };
  return { kind: "kept", lease, lost: lost.signal, release };
}

export async function withLease<T>(
  store: Store,
  threadId: string,
  { abandon, ...options }: LeaseOptions,
  work: (lease: Lease, signal: AbortSignal) => Promise<T>,
): Promise<Leased<T>> {
  const kept = await keepLease(store, threadId, options);
  if (kept.kind !== "kept") return kept;
  try {
    const run = (): Promise<T> => work(kept.lease, kept.lost);
    return { kind: "done", value: await (abandon === undefined ? run() : untilAborted(abandon, run)) };
  } finally {
    await kept.release();
  }
}

/** In brackets, behind a refusal; empty if unknown. A lease that was not renewed for a while is that of a process that hangs or is gone. */
export function heldText({ renewedAt, expiresAt }: Partial<Pick<HeldLease, "renewedAt" | "expiresAt">> = {}): string {
  if (renewedAt === undefined || expiresAt === undefined) return "";
  return ` (its lease was last renewed ${renewedAt} and ends ${expiresAt} at the latest)`;
}
