/**
 * Holding a lease while some work runs: taken before, renewed by a heartbeat, given back after. The work learns through
 * its signal that the lease was lost; the store refuses its late appends either way.
 */
import { untilAborted } from "../long-work.ts";
import type { AppendBatch, AppendResult, FirstAppendResult, HeldLease, Lease, Store } from "./store.ts";

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
  options: Omit<LeaseOptions, "abandon">,
): Promise<KeptLease | HeldLease | { readonly kind: "missing" }> {
  const claim = claimLease(store, threadId, options);
  const taken = await claim.take();
  if (taken !== "taken") return taken;
  return { kind: "kept", lease: claim.lease, lost: claim.lost, release: claim.release };
}

/** A lease that its first append may take and its last one give back, so that neither costs a round trip of its own. */
export interface ClaimedLease {
  /** With epoch 0 until it is taken: a store refuses every append under that. */
  readonly lease: Lease;
  isHeld(): boolean;
  /** Aborted once the lease was taken over. */
  readonly lost: AbortSignal;
  take(): Promise<"taken" | HeldLease | { readonly kind: "missing" }>;
  /** Appends to a log that ends with `after`. Where the lease isn't held it is taken; throws a `ClaimRefused` if that fails the first time. */
  append(batch: AppendBatch, after: string): Promise<AppendResult>;
  /** Throws the `ClaimRefused` of an earlier append, which somebody may have caught: until then the log is not as it is known. */
  assertNotRefused(): void;
  /** The log is read anew: what was refused counts no more. */
  beginAnew(): void;
  /** For good: nothing can be appended after it. */
  release(): Promise<void>;
}

/** Nothing was written. `moved`: the lease is held, but the log has grown since it was read. */
export class ClaimRefused extends Error {
  readonly reason: Exclude<FirstAppendResult, { kind: "appended" }>;

  constructor(reason: ClaimRefused["reason"]) {
    super(`the thread could not be claimed: ${reason.kind}`);
    this.reason = reason;
  }
}

export function claimLease(
  store: Store,
  threadId: string,
  { owner, ttlMs = LEASE_TTL_MS, heartbeatMs = HEARTBEAT_MS }: Omit<LeaseOptions, "abandon">,
): ClaimedLease {
  let isOver = false;
  let refused: ClaimRefused | null = null;
  const lost = new AbortController();
  const onLost = () => lost.abort(new Error(`the lease on thread ${threadId} was taken over`));
  const pulse = new Heartbeat((lease) => store.renewLease(lease, ttlMs), heartbeatMs, onLost);
  let lease: Lease = { threadId, owner, epoch: 0 };
  const hold = async (taken: Lease): Promise<void> => {
    lease = taken;
    // The caller may have been given up meanwhile.
    if (isOver) await store.releaseLease(taken).catch(() => {});
    else pulse.start(taken);
  };
  const take = async () => {
    const taken = await store.acquireLease(threadId, owner, ttlMs);
    if (taken.kind !== "acquired") return taken;
    await hold(taken.lease);
    return "taken" as const;
  };
  const appendFirst = async (batch: AppendBatch, after: string): Promise<AppendResult> => {
    const isAgain = lease.epoch > 0;
    const result = await store.appendFirst!(threadId, { ...batch, lease }, { ttlMs, after });
    if (result.kind === "appended" || result.kind === "moved") await hold(result.lease);
    if (result.kind === "appended") return { kind: "appended", version: batch.head.version };
    // Who has written under it before knows no other log.
    if (isAgain) return { kind: "lease-lost" };
    refused = new ClaimRefused(result);
    throw refused;
  };
  return {
    get lease() {
      return lease;
    },
    isHeld: () => pulse.isOn,
    lost: lost.signal,
    take,
    assertNotRefused() {
      if (refused !== null) throw refused;
    },
    beginAnew() {
      refused = null;
    },
    async append(batch, after) {
      if (isOver) return { kind: "lease-lost" };
      if (refused !== null) throw refused;
      pulse.isEnding = batch.leaseAfter === "released";
      const written = pulse.isOn ? store.append(threadId, { ...batch, lease }) : appendFirst(batch, after);
      try {
        const result = await written;
        if (result.kind === "appended" && pulse.isEnding) pulse.stop();
        return result;
      } finally {
        pulse.isEnding = false;
      }
    },
    async release() {
      isOver = true;
      if (!pulse.isOn) return;
      pulse.stop();
      await store.releaseLease(lease).catch(() => {});
    },
  };
}

/** Renews a lease again and again. */
class Heartbeat {
  /** The lease is being given back: that it can't be renewed any more is no loss. */
  isEnding = false;
  readonly #renew: (lease: Lease) => Promise<"renewed" | "lost">;
  readonly #everyMs: number;
  readonly #onLost: () => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(renew: (lease: Lease) => Promise<"renewed" | "lost">, everyMs: number, onLost: () => void) {
    this.#renew = renew;
    this.#everyMs = everyMs;
    this.#onLost = onLost;
  }

  get isOn(): boolean {
    return this.#timer !== null;
  }

  start(lease: Lease): void {
    this.stop();
    const timer = setInterval(async () => {
      // A failed renewal is no proof of loss; the next append asks the database.
      const result = await this.#renew(lease).catch(() => "unknown" as const);
      // One that was given back meanwhile, and perhaps taken again, is no loss.
      if (result === "lost" && this.#timer === timer && !this.isEnding) this.#onLost();
    }, this.#everyMs).unref();
    this.#timer = timer;
  }

  stop(): void {
    clearInterval(this.#timer ?? undefined);
    this.#timer = null;
  }
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
