/**
 * Which failed model calls are worth another try, and after how long: rate limits, overload and lost connections, with
 * growing pauses, or the one the provider asks for. Pure; who waits is the caller, so that every wait is an event.
 */
import { APICallError } from "@ai-sdk/provider";
import { unwrapped } from "./errors.ts";

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
  const error = unwrapped(thrown);
  if (attempt > policy.maxRetries || !isRetryable(error)) return null;
  const asked = askedDelay(error, now);
  if (asked !== null) return asked > policy.longestDelayMs ? null : asked;
  const delay = Math.min(policy.longestDelayMs, policy.firstDelayMs * 2 ** (attempt - 1));
  return Math.round(delay * (0.75 + 0.5 * random));
}

function isRetryable(error: unknown): boolean {
  if (!APICallError.isInstance(error)) return markedRetryable(error);
  const { statusCode } = error;
  if (statusCode === undefined) return error.isRetryable;
  return statusCode === 408 || statusCode === 409 || statusCode === 429 || statusCode >= 500;
}

/** Errors inside a stream say it themselves. */
function markedRetryable(error: unknown): boolean {
  return typeof error === "object" && error !== null && "isRetryable" in error && error.isRetryable === true;
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date. */
function askedDelay(error: unknown, now: number): number | null {
  if (!APICallError.isInstance(error)) return null;
  const headers = new Map(
    Object.entries(error.responseHeaders ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const after = headers.get("retry-after");
  if (after === undefined || after === "") return null;
  const seconds = Number(after);
  const delay = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(after) - now;
  return Number.isFinite(delay) ? Math.max(0, delay) : null;
}
