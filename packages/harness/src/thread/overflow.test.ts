import assert from "node:assert/strict";
import { test } from "node:test";
import { APICallError } from "@ai-sdk/provider";
import { isOverflowFinish, overflowOf } from "./window.ts";

function refusal(statusCode: number, body: unknown, message?: string): APICallError {
  const responseBody = typeof body === "string" ? body : JSON.stringify(body);
  return new APICallError({
    message: message ?? responseBody,
    url: "http://x.test",
    requestBodyValues: {},
    statusCode,
    responseBody,
  });
}

const openai = (message: string, code: string | null = "context_length_exceeded") => ({
  error: { message, type: "invalid_request_error", param: "messages", code },
});

/** Who says it, how, and what the words state: the limit and the size of the prompt. */
const TOO_LONG: readonly (readonly [string, unknown, number | null, number | null])[] = [
  [
    "OpenAI chat",
    refusal(
      400,
      openai(
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130125 tokens. Please reduce the length of the messages.",
      ),
    ),
    128_000,
    130_125,
  ],
  [
    "OpenAI chat with the answer's limit",
    refusal(
      400,
      openai(
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).",
      ),
    ),
    8192,
    9000,
  ],
  [
    "OpenAI responses",
    refusal(
      400,
      openai("Your input exceeds the context window of this model. Please adjust your input and try again."),
    ),
    null,
    null,
  ],
  [
    "OpenAI responses, inside the stream",
    Object.assign(new Error("Your input exceeds the context window of this model."), {
      code: "context_length_exceeded",
    }),
    null,
    null,
  ],
  [
    "Anthropic",
    refusal(400, {
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 210042 tokens > 200000 maximum" },
    }),
    200_000,
    210_042,
  ],
  [
    "Anthropic with the answer's limit",
    refusal(400, {
      error: {
        message: "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length",
      },
    }),
    null,
    null,
  ],
  [
    "Google",
    refusal(400, {
      error: {
        code: 400,
        message: "The input token count (1200345) exceeds the maximum number of tokens allowed (1048576).",
        status: "INVALID_ARGUMENT",
      },
    }),
    1_048_576,
    1_200_345,
  ],
  [
    "Mistral",
    refusal(400, {
      object: "error",
      message: "Prompt contains 40209 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
      type: "invalid_request_prompt",
    }),
    32_768,
    40_209,
  ],
  ["Bedrock", refusal(400, { message: "Input is too long for requested model." }), null, null],
  [
    "vLLM, whose message is only the status",
    refusal(
      400,
      {
        object: "error",
        message:
          "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages, Please reduce the length of the messages.",
        code: 400,
      },
      "Bad Request",
    ),
    4096,
    5000,
  ],
  [
    "llama.cpp",
    refusal(400, {
      error: {
        code: 400,
        message: "the request exceeds the available context size, try increasing it",
        type: "exceed_context_size_error",
        n_prompt_tokens: 9012,
        n_ctx: 8192,
      },
    }),
    8192,
    9012,
  ],
  ["Ollama", refusal(400, { error: "prompt too long; exceeded max context length by 512 tokens" }), null, null],
  [
    "LM Studio",
    refusal(400, {
      error:
        "The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length",
    }),
    null,
    null,
  ],
  [
    "LM Studio, newer",
    refusal(400, { error: "Reached context length of 4096 tokens with this model: the context window is full" }),
    4096,
    null,
  ],
  [
    "OpenRouter",
    refusal(
      400,
      openai(
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 tokens",
        null,
      ),
    ),
    131_072,
    null,
  ],
];

for (const [who, error, limit, requested] of TOO_LONG) {
  test(`${who}: too long, with what it states`, () => {
    assert.deepEqual(overflowOf(error), { kind: "tokens", limit, requested });
  });
}

test("a request that is too large in bytes is told apart from one with too many tokens", () => {
  const anthropic = { error: { type: "request_too_large", message: "Request exceeds the maximum size" } };
  assert.equal(overflowOf(refusal(413, anthropic))?.kind, "bytes");
  assert.equal(overflowOf(refusal(413, "<html>413 Request Entity Too Large</html>"))?.kind, "bytes");
});

test("a window that fills up while answering is told by its finish reason", () => {
  assert.ok(isOverflowFinish("model_context_window_exceeded"));
  assert.ok(!isOverflowFinish("max_tokens"));
  assert.ok(!isOverflowFinish(undefined));
});

const OTHER: readonly (readonly [string, unknown])[] = [
  [
    "a rate limit in tokens",
    refusal(429, openai("Rate limit reached: limit 30000 tokens per minute, too many tokens", "rate_limit_exceeded")),
  ],
  ["a wrong key", refusal(401, openai("Incorrect API key provided", "invalid_api_key"))],
  [
    "an orphan tool result",
    refusal(400, openai("messages with role 'tool' must follow a message with tool_calls", null)),
  ],
  [
    "too large an answer asked for",
    refusal(400, openai("max_tokens is too large: 99999. This model supports at most 16384 completion tokens", null)),
  ],
  ["a server error", refusal(500, "internal error")],
  ["a lost connection", new Error("fetch failed")],
  ["nothing", undefined],
];
for (const [what, error] of OTHER) {
  test(`${what} is not taken for a prompt that is too long`, () => assert.equal(overflowOf(error), null));
}
