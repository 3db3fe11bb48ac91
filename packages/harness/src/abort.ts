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
  signal.throwIfAborted();
  const own = new AbortController();
  const stop = (): void => own.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  const timer = ms === null ? undefined : setTimeout(() => own.abort(tooLong()), Math.min(ms, LONGEST_TIMER_MS));
  try {
    return await untilAborted(own.signal, () => work(own.signal));
  } catch (error) {
    // Work that is stopped by its signal throws an error of its own; ours says why it was stopped.
    throw own.signal.aborted ? own.signal.reason : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

/** What a timer can hold; longer ones would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
