/**
 * Reads what a failed model call says about itself: which kind of failure it is, the status, the pause the provider asks
 * for, and whether another try makes sense. Pure; what is then done, and said to a person, is the caller's.
 */
import { APICallError } from "@ai-sdk/provider";
import { RetryError } from "ai";

export type CallFailure =
  | "key-refused"
  | "quota-exceeded"
  | "rate-limited"
  | "overloaded"
  | "not-found"
  | "bad-request"
  /** Another status. */
  | "refused"
  /** No host has the name in the address. */
  | "unknown-host"
  | "unreachable"
  /** Not a provider's error at all, or one from inside a stream. */
  | "other";

export function callFailure(thrown: unknown): CallFailure {
  const error = unwrapped(thrown);
  if (!APICallError.isInstance(error)) return "other";
  const { statusCode: status } = error;
  if (status === undefined) return causeCode(error) === "ENOTFOUND" ? "unknown-host" : "unreachable";
  if (status === 402 || USED_UP.test(`${error.message} ${error.responseBody ?? ""}`)) return "quota-exceeded";
  if (status === 401 || status === 403) return "key-refused";
  if (status === 429) return "rate-limited";
  if (status === 503 || status === 529) return "overloaded";
  if (status === 404) return "not-found";
  return status === 400 || status === 413 || status === 422 ? "bad-request" : "refused";
}

/** Not "exceeded your current quota" alone: Google says that of a limit per minute, too. */
const USED_UP = /insufficient_quota|billing_hard_limit_reached|credit balance is too low/;

export function worthAnotherTry(thrown: unknown): boolean {
  const error = unwrapped(thrown);
  switch (callFailure(error)) {
    case "rate-limited":
    case "overloaded":
      return true;
    case "unreachable":
      return (error as APICallError).isRetryable;
    case "refused": {
      const { statusCode: status = 0 } = error as APICallError;
      return status === 408 || status === 409 || status >= 500;
    }
    case "other":
      // Errors inside a stream say it themselves.
      return typeof error === "object" && error !== null && "isRetryable" in error && error.isRetryable === true;
    default:
      return false;
  }
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date; null: it asks for no pause. */
export function retryAfterMs(thrown: unknown, now: number): number | null {
  const error = unwrapped(thrown);
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

export function statusOf(thrown: unknown): number | null {
  const error = unwrapped(thrown);
  if (typeof error !== "object" || error === null || !("statusCode" in error)) return null;
  return typeof error.statusCode === "number" ? error.statusCode : null;
}

/** Where the call went, without credentials or a query, which may hold a key; and the model it asked for. */
export function calledAt(thrown: unknown): { readonly url: string; readonly model: string | null } | null {
  const error = unwrapped(thrown);
  if (!APICallError.isInstance(error)) return null;
  const { requestBodyValues: body } = error;
  const model = typeof body === "object" && body !== null && "model" in body ? body.model : null;
  const url = URL.parse(error.url);
  return {
    url: url === null ? error.url : `${url.origin}${url.pathname}`,
    model: model === null ? null : String(model),
  };
}

/** The SDK wraps what it retried; the last error is the one that says why. */
export function unwrapped(error: unknown): unknown {
  return RetryError.isInstance(error) ? unwrapped(error.lastError) : error;
}

function causeCode({ cause }: Error): unknown {
  return typeof cause === "object" && cause !== null && "code" in cause ? cause.code : null;
}
