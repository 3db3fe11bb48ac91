/**
 * Decides whose messages a parsed file holds, from marks that only one provider uses. Plain text messages look the same
 * everywhere; they count as OpenAI's.
 */
import type { Dialect } from "./shape.ts";

export interface Detection {
  readonly dialect: Dialect;
  /** What decided, for the person who imports the file. */
  readonly reason: string;
}

/** The dialect with the most marked messages; values that aren't messages are passed over. */
export function detectDialect(messages: Iterable<unknown>): Detection {
  const votes = new Map<Dialect, { count: number; reason: string }>();
  let index = 0;
  for (const message of messages) {
    const mark = isRecord(message) ? markOf(message) : null;
    if (mark !== null) {
      const before = votes.get(mark.dialect);
      const reason = before?.reason ?? `message ${index} has ${mark.what}`;
      votes.set(mark.dialect, { count: (before?.count ?? 0) + 1, reason });
    }
    index++;
  }
  const [winner] = [...votes].sort(([, a], [, b]) => b.count - a.count);
  if (winner === undefined) return { dialect: "openai", reason: "plain text only, which OpenAI's format covers" };
  return { dialect: winner[0], reason: winner[1].reason };
}

interface Mark {
  readonly dialect: Dialect;
  readonly what: string;
}

type Record_ = Readonly<Record<string, unknown>>;

function markOf(message: Record_): Mark | null {
  for (const field of ["tool_calls", "tool_call_id", "function_call", "reasoning_content", "refusal"]) {
    if (message[field] != null) return { dialect: "openai", what: `the field ${field}` };
  }
  if (message["role"] === "developer" || message["role"] === "function") {
    return { dialect: "openai", what: `the role ${message["role"]}` };
  }
  if (message["providerOptions"] != null) return { dialect: "ai-sdk", what: "the field providerOptions" };
  const content = message["content"];
  for (const block of Array.isArray(content) ? content : []) {
    const dialect = isRecord(block) ? blockDialect(block) : null;
    if (dialect !== null) return { dialect, what: `a block of type ${String(block.type)}` };
  }
  return null;
}

const TYPES: Readonly<Record<string, Dialect>> = {
  image_url: "openai",
  input_audio: "openai",
  refusal: "openai",
  tool_use: "anthropic",
  tool_result: "anthropic",
  thinking: "anthropic",
  redacted_thinking: "anthropic",
  document: "anthropic",
  server_tool_use: "anthropic",
  "tool-call": "ai-sdk",
  "tool-result": "ai-sdk",
  "tool-approval-request": "ai-sdk",
  "tool-approval-response": "ai-sdk",
  reasoning: "ai-sdk",
  "reasoning-file": "ai-sdk",
};

function blockDialect(block: Record_): Dialect | null {
  if (block["cache_control"] != null) return "anthropic";
  if (block["providerOptions"] != null || block["mediaType"] != null) return "ai-sdk";
  if (block["type"] === "image") return block["source"] != null ? "anthropic" : "ai-sdk";
  if (block["type"] === "file") return block["file"] != null ? "openai" : "ai-sdk";
  return TYPES[String(block["type"])] ?? null;
}

const isRecord = (value: unknown): value is Record_ => typeof value === "object" && value !== null;
