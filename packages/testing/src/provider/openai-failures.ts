/** OpenAI's errors, and the wording of the servers that imitate its API. */
import type { Failure, FailureBody } from "./protocol.ts";

/** `subject` is the name of the list in the request: `messages`, or `input` in the responses API. */
export function openaiFailure(failure: Failure, subject: "messages" | "input"): FailureBody {
  switch (failure.kind) {
    case "malformed":
      return invalid(failure.detail, failure.param, null);
    case "rules":
      return invalid(`Invalid parameter: ${failure.detail}.`, `${subject}.[${failure.index}]`, null);
    case "overflow":
      return overflow(failure, subject);
    case "too-large":
      return error(413, "Request body is too large.", { type: "invalid_request_error", code: "request_too_large" });
    case "unauthorized":
      return error(401, "Incorrect API key provided.", { type: "invalid_request_error", code: "invalid_api_key" });
    case "rate-limit":
      return {
        ...error(429, "Rate limit reached for requests.", { type: "requests", code: "rate_limit_exceeded" }),
        headers: failure.retryAfterSeconds === null ? {} : { "retry-after": String(failure.retryAfterSeconds) },
      };
    case "server-error":
      return error(failure.status, failure.message ?? SORRY, { type: "server_error", code: null });
  }
}

const SORRY = "The server had an error while processing your request. Sorry about that!";

type OverflowFailure = Extract<Failure, { kind: "overflow" }>;

function overflow(failure: OverflowFailure, subject: "messages" | "input"): FailureBody {
  const { tokens, window, style, maxOutputTokens } = failure;
  if (style === "vllm") return { status: 400, body: vllmBody(tokens, window, maxOutputTokens ?? 0) };
  if (style === "llama.cpp") return { status: 400, body: llamaBody(tokens, window) };
  if (style === "too-large") return openaiFailure({ kind: "too-large" }, subject);
  const message =
    subject === "messages"
      ? `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`
      : "Your input exceeds the context window of this model. Please adjust your input and try again.";
  return invalid(message, subject, "context_length_exceeded");
}

/** Flat: there is no `error` around it. */
function vllmBody(tokens: number, window: number, completion: number): unknown {
  const requested = `${tokens + completion} tokens (${tokens} in the messages, ${completion} in the completion)`;
  return {
    object: "error",
    message: `This model's maximum context length is ${window} tokens. However, you requested ${requested}. Please reduce the length of the messages or completion.`,
    type: "BadRequestError",
    param: null,
    code: 400,
  };
}

function llamaBody(tokens: number, window: number): unknown {
  return {
    error: {
      code: 400,
      message: `request (${tokens} tokens) exceeds the available context size (${window} tokens), try increasing it`,
      type: "exceed_context_size_error",
      n_prompt_tokens: tokens,
      n_ctx: window,
    },
  };
}

const invalid = (message: string, param: string | null, code: string | null): FailureBody =>
  error(400, message, { type: "invalid_request_error", param, code });

function error(
  status: number,
  message: string,
  rest: { readonly type: string; readonly code: string | null; readonly param?: string | null },
): FailureBody {
  return { status, body: { error: { message, type: rest.type, param: rest.param ?? null, code: rest.code } } };
}
