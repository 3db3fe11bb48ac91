/**
 * Stops calling a summarizer that keeps failing: after a few failures in a row it stays unasked for a while, each time
 * longer. Pure; the clock is an argument.
 */

export interface Breaker {
  readonly failures: number;
  /** Milliseconds since the epoch before which the summarizer is left alone. */
  readonly closedAt: number;
}

export const FRESH_BREAKER: Breaker = { failures: 0, closedAt: 0 };

const TOLERATED = 2;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 3_600_000;

export function mayCall(breaker: Breaker, now: number): boolean {
  return now >= breaker.closedAt;
}

export function afterFailure(breaker: Breaker, now: number): Breaker {
  const failures = breaker.failures + 1;
  if (failures < TOLERATED) return { failures, closedAt: 0 };
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(20, failures - TOLERATED));
  return { failures, closedAt: now + pause };
}
