/** ShareGPT's form, which many data sets have: `{conversations: [{from, value}]}`. */

import { jsonOr } from "@palimpsest/core/internal/message";
import { isRecord } from "@palimpsest/core/internal/text";
import type { ImportedMessage } from "../conversation.ts";
import {
  type Format,
  type FormatFields,
  madeMessage,
  oneValueEach,
  type PlacedValue,
  type ReadConversation,
} from "./format.ts";

export const sharegpt: Format = {
  id: "sharegpt",
  name: "ShareGPT",
  dialect: "openai",
  recognizes: ({ conversations }) =>
    Array.isArray(conversations) && conversations.some((turn) => isRecord(turn) && "from" in turn && "value" in turn),
  open: () => oneValueEach(readConversation),
};

function readConversation({ value, place }: PlacedValue): ReadConversation | null {
  if (!Array.isArray(value["conversations"])) return null;
  const left: string[] = [];
  const messages: ImportedMessage[] = [];
  for (const [index, turn] of value["conversations"].entries()) {
    const imported = isRecord(turn) ? messageOf(turn, messages.at(-1)?.value, index) : null;
    if (imported === null) left.push(`a turn of ${isRecord(turn) ? String(turn["from"]) : "nobody"}`);
    else messages.push(madeMessage(imported, { place: `${place}${place === "" ? "" : ", "}turn ${index + 1}` }));
  }
  const { system, tools } = value;
  const request = { ...(typeof system === "string" && system !== "" && { system }), ...(tools != null && { tools }) };
  return { conversation: { messages, request: Object.keys(request).length > 0 ? request : null }, left };
}

const ROLES: Readonly<Record<string, string>> = {
  human: "user",
  user: "user",
  gpt: "assistant",
  chatgpt: "assistant",
  assistant: "assistant",
  model: "assistant",
  bing: "assistant",
  bard: "assistant",
  system: "system",
};

function messageOf({ from, value }: FormatFields, before: FormatFields | undefined, index: number): object | null {
  const words = typeof value === "string" ? value : JSON.stringify(value ?? "");
  const role = ROLES[String(from)];
  if (words === "" || words === '""') return null;
  if (role !== undefined) return { role, content: words };
  if (from === "function_call" || from === "tool_call") {
    const call = { id: `call_${index + 1}`, type: "function", function: callOf(words) };
    return { role: "assistant", content: null, tool_calls: [call] };
  }
  const calls = before?.["tool_calls"] as readonly { id: string }[] | undefined;
  if (from !== "observation" && from !== "tool" && from !== "function_response") return null;
  return { role: "tool", tool_call_id: calls?.[0]?.id ?? `call_${index}`, content: words };
}

function callOf(words: string): { readonly name: string; readonly arguments: string } {
  const call = jsonOr(words, null);
  const { name, arguments: input } = isRecord(call) ? call : {};
  if (typeof name !== "string") return { name: "unknown", arguments: JSON.stringify({ input: words }) };
  return { name, arguments: typeof input === "string" ? input : JSON.stringify(input ?? {}) };
}
