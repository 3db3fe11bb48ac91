/**
 * Why a run could not do what was asked, as one error type with a code, and the words for what providers throw. Texts are
 * masked: a key that a provider echoes never reaches a log, an event or a thrown error.
 */
import { APICallError } from "@ai-sdk/provider";
import { RetryError } from "ai";

export type AgentErrorCode =
  | "empty-prompt"
  | "nothing-to-answer"
  | "bad-message"
  | "bad-thread-id"
  | "duplicate-tool"
  | "busy"
  | "lease-lost"
  | "key-refused"
  | "unreachable"
  | "model-failed"
  | "stream-cut"
  | "too-long"
  | "floor-exceeds-window"
  | "loop"
  | "closed"
  | "failed";

export class AgentError extends Error {
  readonly code: AgentErrorCode;
  constructor(code: AgentErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(masked(message), options.cause === undefined ? {} : { cause: harmless(options.cause) });
    this.name = "AgentError";
    this.code = code;
  }
}

/** The thread is somebody else's now, or gone: nothing more may be written. */
export class LeaseLostError extends AgentError {
  constructor(threadId: string) {
    super("lease-lost", `thread ${threadId} was taken over by another run: this one stops and writes nothing more`);
  }
}

/** What a model call threw, said so that a person knows what to do next. */
export function modelError(thrown: unknown): AgentError {
  if (thrown instanceof AgentError) return thrown;
  const error = unwrapped(thrown);
  const said = messageOf(error);
  if (!APICallError.isInstance(error))
    return new AgentError("model-failed", `the model failed: ${said}`, { cause: error });
  const { statusCode } = error;
  if (statusCode === 401 || statusCode === 403) {
    return new AgentError("key-refused", `the provider refused the key (${statusCode}): ${said}; check api_key`, {
      cause: error,
    });
  }
  if (statusCode === undefined) {
    return new AgentError("unreachable", `the provider can't be reached: ${said}; check the network and base_url`, {
      cause: error,
    });
  }
  return new AgentError("model-failed", `the provider answered ${statusCode}: ${said}`, { cause: error });
}

/** The SDK wraps what it retried; the last error is the one that says why. */
export function unwrapped(error: unknown): unknown {
  return RetryError.isInstance(error) ? unwrapped(error.lastError) : error;
}

export function messageOf(error: unknown): string {
  return masked(error instanceof Error ? error.message || error.name : String(error));
}

const SECRETS =
  /\b(?:sk|pk|rk|key|gsk|xai|AIza|ghp|hf)[-_][A-Za-z0-9_*.-]{8,}|\bAIza[A-Za-z0-9_-]{20,}|(?<=\bBearer\s)\S+|(?<=api[-_]?key["']?\s*[=:]\s*["']?)[^\s"',}]+/gi;

function masked(text: string): string {
  return text.replace(SECRETS, "[secret]");
}

/** A provider's error carries the request and the response whole; the cause keeps what helps and nothing else. */
function harmless(cause: unknown): unknown {
  if (!(cause instanceof Error)) return masked(String(cause));
  if (!APICallError.isInstance(cause) && masked(cause.message) === cause.message) return cause;
  const kept = new Error(masked(cause.message));
  kept.name = cause.name;
  if (APICallError.isInstance(cause)) Object.assign(kept, { statusCode: cause.statusCode });
  return kept;
}
