/**
 * Which failed model calls are worth another try, and after how long: rate limits, overload and lost connections, with
 * growing pauses, or the one the provider asks for. Pure; who waits is the caller, so that every wait is an event.
 */

import { retryAfterMs, worthAnotherTry } from "../models/call-error.ts";
import { AgentError } from "./errors.ts";

export interface RetryPolicy {
  /** Attempts after the first. */
  readonly maxRetries: number;
  readonly firstDelayMs: number;
  /** A provider that asks for a longer pause than this gets no second try: the run fails and says so. */
  readonly longestDelayMs: number;
}

export const RETRY_DEFAULTS: RetryPolicy = { maxRetries: 4, firstDelayMs: 1_000, longestDelayMs: 60_000 };

/** Null: not worth a try, or no tries left. `attempt` counts from 1; `random` in [0, 1) spreads callers apart. */
export function retryDelay(
  thrown: unknown,
  attempt: number,
  { policy, now, random }: { readonly policy: RetryPolicy; readonly now: number; readonly random: number },
): number | null {
  if (attempt > policy.maxRetries) return null;
  // It has cost minutes: once more at once, and no third time.
  if (thrown instanceof AgentError && thrown.code === "timed-out") return attempt === 1 ? 0 : null;
  if (!worthAnotherTry(thrown)) return null;
  const asked = retryAfterMs(thrown, now);
  if (asked !== null) return asked > policy.longestDelayMs ? null : asked;
  const delay = Math.min(policy.longestDelayMs, policy.firstDelayMs * 2 ** (attempt - 1));
  return Math.round(delay * (0.75 + 0.5 * random));
}
