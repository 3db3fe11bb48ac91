/** Anthropic's Messages API: its requests, its errors, its cache marks. How its answers are read is in `answer.ts`. */
import { type AnthropicMessage, anthropicShape } from "@palimpsest/core/message";
import {
  common,
  type Fields,
  leadingIn,
  listIn,
  numberIn,
  type ReadRequest,
  type Vendor,
  type VendorFailure,
} from "../vendor.ts";
import { type Checked, readItems } from "../wire/read-items.ts";
import { messagesReader } from "./answer.ts";
import { markedCache, withMarks } from "./cache-marks.ts";
import { editedMessages } from "./edited-prompt.ts";
import { takesCarriers, withCarriers } from "./evidence-carrier.ts";
import { holdMessages, leaveMessages } from "./hold.ts";
import { isErrorCode } from "./refusals.ts";
import { systemText } from "./system-outline.ts";
import { messagesWriter } from "./writer.ts";

export const anthropicMessages: Vendor<AnthropicMessage> = {
  name: "anthropic",
  shape: anthropicShape,
  path: "/messages",
  countPath: "/messages/count_tokens",
  field: "messages",
  providers: ["anthropic"],
  address: "https://api.anthropic.com/v1",
  key: (key) => ({ "x-api-key": key }),
  read: readBody,
  write: (prompt) => [...prompt.request.leading, ...withMarks(prompt)],
  cached: markedCache,
  reader: messagesReader,
  thinks: ({ thinking }) => thinking != null && (thinking as Fields)["type"] !== "disabled",
  writer: messagesWriter,
  failure,
  streamFailure: (given) => `event: error\ndata: ${JSON.stringify(failure(given))}\n\n`,
  counted: (tokens, original) => ({
    input_tokens: tokens,
    ...(original !== null && { context_management: { original_input_tokens: original } }),
  }),
  edited: editedMessages,
  carry: (messages, added, headers) => (takesCarriers(headers) ? withCarriers(messages, added) : messages),
  hold: holdMessages,
  leave: leaveMessages,
};

function readBody(body: Fields, checked: Checked | null): ReadRequest<AnthropicMessage> {
  const known = common(body);
  if (known === null) return { kind: "problem", message: "model: Field required", param: "model" };
  const given = body["messages"];
  // A thread that was handed back in the middle of a turn goes on without a word.
  const mayBeEmpty = (body["thread"] as Fields | null | undefined)?.["type"] === "continue";
  if (!Array.isArray(given) || (given.length === 0 && !mayBeEmpty))
    return { kind: "problem", message: "messages: at least one message is required", param: "messages" };
  const read = readItems("anthropic", given, checked);
  if (read.kind === "problem")
    return { kind: "problem", message: `messages.${read.index}: ${read.detail}`, param: null };
  const all = read.items;
  const leading = leadingIn(all, anthropicShape);
  return {
    kind: "request",
    request: {
      ...known,
      leading,
      messages: all.slice(leading.length),
      system: systemText(body["system"]),
      tools: listIn(body["tools"]),
      maxTokens: numberIn(body["max_tokens"]),
      reference: body["thread"] == null ? null : "thread",
    },
  };
}

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

function failure({ status, code, message }: VendorFailure): unknown {
  const type = TYPES[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
  return { type: "error", error: { type, message, details: isErrorCode(code) ? { error_code: code } : { code } } };
}
