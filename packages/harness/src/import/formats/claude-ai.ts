/**
 * The export of Claude.ai. An answer holds its tool calls and their results in one list; the API has the results in a
 * message of the user, so an answer becomes several messages where it used tools.
 */

import { isRecord } from "@palimpsest/core/internal/text";
import type { ImportedMessage } from "../conversation.ts";
import { timeOf } from "../time.ts";
import { type BranchMessage, saidAfter, waysOf } from "./branches.ts";
import {
  type Format,
  type FormatFields,
  listOf,
  madeMessage,
  oneValueEach,
  type PlacedValue,
  type ReadConversation,
  sourceOf,
  turnsSaid,
  wordsIn,
} from "./format.ts";

export const claudeAi: Format = {
  id: "claude-ai",
  name: "Claude.ai export",
  dialect: "anthropic",
  recognizes: ({ chat_messages }) => Array.isArray(chat_messages),
  open: () => oneValueEach(readConversation),
};

function readConversation({ value, place }: PlacedValue): ReadConversation | null {
  if (!Array.isArray(value["chat_messages"])) return null;
  const all = listOf(value["chat_messages"]);
  const left: string[] = all.length < value["chat_messages"].length ? ["an entry that is no message"] : [];
  const turns = new Map(
    all.map((message, index) => [message, readTurn(message, { left, place: `${place}, message ${index + 1}` })]),
  );
  const [main = null, ...others] = endsOf(all, (message) => turns.get(message) ?? []);
  const { messages, branches } = waysOf(main, others);
  const source = sourceOf("claude-ai", wordsIn(value["uuid"]));
  return { conversation: { messages, title: wordsIn(value["name"]), source }, branches, left };
}

/** Newer exports name each message's parent: the way to the last message is what was shown, other ends are branches. */
function endsOf(
  messages: readonly FormatFields[],
  turnsOf: (message: FormatFields) => readonly ImportedMessage[],
): readonly (BranchMessage | null)[] {
  const byId = new Map(messages.map((message) => [message["uuid"], message]));
  const parents = messages.filter((message) => byId.has(message["parent_message_uuid"]));
  if (parents.length < messages.length - 1) return [saidAfter(null, messages.flatMap(turnsOf))];
  const inner = new Set(messages.map((message) => message["parent_message_uuid"]));
  const last = messages.at(-1);
  const ends = [last, ...messages.filter((message) => message !== last && !inner.has(message["uuid"]))];
  /** What is said up to a message: each is gone over once, however many ways lead over it. */
  const told = new Map<FormatFields, BranchMessage | null>();
  return ends.map((end) => {
    const ahead = new Set<FormatFields>();
    let at = end;
    for (; at !== undefined && !told.has(at) && !ahead.has(at); at = byId.get(at["parent_message_uuid"])) ahead.add(at);
    let said = (at === undefined ? null : told.get(at)) ?? null;
    for (const message of [...ahead].toReversed()) {
      said = saidAfter(said, turnsOf(message));
      told.set(message, said);
    }
    return said;
  });
}

interface ClaudeAiReading {
  readonly left: string[];
  readonly place: string;
}

function readTurn(message: FormatFields, { left, place }: ClaudeAiReading): readonly ImportedMessage[] {
  const isUser = message["sender"] === "human";
  const { turns, say } = turnsSaid();
  const open: string[] = [];
  for (const block of blocksOf(message)) {
    const read = readBlock(block, { open, id: `${String(message["uuid"])}-${turns.length}-${open.length}` });
    if (read === null) left.push(`a block of the type ${String(block["type"])}`);
    else if (read["text"] !== "") say(isUser || read["type"] === "tool_result" ? "user" : "assistant", read);
  }
  return turns.map((turn) => madeMessage(turn, { place, at: timeOf(message["created_at"]) }));
}

/** Files are not in the export, but for the text that was read from them. */
function blocksOf(message: FormatFields): readonly FormatFields[] {
  const content = listOf(message["content"]);
  const blocks = content.length > 0 ? content : [{ type: "text", text: message["text"] }];
  const read = listOf(message["attachments"]).map((file) => {
    const name = String(file["file_name"] || "attachment");
    return { type: "text", text: `[file: ${name}]\n${String(file["extracted_content"] ?? "")}`.trim() };
  });
  const files = listOf(message["files"]).map((file) => ({
    type: "text",
    text: `[file: ${String(file["file_name"] ?? "unnamed")}]`,
  }));
  return [...read, ...files, ...blocks];
}

/** Calls without an id are answered in their order. */
function readBlock(
  block: FormatFields,
  { open, id }: { readonly open: string[]; readonly id: string },
): FormatFields | null {
  switch (block["type"]) {
    case "text":
      return { type: "text", text: String(block["text"] ?? "") };
    case "thinking":
      return {
        type: "thinking",
        thinking: String(block["thinking"] ?? ""),
        signature: String(block["signature"] ?? ""),
      };
    case "tool_use": {
      const own = typeof block["id"] === "string" ? block["id"] : id;
      open.push(own);
      return {
        type: "tool_use",
        id: own,
        name: String(block["name"]),
        input: isRecord(block["input"]) ? block["input"] : {},
      };
    }
    case "tool_result": {
      const own = typeof block["tool_use_id"] === "string" ? block["tool_use_id"] : (open.shift() ?? id);
      const isError = block["is_error"] === true ? { is_error: true } : {};
      return { type: "tool_result", tool_use_id: own, content: resultText(block["content"]), ...isError };
    }
    default:
      return null;
  }
}

function resultText(content: unknown): string {
  if (typeof content === "string") return content;
  const blocks = Array.isArray(content) ? content.filter(isRecord) : [];
  return blocks.map((block) => (typeof block["text"] === "string" ? block["text"] : JSON.stringify(block))).join("\n");
}
