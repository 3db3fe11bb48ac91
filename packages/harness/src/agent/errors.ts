/**
 * Why a run could not do what was asked, as one error type with a code, and the words for what providers throw. Texts are
 * masked: a key that a provider echoes never reaches a log, an event or a thrown error.
 */

import { APICallError } from "@ai-sdk/provider";
import { PalimpsestError } from "@palimpsest/core/internal/errors";
import { maskSecrets } from "@palimpsest/core/internal/text";
import { RedirectedError } from "../direct-fetch.ts";
import { type CallFailure, calledAt, callFailure, retryAfterMs, statusOf, unwrapped } from "../models/call-error.ts";
import { ResponseTooLarge } from "../models/wrap.ts";
import type { StoreErrorCode } from "../stores/store-error.ts";
import type { FeatureErrorCodes } from "./features.ts";

export type AgentErrorCode =
  | "empty-prompt"
  | "nothing-to-answer"
  | "bad-message"
  /** What came is no request of a chat. */
  | "bad-body"
  /** A browser has sent what a user can't say. */
  | "not-allowed"
  /** A file was given by its address, which is not fetched here. */
  | "no-addresses"
  /** The thread has this message, or the answers to these calls, already. */
  | "already-said"
  /** What should be answered again or edited isn't in the thread. */
  | "no-message"
  /** A fork can't have the id of a thread that is there. */
  | "thread-exists"
  | "bad-thread-id"
  | "bad-user-id"
  | "bad-model"
  /** What was given for a store isn't an opened one. */
  | "bad-store"
  /** An option that isn't one, or tools as a list. */
  | "bad-options"
  | "bad-budget"
  /** The model's answer does not fit the schema that the run asked for. */
  | "bad-output"
  | "duplicate-tool"
  | "busy"
  | "lease-lost"
  | Exclude<CallFailure, "unknown-host" | "refused" | "other">
  | "model-failed"
  | "stream-cut"
  | "timed-out"
  | "answer-too-long"
  /** The provider's address redirects to one that is not configured. */
  | "redirected"
  | "bad-response"
  | "too-long"
  | "floor-exceeds-window"
  | "closed"
  /** The database, with its own code in `storeCode`. */
  | "store"
  | "failed"
  | FeatureErrorCodes[keyof FeatureErrorCodes];

/** What a program needs to go on, beside the code. */
export interface ErrorFacts {
  /** The provider's HTTP status. */
  readonly status?: number;
  /** The pause the provider asks for. */
  readonly retryAfterMs?: number;
  readonly storeCode?: StoreErrorCode;
}

export class AgentError extends PalimpsestError<AgentErrorCode> {
  static override readonly kind: string = "AgentError";
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly storeCode: StoreErrorCode | undefined;

  constructor(code: AgentErrorCode, message: string, options: ErrorFacts & { readonly cause?: unknown } = {}) {
    super(code, maskSecrets(message), options.cause === undefined ? {} : { cause: harmless(options.cause) });
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.storeCode = options.storeCode;
  }
}

/** The thread is somebody else's now, or gone: nothing more may be written. */
export class LeaseLostError extends AgentError {
  static override readonly kind = "LeaseLostError";

  constructor(threadId: string) {
    super("lease-lost", `thread ${threadId} was taken over by another run: this one stops and writes nothing more`);
  }
}

/** What a model call threw, said so that a person knows what to do next. */
export function modelError(thrown: unknown, now = Date.now()): AgentError {
  if (thrown instanceof AgentError) return thrown;
  const cause = unwrapped(thrown);
  const own = ownError(cause);
  if (own !== null) return new AgentError(own.code, messageOf(own), { cause });
  const failure = callFailure(cause);
  const status = statusOf(cause);
  const pause = retryAfterMs(cause, now);
  return new AgentError(codeOf(failure), sentenceFor(failure, cause, status), {
    cause,
    ...(status !== null && { status }),
    ...(pause !== null && { retryAfterMs: pause }),
  });
}

/** What our own `fetch` throws; the SDK may hand it on as the cause of an error of its own. Null: it is something else. */
function ownError(error: unknown): ResponseTooLarge | RedirectedError | null {
  const candidates = error instanceof Error ? [error, error.cause] : [];
  for (const one of candidates) if (one instanceof ResponseTooLarge || one instanceof RedirectedError) return one;
  return null;
}

function codeOf(failure: CallFailure): AgentErrorCode {
  if (failure === "unknown-host") return "unreachable";
  return failure === "refused" || failure === "other" ? "model-failed" : failure;
}

function sentenceFor(failure: CallFailure, error: unknown, status: number | null): string {
  const words = messageOf(error);
  const said = words.replace(/\.$/, "");
  const at = calledAt(error);
  switch (failure) {
    case "key-refused":
      return `the provider refused the key (${status}): ${said}; check api_key`;
    case "quota-exceeded":
      return `the provider's quota is used up (${status}): ${said}; check its plan and billing`;
    case "not-found":
      return `${at?.url} answered 404${at?.model ? ` for the model ${at.model}` : ""}: ${said}; check the model's name and base_url, which usually ends in /v1`;
    case "unknown-host":
      return `the provider can't be reached: there is no host ${URL.parse(at?.url ?? "")?.hostname}; check base_url and the network`;
    case "unreachable":
      return `the provider can't be reached: ${said}; check the network and base_url`;
    case "other":
      return `the model failed: ${words}`;
    default:
      // What is no error by its status is no answer of a provider: most likely another address.
      if (status !== null && status < 300 && at !== null)
        return `${at.url} answered ${status}: ${said}; check base_url`;
      return `the provider answered ${status}: ${words}`;
  }
}

/** What of it a program can branch on, and nothing that isn't there. */
export function factsOf({ status, retryAfterMs, storeCode }: AgentError): ErrorFacts {
  return {
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(storeCode !== undefined && { storeCode }),
  };
}

export function messageOf(error: unknown): string {
  return maskSecrets(error instanceof Error ? error.message || error.name : String(error));
}

/** A provider's error carries the request and the response whole; the cause keeps what helps and nothing else. */
function harmless(cause: unknown): unknown {
  if (!(cause instanceof Error)) return maskSecrets(String(cause));
  if (!APICallError.isInstance(cause) && maskSecrets(cause.message) === cause.message) return cause;
  const kept = new Error(maskSecrets(cause.message));
  kept.name = cause.name;
  if (APICallError.isInstance(cause)) Object.assign(kept, { statusCode: cause.statusCode });
  return kept;
}
