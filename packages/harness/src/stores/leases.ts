/**
 * Holding a lease while some work runs: taken before, renewed by a heartbeat, given back after. The work learns through
 * its signal that the lease was lost; the store refuses its late appends either way.
 */
import { untilAborted } from "../abort.ts";
import type { Lease, Store } from "./store.ts";

export const LEASE_TTL_MS = 30_000;
const HEARTBEAT_MS = 10_000;

export type Leased<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "busy"; readonly owner: string; readonly expiresAt: string }
  | { readonly kind: "missing" };

export interface LeaseOptions {
  readonly owner: string;
  readonly ttlMs?: number;
  readonly heartbeatMs?: number;
  /** Once it aborts the lease is given back at once: work that goes on all the same can write nothing more. */
  readonly abandon?: AbortSignal | undefined;
}

export async function withLease<T>(
  store: Store,
  threadId: string,
  { owner, ttlMs = LEASE_TTL_MS, heartbeatMs = HEARTBEAT_MS, abandon }: LeaseOptions,
  work: (lease: Lease, signal: AbortSignal) => Promise<T>,
): Promise<Leased<T>> {
  const taken = await store.acquireLease(threadId, owner, ttlMs);
  if (taken.kind !== "acquired") return taken;
  const lost = new AbortController();
  const beat = setInterval(async () => {
    // A failed renewal is no proof of loss; the next append asks the database.
    const result = await store.renewLease(taken.lease, ttlMs).catch(() => "unknown" as const);
    if (result === "lost") lost.abort(new Error(`the lease on thread ${threadId} was taken over`));
  }, heartbeatMs);
  beat.unref();
  try {
    const run = (): Promise<T> => work(taken.lease, lost.signal);
    return { kind: "done", value: await (abandon === undefined ? run() : untilAborted(abandon, run)) };
  } finally {
    clearInterval(beat);
    await store.releaseLease(taken.lease).catch(() => {});
  }
}
