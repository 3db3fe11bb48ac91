/** Refusals in OpenAI's words and codes, for what is held here. */
import { ProblemError } from "../../http/problem.ts";
import type { ParamProblem } from "./params.ts";

export function refusal(
  status: number,
  { code, message, param = null }: { readonly code: string; readonly message: string; readonly param?: string | null },
  headers: Readonly<Record<string, string>> = {},
): ProblemError {
  return new ProblemError(status, code, message, { details: { param }, headers });
}

export const refusedParam = ({ code, message, param }: ParamProblem): ProblemError =>
  refusal(400, { code, message, param });

export const noPrevious = (id: string): ProblemError =>
  refusal(400, {
    code: "previous_response_not_found",
    message: `Previous response with id '${id}' not found.`,
    param: "previous_response_id",
  });

export const noResponse = (id: string): ProblemError =>
  refusal(404, { code: "not_found", message: `Response with id '${id}' not found.` });

export const noConversation = (id: string): ProblemError =>
  refusal(404, { code: "not_found", message: `Conversation with id '${id}' not found.` });

export const noItem = (id: string, param: string | null = null): ProblemError =>
  refusal(404, { code: "not_found", message: `Item with id '${id}' not found.`, param });

/** Their clients try again where a header says so. */
export const conversationLocked = (): ProblemError =>
  refusal(
    400,
    {
      code: "conversation_locked",
      message: "Another process is currently operating on this conversation. Please retry in a few seconds.",
      param: "conversation",
    },
    { "x-should-retry": "true", "retry-after-ms": "250" },
  );

export const notVerified = (param: string): ProblemError =>
  refusal(400, {
    code: "invalid_encrypted_content",
    message:
      "The encrypted content of a compaction item could not be verified: it was changed, or its conversation is gone.",
    param,
  });
