/** ShareGPT's form, which many data sets have: `{conversations: [{from, value}]}`. */

import { isRecord } from "@palimpsest/core/internal/text";
import type { ImportedConversation, ImportedMessage } from "../conversation.ts";
import { type Format, madeMessage, notesOf, type PlacedValue } from "./format.ts";

type Fields = Readonly<Record<string, unknown>>;

export const sharegpt: Format = {
  name: "ShareGPT",
  recognizes: ({ conversations }) =>
    Array.isArray(conversations) && conversations.some((turn) => isRecord(turn) && "from" in turn && "value" in turn),
  read(values) {
    const read = values.filter(({ value }) => Array.isArray(value["conversations"])).map(readConversation);
    return {
      conversations: read.map(({ conversation }) => conversation),
      skipped: values.length - read.length,
      notes: read.flatMap(({ notes }) => notes),
    };
  },
};

function readConversation({ value, place }: PlacedValue) {
  const left: string[] = [];
  const messages: ImportedMessage[] = [];
  for (const [index, turn] of (value["conversations"] as unknown[]).entries()) {
    const imported = isRecord(turn) ? messageOf(turn, messages.at(-1)?.value, index) : null;
    if (imported === null) left.push(`a turn of ${isRecord(turn) ? String(turn["from"]) : "nobody"}`);
    else messages.push(madeMessage(imported, { place: `${place}${place === "" ? "" : ", "}turn ${index + 1}` }));
  }
  const { system, tools } = value;
  const request = { ...(typeof system === "string" && system !== "" && { system }), ...(tools != null && { tools }) };
  const conversation: ImportedConversation = {
    place,
    messages,
    request: Object.keys(request).length > 0 ? request : null,
    questions: [],
  };
  return { conversation, notes: notesOf(place, left) };
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

function messageOf({ from, value }: Fields, before: Fields | undefined, index: number): object | null {
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
  try {
    const { name, arguments: input } = JSON.parse(words) as { name?: unknown; arguments?: unknown };
    if (typeof name === "string")
      return { name, arguments: typeof input === "string" ? input : JSON.stringify(input ?? {}) };
  } catch {
    // It is kept as the input below.
  }
  return { name: "unknown", arguments: JSON.stringify({ input: words }) };
}
