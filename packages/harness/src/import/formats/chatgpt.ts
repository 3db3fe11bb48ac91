/**
 * ChatGPT's `conversations.json`. A conversation is a tree: an edited question or a second answer is a branch. The path to
 * `current_node`, what the person saw last, is the conversation; the other branches are its forks.
 */

import { isRecord } from "@palimpsest/core/internal/text";
import type { ImportedMessage } from "../conversation.ts";
import { timeOf } from "../time.ts";
import { branchesOf } from "./branches.ts";
import {
  type Fields,
  type Format,
  madeMessage,
  oneValueEach,
  type PlacedValue,
  type ReadConversation,
  wordsIn,
} from "./format.ts";

export const chatgpt: Format = {
  id: "chatgpt",
  name: "ChatGPT export",
  dialect: "openai",
  recognizes: ({ mapping }) =>
    isRecord(mapping) && Object.values(mapping).some((node) => isRecord(node) && "children" in node),
  open: () => oneValueEach(readConversation),
};

type Nodes = Readonly<Record<string, Fields>>;

function readConversation({ value, place }: PlacedValue): ReadConversation | null {
  if (!isRecord(value["mapping"])) return null;
  const nodes = Object.fromEntries(Object.entries(value["mapping"]).filter(([, node]) => isRecord(node))) as Nodes;
  const leaves = Object.keys(nodes).filter((id) => childrenOf(nodes[id]!).every((child) => nodes[child] === undefined));
  const current = value["current_node"];
  const last = typeof current === "string" && nodes[current] !== undefined ? current : leaves.at(-1);
  const left: string[] = [];
  const told = new Set<Fields>();
  const said = (leaf: string | undefined): readonly ImportedMessage[] => {
    const messages: ImportedMessage[] = [];
    for (const [index, node] of pathOf(nodes, leaf).entries()) {
      add(messages, node, { left: told.has(node) ? [] : left, place: `${place}, turn ${index + 1}` });
      told.add(node);
    }
    return messages;
  };
  const messages = said(last);
  const branches = branchesOf(messages, leaves.filter((id) => id !== last).map(said));
  const lost = Object.values(nodes).filter((node) => isRecord(node["message"]) && !told.has(node)).length;
  if (lost > 0) left.push(`${lost} messages that no branch leads to`);
  const title = wordsIn(value["title"]);
  const session = wordsIn(value["conversation_id"]) ?? wordsIn(value["id"]);
  return {
    conversation: {
      messages,
      request: null,
      ...(title !== null && { title }),
      ...(session !== null && { source: { program: "chatgpt", session } }),
    },
    branches,
    left,
  };
}

const childrenOf = ({ children }: Fields): readonly string[] => (Array.isArray(children) ? children.map(String) : []);

/** From the root to the node: those that say something. */
function pathOf(nodes: Nodes, leaf: string | undefined): readonly Fields[] {
  const path: Fields[] = [];
  const seen = new Set<string>();
  for (let id = leaf; id !== undefined && nodes[id] !== undefined && !seen.has(id); ) {
    seen.add(id);
    const node = nodes[id]!;
    if (isRecord(node["message"])) path.push(node);
    id = wordsIn(node["parent"]) ?? undefined;
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
