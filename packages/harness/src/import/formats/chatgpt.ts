/**
 * ChatGPT's `conversations.json`. A conversation is a tree: an edited question or a second answer is a branch. The path to
 * `current_node`, what the person saw last, is the conversation; the other branches are its forks.
 */

import { jsonOr } from "@palimpsest/core/internal/message";
import { isRecord } from "@palimpsest/core/internal/text";
import { timeOf } from "../time.ts";
import { type BranchMessage, waysOf } from "./branches.ts";
import {
  type Format,
  type FormatFields,
  madeMessage,
  oneValueEach,
  type PlacedValue,
  type ReadConversation,
  sourceOf,
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

type Nodes = Readonly<Record<string, FormatFields>>;

function readConversation({ value, place }: PlacedValue): ReadConversation | null {
  if (!isRecord(value["mapping"])) return null;
  const nodes = Object.fromEntries(Object.entries(value["mapping"]).filter(([, node]) => isRecord(node))) as Nodes;
  const followers = new Map<unknown, number>();
  for (const { parent } of Object.values(nodes)) followers.set(parent, (followers.get(parent) ?? 0) + 1);
  const leaves = Object.keys(nodes).filter((id) => !followers.has(id));
  const current = value["current_node"];
  const last = typeof current === "string" && nodes[current] !== undefined ? current : leaves.at(-1);
  const left: string[] = [];
  const tree = treeOf(nodes, followers, { left, place });
  const others = leaves.filter((id) => id !== last);
  const { messages, branches } = waysOf(tree.said(last), tree.ways(others));
  const session = wordsIn(value["conversation_id"]) ?? wordsIn(value["id"]);
  return {
    conversation: { messages, title: wordsIn(value["title"]), source: sourceOf("chatgpt", session) },
    branches,
    left: leftOf(nodes, tree.told, left),
  };
}

/** To be read after the branches. */
function* leftOf(nodes: Nodes, told: ReadonlyMap<FormatFields, unknown>, left: readonly string[]): Generator<string> {
  yield* left;
  const lost = Object.values(nodes).filter((node) => isRecord(node["message"]) && !told.has(node)).length;
  if (lost > 0) yield `${lost} messages that no branch leads to`;
}

interface ChatGptReading {
  readonly left: string[];
  readonly place: string;
}

/** Each node is read once, however many ways lead over it. */
function treeOf(nodes: Nodes, followers: ReadonlyMap<unknown, number>, { left, place }: ChatGptReading) {
  const told = new Map<FormatFields, ChatGptTold>();
  const said = (leaf: string | undefined): ChatGptTurn | null => {
    const ahead = new Set<FormatFields>();
    let id = leaf;
    for (; id !== undefined && nodes[id] !== undefined; id = wordsIn(nodes[id]!["parent"]) ?? undefined) {
      if (told.has(nodes[id]!) || ahead.has(nodes[id]!)) break;
      ahead.add(nodes[id]!);
    }
    let at: ChatGptTold = (id === undefined ? undefined : told.get(nodes[id] ?? {})) ?? { last: null, turns: 0 };
    for (const node of [...ahead].toReversed()) {
      if (isRecord(node["message"])) {
        const turns = at.turns + 1;
        const isShared = (followers.get(node["parent"]) ?? 0) > 1;
        at = { last: after(at.last, node, { left, place: `${place}, turn ${turns}`, isShared }), turns };
      }
      told.set(node, at);
    }
    return at.last;
  };
  function* ways(ends: readonly string[]): Generator<ChatGptTurn | null> {
    for (const end of ends) yield said(end);
  }
  return { told, said, ways };
}

/** What is said up to a node, and how many nodes that say something lead to it. */
interface ChatGptTold {
  readonly last: ChatGptTurn | null;
  readonly turns: number;
}

/** Its text is written when it is known that nothing more belongs to it. */
interface ChatGptTurn extends BranchMessage {
  readonly before: ChatGptTurn | null;
  readonly value: FormatFields;
  readonly facts: Parameters<typeof madeMessage>[1];
}

function turnAfter(before: ChatGptTurn | null, value: FormatFields, facts: ChatGptTurn["facts"]): ChatGptTurn {
  return { before, value, facts, message: () => madeMessage(value, facts) };
}

/** `isShared`: other nodes follow the same one. */
interface Adding extends ChatGptReading {
  readonly isShared: boolean;
}

/** A call is answered by the tool messages after it: several are one answer. */
function after(last: ChatGptTurn | null, node: FormatFields, { left, place, isShared }: Adding): ChatGptTurn | null {
  const message = node["message"] as FormatFields;
  const { author, content, recipient, create_time, metadata } = message;
  const role = isRecord(author) ? String(author["role"]) : "";
  const words = textOf(content, left);
  if (words === "") return last;
  const model = isRecord(metadata) && typeof metadata["model_slug"] === "string" ? metadata["model_slug"] : null;
  const push = (value: FormatFields) => turnAfter(last, value, { place, at: timeOf(create_time), model });
  const type = isRecord(content) ? content["content_type"] : "";
  if (role === "tool") return afterResult(last, words, push, isShared);
  if (role === "assistant" && type === "thoughts") return push({ role, content: null, reasoning_content: words });
  if (role === "assistant" && typeof recipient === "string" && recipient !== "all") {
    const call = { id: String(node["id"]), type: "function", function: { name: recipient, arguments: inputOf(words) } };
    return push({ role, content: null, tool_calls: [call] });
  }
  if (role === "user" || role === "assistant" || role === "system") return push({ role, content: words });
  left.push(`a message of ${role || "nobody"}`);
  return last;
}

/** A result that several branches share isn't extended: each branch would get its own copy. */
function afterResult(
  last: ChatGptTurn | null,
  words: string,
  push: (value: FormatFields) => ChatGptTurn,
  isShared: boolean,
): ChatGptTurn {
  const calls = last?.value["tool_calls"] as readonly { id: string }[] | undefined;
  if (calls !== undefined) return push({ role: "tool", tool_call_id: calls[0]!.id, content: words });
  if (last?.value["role"] === "tool" && !isShared)
    return turnAfter(
      last.before,
      { ...last.value, content: `${String(last.value["content"])}\n\n${words}` },
      last.facts,
    );
  return push({ role: "assistant", content: words }); // what ChatGPT's own tools showed without a call
}

const inputOf = (words: string): string => (isRecord(jsonOr(words, null)) ? words : JSON.stringify({ input: words }));

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
