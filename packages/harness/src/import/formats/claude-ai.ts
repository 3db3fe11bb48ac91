/**
 * The export of Claude.ai. An answer holds its tool calls and their results in one list; the API has the results in a
 * message of the user, so an answer becomes several messages where it used tools.
 */

import { isRecord } from "@palimpsest/core/internal/text";
import type { ImportedConversation, ImportedMessage } from "../conversation.ts";
import { timeOf } from "../time.ts";
import { type Format, madeMessage, notesOf, type PlacedValue } from "./format.ts";

type Fields = Readonly<Record<string, unknown>>;

export const claudeAi: Format = {
  name: "Claude.ai export",
  recognizes: ({ chat_messages }) => Array.isArray(chat_messages),
  read(values) {
    const read = values.filter(({ value }) => Array.isArray(value["chat_messages"])).map(readConversation);
    return {
      conversations: read.map(({ conversation }) => conversation),
      skipped: values.length - read.length,
      notes: read.flatMap(({ notes }) => notes),
    };
  },
};

function readConversation({ value, place }: PlacedValue) {
  const all = (value["chat_messages"] as unknown[]).filter(isRecord);
  const branch = shownOf(all);
  const left: string[] = [];
  if (branch.length < all.length) left.push(`${all.length - branch.length} messages on other branches than the newest`);
  const messages = branch.flatMap((message, index) =>
    readTurn(message, { left, place: `${place}, message ${index + 1}` }),
  );
  const conversation: ImportedConversation = {
    place,
    messages,
    request: null,
    questions: [],
    ...(typeof value["name"] === "string" && value["name"] !== "" && { title: value["name"] }),
  };
  return { conversation, notes: notesOf(place, left) };
}

/** Newer exports name each message's parent: the branch of the last message is what was shown. */
function shownOf(messages: readonly Fields[]): readonly Fields[] {
  const byId = new Map(messages.map((message) => [message["uuid"], message]));
  const parents = messages.filter((message) => byId.has(message["parent_message_uuid"]));
  if (parents.length < messages.length - 1) return messages;
  const path: Fields[] = [];
  for (let at = messages.at(-1); at !== undefined && !path.includes(at); at = byId.get(at["parent_message_uuid"]))
    path.push(at);
  return path.toReversed();
}

interface Reading {
  readonly left: string[];
  readonly place: string;
}

function readTurn(message: Fields, { left, place }: Reading): readonly ImportedMessage[] {
  const isUser = message["sender"] === "human";
  const turns: { role: "user" | "assistant"; content: Fields[] }[] = [];
  const say = (role: "user" | "assistant", block: Fields) => {
    if (turns.at(-1)?.role !== role) turns.push({ role, content: [] });
    turns.at(-1)!.content.push(block);
  };
  const open: string[] = [];
  for (const block of blocksOf(message)) {
    const read = readBlock(block, { open, id: `${String(message["uuid"])}-${turns.length}-${open.length}` });
    if (read === null) left.push(`a block of the type ${String(block["type"])}`);
    else if (read["text"] !== "") say(isUser || read["type"] === "tool_result" ? "user" : "assistant", read);
  }
  return turns.map((turn) => madeMessage(turn, { place, at: timeOf(message["created_at"]) }));
}

/** Files are not in the export, but for the text that was read from them. */
function blocksOf(message: Fields): readonly Fields[] {
  const list = (name: string): readonly Fields[] =>
    Array.isArray(message[name]) ? message[name].filter(isRecord) : [];
  const content = list("content");
  const blocks = content.length > 0 ? content : [{ type: "text", text: message["text"] }];
  const read = list("attachments").map((file) => {
    const name = String(file["file_name"] || "attachment");
    return { type: "text", text: `[file: ${name}]\n${String(file["extracted_content"] ?? "")}`.trim() };
  });
  const files = list("files").map((file) => ({
    type: "text",
    text: `[file: ${String(file["file_name"] ?? "unnamed")}]`,
  }));
  return [...read, ...files, ...blocks];
}

/** Calls without an id are answered in their order. */
function readBlock(block: Fields, { open, id }: { readonly open: string[]; readonly id: string }): Fields | null {
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
