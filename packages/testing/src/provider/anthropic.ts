/** Anthropic's messages API. */

import {
  type AnthropicMessage,
  anthropicRules,
  anthropicShape,
  jsonOr,
  readMessage,
} from "@palimpsest/core/internal/message";
import { isRecord } from "@palimpsest/core/internal/text";
import { conversationOf } from "./conversation.ts";
import {
  type Failure,
  type FailureBody,
  type Headers,
  malformed,
  type Protocol,
  type ProviderEvent,
  pieces,
  type ReadRequest,
  type Reply,
} from "./protocol.ts";
import { readCommon } from "./read-common.ts";

export const anthropicMessages: Protocol = {
  name: "anthropic",
  path: "/v1/messages",
  overflow: "anthropic",
  read,
  whole: (reply) => ({
    ...message(reply),
    content: blocksOf(reply),
    stop_reason: stopOf(reply),
    usage: usageOf(reply),
  }),
  events,
  failure,
  streamFailure: (given) => [{ name: "error", data: failure(given).body }],
};

function read(body: Record<string, unknown>, headers: Headers): ReadRequest {
  if (headers["anthropic-version"] === undefined) return malformed("anthropic-version: header is required");
  const common = readCommon(body, "messages", (tool) => tool["name"]);
  if (common.kind === "malformed") return common;
  const limit = body["max_tokens"];
  if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1) {
    return malformed("max_tokens: Field required, a whole number above 0");
  }
  const messages: AnthropicMessage[] = [];
  for (const [index, value] of common.list.entries()) {
    const found = readMessage("anthropic", value);
    if (found.kind === "problem") return malformed(`messages.${index}: ${found.detail}`);
    if (found.message.role === "system") {
      return malformed(`messages.${index}.role: use the top-level \`system\` parameter instead of a "system" role`);
    }
    messages.push(found.message);
  }
  const bad = badCallId(messages);
  if (bad !== null) return malformed(bad);
  const system = body["system"];
  const marks = cacheMarks([
    body,
    ...common.tools,
    ...listOf(system),
    ...messages.flatMap(({ content }) => listOf(content)),
  ]);
  if (marks > MOST_MARKS)
    return malformed(`A maximum of ${MOST_MARKS} blocks with cache_control may be provided. Found ${marks}.`);
  const leading = system === undefined ? [] : [{ role: "system", content: system } as AnthropicMessage];
  return {
    ...common.request,
    conversation: conversationOf([...leading, ...messages], {
      shape: anthropicShape,
      rules: anthropicRules,
      tools: common.tools,
    }),
    maxOutputTokens: limit,
    reportsUsage: true,
  };
}

const MOST_MARKS = 4;

function cacheMarks(places: readonly unknown[]): number {
  return places.filter((place) => (place as { readonly cache_control?: unknown } | null)?.cache_control != null).length;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function badCallId(messages: readonly AnthropicMessage[]): string | null {
  for (const [index, { content }] of messages.entries()) {
    for (const block of typeof content === "string" ? [] : content) {
      if (block.type !== "tool_use") continue;
      if (!/^[a-zA-Z0-9_-]+$/.test(block.id)) return `messages.${index}: tool_use.id must match ^[a-zA-Z0-9_-]+$`;
      if (!isRecord(block.input)) return `messages.${index}: tool_use.input must be an object`;
    }
  }
  return null;
}

type RequestBlock = Record<string, unknown>;

function blocksOf(reply: Reply): RequestBlock[] {
  const thinking = { type: "thinking", thinking: reply.reasoning, signature: reply.signature };
  return [
    ...(reply.reasoning === "" ? [] : [thinking]),
    ...(reply.text === "" ? [] : [{ type: "text", text: reply.text }]),
    ...reply.calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input: inputOf(input) })),
  ];
}

/** A model of this provider can't send arguments that aren't an object; a broken script shows as a text. */
function inputOf(input: string): unknown {
  const value = jsonOr(input, input);
  return isRecord(value) ? value : { input: value };
}

function events(reply: Reply): readonly ProviderEvent[] {
  const named = (data: { type: string } & RequestBlock): ProviderEvent => ({ name: data.type, data });
  const started = { ...message(reply), content: [], stop_reason: null, usage: { ...usageOf(reply), output_tokens: 1 } };
  const blocks = blocksOf(reply).flatMap((block, index) => [
    named({ type: "content_block_start", index, content_block: emptied(block) }),
    ...deltasOf(block, reply).map((delta) => named({ type: "content_block_delta", index, delta })),
    named({ type: "content_block_stop", index }),
  ]);
  return [
    named({ type: "message_start", message: started }),
    named({ type: "ping" }),
    ...blocks,
    named({
      type: "message_delta",
      delta: { stop_reason: stopOf(reply), stop_sequence: null },
      usage: { output_tokens: reply.usage.output },
    }),
    named({ type: "message_stop" }),
  ];
}

function emptied(block: RequestBlock): RequestBlock {
  if (block["type"] === "text") return { type: "text", text: "" };
  if (block["type"] === "thinking") return { type: "thinking", thinking: "", signature: "" };
  return { ...block, input: {} };
}

function deltasOf(block: RequestBlock, reply: Reply): RequestBlock[] {
  if (block["type"] === "text") return pieces(reply.text).map((text) => ({ type: "text_delta", text }));
  if (block["type"] === "tool_use") {
    return pieces(JSON.stringify(block["input"])).map((piece) => ({ type: "input_json_delta", partial_json: piece }));
  }
  const thoughts = pieces(reply.reasoning).map((thinking) => ({ type: "thinking_delta", thinking }));
  return [...thoughts, { type: "signature_delta", signature: block["signature"] }];
}

const message = (reply: Reply) => ({
  id: `msg_${reply.id}`,
  type: "message",
  role: "assistant",
  model: reply.model,
  stop_sequence: null,
});

function stopOf({ stop, rawStop }: Reply): string {
  const words = {
    stop: "end_turn",
    "tool-calls": "tool_use",
    length: "max_tokens",
    window: "model_context_window_exceeded",
    "content-filter": "refusal",
  };
  return rawStop ?? words[stop];
}

/** Here `input_tokens` is only what wasn't cached. */
const usageOf = ({ usage }: Reply) => ({
  input_tokens: usage.input - usage.cached,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: usage.cached,
  output_tokens: usage.output,
});

function failure(given: Failure): FailureBody {
  switch (given.kind) {
    case "malformed":
      return error(400, "invalid_request_error", given.detail);
    case "rules":
      return error(400, "invalid_request_error", `messages.${given.index}: ${given.detail}`);
    case "overflow":
      if (given.style === "too-large") return failure({ kind: "too-large" });
      return error(
        400,
        "invalid_request_error",
        `prompt is too long: ${given.tokens} tokens > ${given.window} maximum`,
      );
    case "too-large":
      return error(413, "request_too_large", "Request exceeds the maximum size");
    case "unauthorized":
      return error(401, "authentication_error", "invalid x-api-key");
    case "rate-limit":
      return {
        ...error(
          429,
          "rate_limit_error",
          "This request would exceed your account's rate limit. Please try again later.",
        ),
        headers: given.retryAfterSeconds === null ? {} : { "retry-after": String(given.retryAfterSeconds) },
      };
    case "server-error":
      return given.status === 529
        ? error(529, "overloaded_error", "Overloaded")
        : error(given.status, "api_error", "Internal server error");
  }
}

const error = (status: number, type: string, text: string): FailureBody => ({
  status,
  body: { type: "error", error: { type, message: text }, request_id: "req_fake" },
});
