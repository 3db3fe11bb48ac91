/**
 * The right to write to an open thread: the lease taken for each write and given back after it, or held for as long as
 * some work goes on. Under it nobody else writes, so that what was read just before still stands; writes through one
 * hold take turns.
 */
import { setTimeout as wait } from "node:timers/promises";
import { type Leased, type LeaseOptions, withLease } from "../stores/leases.ts";
import type { Lease } from "../stores/store.ts";
import type { ThreadDeps, Writer } from "../threads/writer.ts";
import { ThreadError } from "./thread-error.ts";

export interface Hold {
  /** Appends with the lease that is held at that time. */
  readonly writer: Writer;
  /** `always`: nobody else can have written since the thread was opened. */
  readonly held: "per-write" | "always";
  /** Never inside itself: it would wait for its own end. Throws a `ThreadError` when the thread can't be had. */
  during<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface HoldOptions extends Pick<LeaseOptions, "abandon"> {
  readonly runId?: string | null;
}

/** While some work goes on, which learns from the signal that the thread was taken over. */
export function withHold<T>(
  deps: ThreadDeps,
  threadId: string,
  { runId = null, abandon }: HoldOptions,
  work: (hold: Hold, lost: AbortSignal) => Promise<T>,
): Promise<Leased<T>> {
  return withLease(deps.store, threadId, { owner: deps.ids(), abandon }, (lease, lost) => {
    const during = inTurn((write) => (lost.aborted ? takenOver(threadId) : write()));
    return work({ writer: { ...deps, lease, runId }, held: "always", during, close: async () => {} }, lost);
  });
}

export type Held = Exclude<Leased<never>, { kind: "done" }> | { readonly kind: "held"; readonly hold: Hold };

/** For as long as it is open. */
export async function holdThread(deps: ThreadDeps, threadId: string): Promise<Held> {
  const closed = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<Held>();
  const leased = withHold(deps, threadId, {}, async (hold) => {
    const close = async (): Promise<void> => {
      closed.resolve();
      await leased;
    };
    opened.resolve({ kind: "held", hold: { ...hold, close } });
    await closed.promise;
  });
  leased.then((ended) => ended.kind !== "done" && opened.resolve(ended), opened.reject);
  return opened.promise;
}

/** For each write; a thread that somebody else holds is waited for. */
export function holdPerWrite(deps: ThreadDeps, threadId: string, waitMs: number): Hold {
  const owner = deps.ids();
  let current: Lease = { threadId, owner, epoch: 0 };
  const writer: Writer = {
    ...deps,
    runId: null,
    get lease() {
      return current;
    },
  };
  return {
    writer,
    held: "per-write",
    during: inTurn(async (work) => {
      const until = deps.clock().getTime() + waitMs;
      for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
        const leased = await withLease(deps.store, threadId, { owner }, (lease) => {
          current = lease;
          return work();
        });
        if (leased.kind === "done") return leased.value;
        if (leased.kind === "missing") return gone(threadId);
        if (deps.clock().getTime() + pause > until) return stillBusy(threadId, leased.expiresAt);
        await wait(pause);
      }
    }),
    close: async () => {},
  };
}

/** For a copy in memory: there is nothing to hold. */
export function holdNothing(deps: ThreadDeps, threadId: string): Hold {
  const writer = { ...deps, lease: { threadId, owner: "", epoch: 0 }, runId: null };
  return { writer, held: "always", during: (work) => work(), close: async () => {} };
}

const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 250;

type Act = <T>(work: () => Promise<T>) => Promise<T>;

/** One after the other, in the order they were asked for. */
export function inTurn(act: Act): Act {
  let before: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = before.then(() => act(work));
    before = mine.catch(() => {});
    return mine;
  };
}

function takenOver(threadId: string): never {
  throw new ThreadError("lease-lost", `thread ${threadId} was taken over by somebody else: open it again`);
}

export function gone(threadId: string): never {
  throw new ThreadError("missing", `thread ${threadId} was deleted while it was open: open it again to begin it anew`);
}

function stillBusy(threadId: string, until: string): never {
  throw new ThreadError(
    "busy",
    `thread ${threadId} is held by somebody else, until ${until} at the latest: nothing was written, try again later or give a longer waitMs`,
  );
}
