/** What went wrong, as a client reads it: a status, a code to branch on, and a sentence. The one place that turns thrown things into it. */
import { PalimpsestError } from "@palimpsest/core/errors";

export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that is no success; thrown by resources, caught at the door. */
export class ProblemError extends PalimpsestError {
  static override readonly kind = "ProblemError";
  readonly problem: Problem;

  constructor(status: number, code: string, message: string, more: Pick<Problem, "details" | "headers"> = {}) {
    super(code, message);
    this.problem = { status, code, message, ...more };
  }
}

/** The same whether it never was, or is another user's. */
export function notFound(what: string): ProblemError {
  return new ProblemError(404, "missing", `there is no ${what}`);
}

export function problemOf(error: unknown): Problem {
  if (ProblemError.isInstance(error)) return error.problem;
  const code = PalimpsestError.isInstance(error) ? error.code : "unexpected";
  const known = STATUS[code];
  if (known !== undefined && error instanceof Error) return { status: known, code, message: error.message };
  const atStore = storeProblem(error);
  if (atStore !== null) return atStore;
  // Other errors name files and addresses of the server, which are its operator's own.
  const status = error instanceof Error && error.name === "AgentError" ? UPSTREAM[code] : undefined;
  if (status !== undefined) return { status, code, message: "the model failed; the log has it under the request id" };
  return { status: 500, code, message: "something failed here; the log has it under the request id" };
}

/** A store that is away for a while, or takes nothing for now: whoever asks again later is answered. Null: it is something else. */
function storeProblem(error: unknown): Problem | null {
  const code = storeCodeOf(error);
  const message = code === null ? undefined : STORE[code];
  return message === undefined ? null : { status: 503, code: code!, message, headers: { "retry-after": "5" } };
}

/** The store's own word, also where a run failed for it. */
function storeCodeOf(error: unknown): string | null {
  if (!PalimpsestError.isInstance(error)) return null;
  if (error.name === "StoreError") return error.code;
  const { storeCode } = error as { readonly storeCode?: unknown };
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
  busy: 409,
  "lease-lost": 409,
  "thread-exists": 409,
  "floor-exceeds-window": 422,
  "too-long": 422,
  "nothing-to-answer": 422,
  "no-message": 422,
  "empty-prompt": 400,
  "bad-message": 400,
  "bad-thread-id": 400,
  loop: 502,
};

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
  "timed-out": 504,
};

export function problemResponse({ status, code, message, details, headers }: Problem): Response {
  const error = { code, message, ...(details !== undefined && { details }) };
  return Response.json({ error }, { status, ...(headers !== undefined && { headers }) });
}
