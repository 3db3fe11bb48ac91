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
  // Other errors name files and addresses of the server, which are its operator's own.
  const status = error instanceof Error && error.name === "AgentError" ? UPSTREAM[code] : undefined;
  if (status !== undefined) return { status, code, message: "the model failed; the log has it under the request id" };
  return { status: 500, code, message: "something failed here; the log has it under the request id" };
}

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
