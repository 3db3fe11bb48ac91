/** OpenAI's responses API, without storage: every request brings its whole conversation. */
import { openaiRules, openaiShape } from "@palimpsest/core/internal/message";
import { conversationOf } from "./conversation.ts";
import { openaiFailure } from "./openai-failures.ts";
import {
  type Failure,
  malformed,
  type Protocol,
  type ProviderEvent,
  pieces,
  type ReadRequest,
  type Reply,
} from "./protocol.ts";
import { readCommon } from "./read-common.ts";
import { messagesOfItems } from "./responses-items.ts";

export const openaiResponses: Protocol = {
  name: "openai-responses",
  path: "/v1/responses",
  overflow: "openai",
  read,
  whole: (reply) => response(reply, { status: statusOf(reply), output: outputOf(reply), done: true }),
  events,
  failure: (failure) => openaiFailure(failure, "input"),
  streamFailure,
};

function read(body: Record<string, unknown>): ReadRequest {
  const { input, instructions, max_output_tokens: limit } = body;
  const list = typeof input === "string" ? [{ role: "user", content: input }] : input;
  // A tool that the vendor runs itself goes by its type: web_search.
  const nameOf = ({ name, type }: Record<string, unknown>) => name ?? (type === "function" ? undefined : type);
  const common = readCommon({ ...body, input: list }, "input", nameOf);
  if (common.kind === "malformed") return common;
  if (body["previous_response_id"] != null) {
    return malformed("Previous response not found: nothing is stored.", "previous_response_id");
  }
  const items = messagesOfItems(common.list);
  if (items.kind === "malformed") return items;
  const leading = typeof instructions === "string" ? [openaiShape.turn("system", instructions)] : [];
  return {
    ...common.request,
    conversation: conversationOf([...leading, ...items.messages], {
      shape: openaiShape,
      rules: openaiRules,
      tools: common.tools,
    }),
    maxOutputTokens: typeof limit === "number" ? limit : null,
    reportsUsage: true,
  };
}

type RequestItem = Record<string, unknown> & { readonly id: string; readonly type: string };

function outputOf(reply: Reply): RequestItem[] {
  const id = (kind: string, index = 0) => `${kind}_${reply.id}_${index}`;
  const thought: RequestItem = {
    id: id("rs"),
    type: "reasoning",
    summary: [{ type: "summary_text", text: reply.reasoning }],
    encrypted_content: `sealed-${reply.id}`,
  };
  const said: RequestItem = {
    id: id("msg"),
    type: "message",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text: reply.text, annotations: [], logprobs: [] }],
  };
  const calls = reply.calls.map(
    (call, index): RequestItem => ({
      id: id("fc", index),
      type: "function_call",
      status: "completed",
      call_id: call.id,
      name: call.name,
      arguments: call.input,
    }),
  );
  return [...(reply.reasoning === "" ? [] : [thought]), ...(reply.text === "" ? [] : [said]), ...calls];
}

function events(reply: Reply): readonly ProviderEvent[] {
  const list: Record<string, unknown>[] = [];
  const add = (type: string, fields: Record<string, unknown>) => {
    list.push({ type, sequence_number: list.length, ...fields });
  };
  const output = outputOf(reply);
  const begun = response(reply, { status: "in_progress", output: [], done: false });
  add("response.created", { response: begun });
  add("response.in_progress", { response: begun });
  for (const [output_index, item] of output.entries()) {
    add("response.output_item.added", { output_index, item: emptied(item) });
    for (const { type, ...fields } of innerEvents(item)) add(type, { item_id: item.id, output_index, ...fields });
    add("response.output_item.done", { output_index, item });
  }
  const status = statusOf(reply);
  add(`response.${status}`, { response: response(reply, { status, output, done: true }) });
  return list.map((data) => ({ name: String(data["type"]), data }));
}

type Inner = { readonly type: string } & Record<string, unknown>;

function innerEvents(item: RequestItem): Inner[] {
  if (item.type === "function_call") {
    const input = String(item["arguments"]);
    return [
      ...pieces(input).map((delta) => ({ type: "response.function_call_arguments.delta", delta })),
      { type: "response.function_call_arguments.done", arguments: input, name: item["name"] },
    ];
  }
  if (item.type === "reasoning") return reasoningEvents(item);
  const [part] = item["content"] as [{ text: string }];
  const at = { content_index: 0 };
  return [
    { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
    ...pieces(part.text).map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
    { type: "response.output_text.done", ...at, text: part.text, logprobs: [] },
    { type: "response.content_part.done", ...at, part },
  ];
}

function reasoningEvents(item: RequestItem): Inner[] {
  const [part] = item["summary"] as [{ text: string }];
  const at = { summary_index: 0 };
  return [
    { type: "response.reasoning_summary_part.added", ...at, part: { ...part, text: "" } },
    ...pieces(part.text).map((delta) => ({ type: "response.reasoning_summary_text.delta", ...at, delta })),
    { type: "response.reasoning_summary_text.done", ...at, text: part.text },
    { type: "response.reasoning_summary_part.done", ...at, part },
  ];
}

function emptied(item: RequestItem): RequestItem {
  if (item.type === "message") return { ...item, status: "in_progress", content: [] };
  if (item.type === "function_call") return { ...item, status: "in_progress", arguments: "" };
  return { ...item, summary: [] };
}

const statusOf = ({ stop }: Reply): "completed" | "incomplete" =>
  stop === "stop" || stop === "tool-calls" ? "completed" : "incomplete";

function response(
  reply: Reply,
  given: { readonly status: string; readonly output: readonly RequestItem[]; readonly done: boolean },
): Record<string, unknown> {
  const { usage } = reply;
  const why = reply.stop === "content-filter" ? "content_filter" : "max_output_tokens";
  return {
    id: `resp_${reply.id}`,
    object: "response",
    created_at: 1_700_000_000,
    status: given.status,
    error: null,
    incomplete_details: given.status === "incomplete" ? { reason: reply.rawStop ?? why } : null,
    instructions: null,
    model: reply.model,
    output: given.output,
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    store: false,
    usage: given.done
      ? {
          input_tokens: usage.input,
          input_tokens_details: { cached_tokens: usage.cached },
          output_tokens: usage.output,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: usage.input + usage.output,
        }
      : null,
  };
}

function streamFailure(failure: Failure): readonly ProviderEvent[] {
  const body = openaiFailure(failure, "input").body as Record<string, unknown>;
  const error = body["error"] ?? body;
  return [{ name: "error", data: { type: "error", sequence_number: 0, error } }];
}
