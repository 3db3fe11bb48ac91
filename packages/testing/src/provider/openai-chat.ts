/** OpenAI chat completions, as the provider speaks them and its many imitators do. */

import { type OpenAiMessage, openaiRules, openaiShape, readMessage } from "@palimpsest/core/internal/message";
import { isRecord } from "@palimpsest/core/internal/text";
import { conversationOf } from "./conversation.ts";
import { openaiFailure } from "./openai-failures.ts";
import {
  DONE,
  malformed,
  type Protocol,
  type ProviderEvent,
  pieces,
  type ReadRequest,
  type Reply,
} from "./protocol.ts";
import { readCommon } from "./read-common.ts";

export const openaiChat: Protocol = {
  name: "openai-chat",
  path: "/v1/chat/completions",
  overflow: "openai",
  read,
  whole,
  events,
  failure: (failure) => openaiFailure(failure, "messages"),
  streamFailure: (failure) => [{ data: openaiFailure(failure, "messages").body }],
};

function read(body: Record<string, unknown>): ReadRequest {
  const common = readCommon(body, "messages", (tool) =>
    isRecord(tool["function"]) ? tool["function"]["name"] : undefined,
  );
  if (common.kind === "malformed") return common;
  const messages: OpenAiMessage[] = [];
  for (const [index, value] of common.list.entries()) {
    const found = readMessage("openai", value);
    if (found.kind === "problem") return malformed(found.detail, `messages.[${index}]`);
    messages.push(found.message);
  }
  const streamOptions = body["stream_options"];
  const limit = body["max_completion_tokens"] ?? body["max_tokens"];
  return {
    ...common.request,
    conversation: conversationOf(messages, { shape: openaiShape, rules: openaiRules, tools: common.tools }),
    maxOutputTokens: typeof limit === "number" ? limit : null,
    reportsUsage: !common.request.stream || (isRecord(streamOptions) && streamOptions["include_usage"] === true),
  };
}

function whole(reply: Reply): unknown {
  const message = {
    role: "assistant",
    content: reply.text === "" ? null : reply.text,
    refusal: null,
    ...(reply.reasoning !== "" && { reasoning_content: reply.reasoning }),
    ...(reply.calls.length > 0 && { tool_calls: reply.calls.map(writeCall) }),
  };
  return {
    ...base(reply, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: stopOf(reply) }],
    usage: usageOf(reply),
  };
}

function events(reply: Reply): readonly ProviderEvent[] {
  const chunk = (delta: unknown, finish: string | null = null): ProviderEvent => ({
    data: {
      ...base(reply, "chat.completion.chunk"),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    },
  });
  const calls = reply.calls.flatMap(({ id, name, input }, index) => [
    chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
    ...pieces(input).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ]);
  const usage = { data: { ...base(reply, "chat.completion.chunk"), choices: [], usage: usageOf(reply) } };
  return [
    chunk({ role: "assistant", content: "" }),
    ...pieces(reply.reasoning).map((piece) => chunk({ reasoning_content: piece })),
    ...pieces(reply.text).map((piece) => chunk({ content: piece })),
    ...calls,
    chunk({}, stopOf(reply)),
    ...(reply.reportsUsage ? [usage] : []),
    DONE,
  ];
}

const base = (reply: Reply, object: string) => ({
  id: `chatcmpl-${reply.id}`,
  object,
  created: 1_700_000_000,
  model: reply.model,
});

const writeCall = ({ id, name, input }: Reply["calls"][number]) => ({
  id,
  type: "function",
  function: { name, arguments: input },
});

function stopOf({ stop, rawStop }: Reply): string {
  const words = {
    stop: "stop",
    "tool-calls": "tool_calls",
    length: "length",
    window: "length",
    "content-filter": "content_filter",
  };
  return rawStop ?? words[stop];
}

const usageOf = ({ usage }: Reply) => ({
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
  prompt_tokens_details: { cached_tokens: usage.cached },
  completion_tokens_details: { reasoning_tokens: 0 },
});
