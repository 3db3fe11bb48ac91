/**
 * ChatGPT's `conversations.json`. A conversation is a tree: an edited question or a second answer is a branch. What is read
 * is the path to `current_node`, what the person saw last; other branches are counted.
 */

import { isRecord } from "@palimpsest/core/internal/text";
import type { ImportedConversation, ImportedMessage } from "../conversation.ts";
import { timeOf } from "../time.ts";
import { type Format, madeMessage, notesOf, type PlacedValue } from "./format.ts";

type Fields = Readonly<Record<string, unknown>>;

export const chatgpt: Format = {
  name: "ChatGPT export",
  recognizes: ({ mapping }) =>
    isRecord(mapping) && Object.values(mapping).some((node) => isRecord(node) && "children" in node),
  read(values) {
    const read = values.filter(({ value }) => isRecord(value["mapping"])).map(readConversation);
    return {
      conversations: read.map(({ conversation }) => conversation),
      skipped: values.length - read.length,
      notes: read.flatMap(({ notes }) => notes),
    };
  },
};

function readConversation({ value, place }: PlacedValue) {
  const nodes = value["mapping"] as Readonly<Record<string, Fields>>;
  const path = pathOf(nodes, value["current_node"]);
  const left: string[] = [];
  const messages: ImportedMessage[] = [];
  for (const [index, node] of path.entries()) add(messages, node, { left, place: `${place}, turn ${index + 1}` });
  const spoken = Object.values(nodes).filter((node) => isRecord(node["message"])).length;
  const beside = spoken - path.length;
  if (beside > 0) left.push(`${beside} messages on other branches than the one shown last`);
  const conversation: ImportedConversation = {
    place,
    messages,
    request: null,
    questions: [],
    ...(typeof value["title"] === "string" && value["title"] !== "" && { title: value["title"] }),
  };
  return { conversation, notes: notesOf(place, left) };
}

/** From the root to the node; a file without one ends at the newest message. */
function pathOf(nodes: Readonly<Record<string, Fields>>, current: unknown): readonly Fields[] {
  const path: Fields[] = [];
  const seen = new Set<unknown>();
  const newest = Object.keys(nodes).findLast((id) => (nodes[id]!["children"] as unknown[] | undefined)?.length === 0);
  let id = typeof current === "string" && current in nodes ? current : newest;
  while (typeof id === "string" && nodes[id] !== undefined && !seen.has(id)) {
    seen.add(id);
    if (isRecord(nodes[id]!["message"])) path.push(nodes[id]!);
    id = nodes[id]!["parent"] as string | undefined;
  }
  return path.toReversed();
}

interface Adding {
  readonly left: string[];
  readonly place: string;
}

/** A call is answered by the tool messages after it: several are one answer. */
function add(messages: ImportedMessage[], node: Fields, { left, place }: Adding): void {
  const message = node["message"] as Fields;
  const { author, content, recipient, create_time, metadata } = message;
  const role = isRecord(author) ? String(author["role"]) : "";
  const words = textOf(content, left);
  if (words === "") return;
  const model = isRecord(metadata) && typeof metadata["model_slug"] === "string" ? metadata["model_slug"] : null;
  const push = (value: object) => messages.push(madeMessage(value, { place, at: timeOf(create_time), model }));
  const type = isRecord(content) ? content["content_type"] : "";
  if (role === "tool") addResult(messages, words, push);
  else if (role === "assistant" && type === "thoughts") push({ role, content: null, reasoning_content: words });
  else if (role === "assistant" && typeof recipient === "string" && recipient !== "all") {
    const call = { id: String(node["id"]), type: "function", function: { name: recipient, arguments: inputOf(words) } };
    push({ role, content: null, tool_calls: [call] });
  } else if (role === "user" || role === "assistant" || role === "system") push({ role, content: words });
  else left.push(`a message of ${role || "nobody"}`);
}

function addResult(messages: ImportedMessage[], words: string, push: (value: object) => void): void {
  const last = messages.at(-1)?.value;
  const calls = last?.["tool_calls"] as readonly { id: string }[] | undefined;
  if (calls !== undefined) push({ role: "tool", tool_call_id: calls[0]!.id, content: words });
  else if (last?.["role"] === "tool") {
    const before = messages.pop()!;
    messages.push(madeMessage({ ...last, content: `${String(last["content"])}\n\n${words}` }, before));
  } else push({ role: "assistant", content: words }); // what ChatGPT's own tools showed without a call
}

const inputOf = (words: string): string => {
  try {
    return isRecord(JSON.parse(words)) ? words : JSON.stringify({ input: words });
  } catch {
    return JSON.stringify({ input: words });
  }
};

function textOf(content: unknown, left: string[]): string {
  if (!isRecord(content)) return "";
  const { content_type, parts, text, thoughts, result } = content;
  if (Array.isArray(parts))
    return parts
      .map((part) => partText(part, left))
      .filter(Boolean)
      .join("\n\n");
  if (Array.isArray(thoughts))
    return thoughts.map((one) => (isRecord(one) ? String(one["content"] ?? "") : "")).join("\n\n");
  if (content_type === "reasoning_recap") return "";
  if (content_type === "user_editable_context") {
    return [content["user_profile"], content["user_instructions"]]
      .filter((one) => typeof one === "string")
      .join("\n\n");
  }
  const words = text ?? result;
  if (typeof words === "string") return words;
  left.push(`content of the type ${String(content_type)}`);
  return "";
}

/** Images and sounds are files beside the export: their names stay. */
function partText(part: unknown, left: string[]): string {
  if (typeof part === "string") return part;
  if (!isRecord(part)) return "";
  if (typeof part["text"] === "string") return part["text"];
  if (typeof part["asset_pointer"] === "string") return `[file: ${part["asset_pointer"]}]`;
  left.push(`a part of the type ${String(part["content_type"])}`);
  return "";
}
