/**
 * The items of OpenAI's responses API as chat messages, so that the same rules judge them: thinking, text and calls that
 * follow each other are one message of the assistant. References to stored items are refused: nothing is stored here.
 */

import type { OpenAiBlock, OpenAiCall, OpenAiMessage } from "@palimpsest/core/internal/message";
import { isRecord } from "@palimpsest/core/internal/text";
import { type Malformed, malformed } from "./protocol.ts";

type Items = { readonly kind: "messages"; readonly messages: readonly OpenAiMessage[] } | Malformed;

export function messagesOfItems(items: readonly unknown[]): Items {
  const messages: OpenAiMessage[] = [];
  for (const [index, item] of items.entries()) {
    const read = isRecord(item) ? readItem(item) : null;
    if (read === null)
      return malformed(`Invalid value: ${typeOf(item)} is no item this model takes`, `input[${index}]`);
    if ("kind" in read) return { ...read, param: `input[${index}]` };
    const last = messages.at(-1);
    if (read.role === "assistant" && last?.role === "assistant") messages.splice(-1, 1, joined(last, read));
    else messages.push(read);
  }
  return { kind: "messages", messages };
}

const typeOf = (item: unknown): string => (isRecord(item) ? String(item["type"] ?? "message") : typeof item);

function readItem(item: Record<string, unknown>): OpenAiMessage | Malformed | null {
  switch (item["type"] ?? "message") {
    case "message":
      return readMessageItem(item);
    case "function_call":
      return readCall(item);
    case "function_call_output":
      return readOutput(item);
    case "reasoning":
      return { role: "assistant", content: null, reasoning_content: reasoningText(item) };
    case "item_reference":
      return malformed(
        `Item with id '${String(item["id"])}' not found. Items are not persisted when \`store\` is false.`,
      );
    default:
      return null;
  }
}

const ROLES = new Set(["system", "developer", "user", "assistant"]);

function readMessageItem({ role, content }: Record<string, unknown>): OpenAiMessage | Malformed {
  if (typeof role !== "string" || !ROLES.has(role)) return malformed(`role is ${JSON.stringify(role)}`);
  const blocks = readContent(content, role);
  return blocks === null
    ? malformed(`the content of a ${role} message is neither text nor blocks it may hold`)
    : { role: role as "user", content: blocks };
}

function readContent(content: unknown, role: string): string | OpenAiBlock[] | null {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return null;
  const blocks: OpenAiBlock[] = [];
  for (const block of content) {
    const read = isRecord(block) ? readBlock(block, role) : null;
    if (read === null) return null;
    blocks.push(read);
  }
  return blocks;
}

/** The assistant's text is output, everybody else's is input; the API refuses them the other way round. */
function readBlock(block: Record<string, unknown>, role: string): OpenAiBlock | null {
  const { type, text } = block;
  const own = role === "assistant" ? "output_text" : "input_text";
  if (type === own && typeof text === "string") return { type: "text", text };
  if (type === "refusal") return { type: "refusal", refusal: String(block["refusal"]) };
  if (role === "assistant") return null;
  if (type === "input_image") return { type: "image_url", image_url: { url: String(block["image_url"] ?? "") } };
  if (type !== "input_file") return null;
  const { file_data, file_id, filename } = block;
  return {
    type: "file",
    file: {
      ...(typeof file_data === "string" && { file_data }),
      ...(typeof file_id === "string" && { file_id }),
      ...(typeof filename === "string" && { filename }),
    },
  };
}

function readCall({ call_id, name, arguments: input }: Record<string, unknown>): OpenAiMessage | Malformed {
  if (typeof call_id !== "string" || typeof name !== "string" || typeof input !== "string") {
    return malformed("a function_call needs call_id, name and arguments, all of them text");
  }
  const call: OpenAiCall = { id: call_id, type: "function", function: { name, arguments: input } };
  return { role: "assistant", content: null, tool_calls: [call] };
}

function readOutput({ call_id, output }: Record<string, unknown>): OpenAiMessage | Malformed {
  const content = readContent(output, "user");
  if (typeof call_id !== "string" || content === null) {
    return malformed("a function_call_output needs a call_id and an output of text or blocks");
  }
  return { role: "tool", tool_call_id: call_id, content };
}

function reasoningText({ summary, encrypted_content }: Record<string, unknown>): string {
  const texts = Array.isArray(summary) ? summary.map((part) => (isRecord(part) ? String(part["text"] ?? "") : "")) : [];
  return texts.join("\n") || String(encrypted_content ?? "thought");
}

function joined(first: OpenAiMessage, second: OpenAiMessage): OpenAiMessage {
  const content = [...blocks(first), ...blocks(second)];
  const calls = [...(first.tool_calls ?? []), ...(second.tool_calls ?? [])];
  const thoughts = [first.reasoning_content, second.reasoning_content].filter((text) => text != null).join("\n");
  return {
    role: "assistant",
    content: content.length === 0 ? null : content,
    ...(thoughts !== "" && { reasoning_content: thoughts }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function blocks({ content }: OpenAiMessage): readonly OpenAiBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content ?? [];
}
