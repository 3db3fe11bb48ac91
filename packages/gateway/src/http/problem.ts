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

export function problemOf(error: unknown): Problem {
  if (ProblemError.isInstance(error)) return error.problem;
  if (PalimpsestError.isInstance(error))
    return { status: STATUS[error.code] ?? 500, code: error.code, message: error.message };
  return { status: 500, code: "unexpected", message: "something failed here; the log has it under the request id" };
}

/** Codes of the runtime that are not the server's fault. */
const STATUS: Readonly<Record<string, number>> = {
  busy: 409,
  locked: 503,
  full: 507,
  unreachable: 503,
  floor: 422,
};

export function problemResponse({ status, code, message, details, headers }: Problem): Response {
  const error = { code, message, ...(details !== undefined && { details }) };
  return Response.json({ error }, { status, ...(headers !== undefined && { headers }) });
}
