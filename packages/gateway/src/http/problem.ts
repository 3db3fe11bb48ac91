/** What went wrong, as a client reads it: a status, a code to branch on, and a sentence. The one place that turns thrown things into it. */

import { PalimpsestError } from "@palimpsest/core/internal/errors";
import { errorCode, isRecord } from "@palimpsest/core/internal/text";
import { REFUSAL_STATUS } from "palimpsest/internal/agent";
import { OPERATION_STATUS, OperationError } from "palimpsest/internal/operation";

export interface HttpProblem {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that is no success; thrown by resources, caught at the door. */
export class ProblemError extends PalimpsestError {
  static override readonly kind = "ProblemError";
  readonly problem: HttpProblem;

  constructor(status: number, code: string, message: string, more: Pick<HttpProblem, "details" | "headers"> = {}) {
    super(code, message);
    this.problem = { status, code, message, ...more };
  }
}

/** The same whether it never was, or is another user's. */
export function notFound(what: string): ProblemError {
  return new ProblemError(404, "missing", `there is no ${what}`);
}

/** The client has left and reads no answer. The code keeps the log and the metrics from counting it as our failure. */
export function clientLeft(): ProblemError {
  return new ProblemError(499, "client-left", "the client has closed the connection");
}

/** Work that was stopped because its connection closed. */
export function isBrokenOff(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = errorCode(error);
  return error.name === "AbortError" || code === "ECONNRESET" || code === "ERR_STREAM_PREMATURE_CLOSE";
}

/** New work, while the server shuts down. */
export function closing(): ProblemError {
  return new ProblemError(503, "closing", STORE["closed"]!, { headers: { "retry-after": "1" } });
}

/** An operator is also told the words that name files and addresses of the server. */
export function problemOf(error: unknown, audience: "operator" | "user" = "user"): HttpProblem {
  if (ProblemError.isInstance(error)) return error.problem;
  const code = PalimpsestError.isInstance(error) ? error.code : "unexpected";
  // First: a store's own words name its file, and some of its codes are those of refusals, too.
  const atStore = storeProblem(error);
  if (atStore !== null) return atStore;
  if (OperationError.isInstance(error)) return { status: OPERATION_STATUS[error.code], code, message: error.message };
  const known = STATUS[code];
  if (known !== undefined && error instanceof Error) return { status: known, code, message: error.message };
  // Other errors name files and addresses of the server, which are its operator's own.
  const status = error instanceof Error && OF_MODELS.has(error.name) ? UPSTREAM[code] : undefined;
  if (audience === "operator" && PalimpsestError.isInstance(error))
    return { status: status ?? 500, code, message: error.message };
  if (status !== undefined) return { status, code, message: toldOf(error) };
  return { status: 500, code, message: "something failed here; the log has it under the request id" };
}

/** The store is unreachable or read-only for now; a later request may succeed. Null if the error has another cause. */
function storeProblem(error: unknown): HttpProblem | null {
  const code = storeCodeOf(error);
  const message = code === null ? undefined : STORE[code];
  return message === undefined ? null : { status: 503, code: code!, message, headers: { "retry-after": "5" } };
}

/** The store's own word, also where a run failed for it; null if the store is not the reason. */
export function storeCodeOf(error: unknown): string | null {
  if (!PalimpsestError.isInstance(error)) return null;
  if (error.name === "StoreError" || error.name === "SilentStoreError") return error.code;
  const storeCode = "storeCode" in error ? error.storeCode : null;
  return error.code === "store" && typeof storeCode === "string" ? storeCode : null;
}

const STORE: Readonly<Record<string, string>> = {
  unavailable: "the store doesn't answer at the moment; nothing acknowledged is lost: try again",
  locked: "the store is held by somebody else at the moment: try again",
  full: "the store has no room left; nothing acknowledged is lost: its operator has to make some",
  unwritable: "the store can only be read at the moment; nothing was written: try again",
  closed: "this server is shutting down: ask again, of another one",
};

/** Codes of the runtime that a client can do something about. */
const STATUS: Readonly<Record<string, number>> = {
  ...REFUSAL_STATUS,
  "lease-lost": 409,
  "thread-exists": 409,
  "floor-exceeds-window": 422,
  "too-long": 422,
  loop: 502,
};

/** Names of errors whose codes say how a model or its provider failed. */
const OF_MODELS: ReadonlySet<string> = new Set(["AgentError", "UpstreamError", "RedirectedError", "ResponseTooLarge"]);

function toldOf(error: unknown): string {
  const told = isRecord(error) ? error["told"] : null;
  return typeof told === "string" ? told : "the model failed; the log has it under the request id";
}

/** Codes of a run: a model or its provider can't be reached, or does not do what it should. */
const UPSTREAM: Readonly<Record<string, number>> = {
  "key-refused": 502,
  "quota-exceeded": 502,
  "rate-limited": 503,
  overloaded: 503,
  "not-found": 502,
  "bad-request": 502,
  unreachable: 502,
  "model-failed": 502,
  "stream-cut": 502,
  "bad-response": 502,
  "answer-too-long": 502,
  redirected: 502,
  "timed-out": 504,
};

export function problemResponse({ status, code, message, details, headers }: HttpProblem): Response {
  const error = { code, message, details };
  return Response.json({ error }, { status, headers: headers ?? {} });
}
