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
  return { status: 500, code, message: "something failed here; the log has it under the request id" };
}

/** Codes of the runtime that a client can do something about. */
const STATUS: Readonly<Record<string, number>> = {
  busy: 409,
  "floor-exceeds-window": 422,
};

export function problemResponse({ status, code, message, details, headers }: Problem): Response {
  const error = { code, message, ...(details !== undefined && { details }) };
  return Response.json({ error }, { status, ...(headers !== undefined && { headers }) });
}
