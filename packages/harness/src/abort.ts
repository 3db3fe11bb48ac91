/**
 * Waiting for work that may have to be stopped: by a signal, or by a limit of time. Every such race is made here, so that
 * none of them leaves a listener or a timer behind: a signal that outlives the work would keep all of it in memory.
 */

/** Rejects with the signal's reason once it aborts, also when the work doesn't listen to it; that is then left alone. */
export async function untilAborted<T>(signal: AbortSignal, work: () => Promise<T> | T): Promise<T> {
  signal.throwIfAborted();
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work(), stopped.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/**
 * Work with a signal of its own, which the work may abort itself; it also aborts with the caller's and when the work has
 * failed, so that nothing the work has begun goes on. Rejects with the reason of the abort.
 */
export async function scoped<T>(signal: AbortSignal, work: (own: AbortController) => Promise<T> | T): Promise<T> {
  signal.throwIfAborted();
  const own = new AbortController();
  const stop = (): void => own.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await untilAborted(own.signal, () => work(own));
  } catch (error) {
    // Work that is stopped by its signal throws an error of its own; ours says why it was stopped.
    own.abort(error ?? new Error("it failed without saying why"));
    throw own.signal.reason;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Yields to other work, so that a request to stop is noticed. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    (globalThis.setImmediate ?? setTimeout)(resolve);
  });
}

/** Resolves after so long; rejects with the signal's reason. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return;
  let timer: NodeJS.Timeout | undefined;
  const wait = (): Promise<void> =>
    new Promise((resolve) => {
      timer = startTimer(ms, resolve);
    });
  await untilAborted(signal, wait).finally(() => clearTimeout(timer));
}

export interface TimeLimit {
  /** Null: no limit. */
  readonly ms: number | null;
  readonly signal: AbortSignal;
  /** What to reject with when the time is up. */
  readonly tooLong: () => Error;
}

/** The work's own signal aborts when the time is up or the caller stops; the rejection says which of them it was. */
export async function within<T>(
  { ms, signal, tooLong }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T> | T,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await scoped(signal, (own) => {
      timer = startTimer(ms, () => own.abort(tooLong()));
      return work(own.signal);
    });
  } finally {
    clearTimeout(timer);
  }
}

/** A timer that may be none, and may be longer than what a timer can hold, which would fire at once. */
export function startTimer(ms: number | null, ring: () => void): NodeJS.Timeout | undefined {
  return ms === null ? undefined : setTimeout(ring, Math.min(ms, LONGEST_TIMER_MS));
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;
