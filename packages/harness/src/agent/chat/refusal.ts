/** The statuses of what a request of a chat is refused for. */
import { AgentError } from "../errors.ts";

export const REFUSAL_STATUS: Readonly<Record<string, number>> = {
  "bad-body": 400,
  "bad-thread-id": 400,
  "bad-message": 400,
  "empty-prompt": 400,
  "no-addresses": 400,
  "not-allowed": 403,
  busy: 409,
  "already-said": 409,
  "no-message": 422,
  "nothing-to-answer": 422,
  closed: 503,
};

/** As JSON with the code. Rethrows what is no fault of the request. */
export function refusalResponse(error: unknown): Response {
  const status = error instanceof AgentError ? REFUSAL_STATUS[error.code] : undefined;
  if (status === undefined) throw error;
  const { code, message } = error as AgentError;
  return Response.json({ error: { code, message } }, { status });
}
