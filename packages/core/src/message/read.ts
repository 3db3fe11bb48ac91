/**
 * The boundary for messages from outside: checks a parsed JSON value far enough that the dialect's shape can read it, and
 * names the first thing wrong. Blocks and fields we don't know are welcome: they are carried as they are.
 */
import type { Dialect } from "./shape.ts";
import type { MessageOf } from "./shapes.ts";

export type ReadResult<M> =
  | { readonly kind: "message"; readonly message: M }
  | {
      readonly kind: "problem";
      readonly problem: "not-an-object" | "unknown-role" | "bad-content" | "bad-block" | "bad-call";
      /** A sentence that says where and what was expected. */
      readonly detail: string;
    };

export function readMessage<D extends Dialect>(dialect: D, value: unknown): ReadResult<MessageOf[D]> {
  if (!isRecord(value)) return problem("not-an-object", `a message is a JSON object, not ${nameOf(value)}`);
  const role = value["role"];
  const roles = ROLES[dialect];
  if (typeof role !== "string" || !roles.includes(role)) {
    return problem("unknown-role", `role is ${quote(role)}; ${dialect} knows ${roles.join(", ")}`);
  }
  return contentProblem(dialect, role, value) ?? callsProblem(dialect, value) ?? accept(value);
}

const ROLES: Readonly<Record<Dialect, readonly string[]>> = {
  openai: ["system", "developer", "user", "assistant", "tool", "function"],
  anthropic: ["system", "user", "assistant"],
  "ai-sdk": ["system", "user", "assistant", "tool"],
};

type Problem = Extract<ReadResult<never>, { kind: "problem" }>;

const problem = (name: Problem["problem"], detail: string): Problem => ({ kind: "problem", problem: name, detail });

/** Every field that a shape reads has been checked by now. */
const accept = <M>(value: object): ReadResult<M> => ({ kind: "message", message: value as M });

function contentProblem(dialect: Dialect, role: string, message: Json): Problem | null {
  const content = message["content"];
  if (typeof content === "string" && !(dialect === "ai-sdk" && role === "tool")) return null;
  if (content == null && dialect === "openai") return null;
  if (!Array.isArray(content) || (dialect === "ai-sdk" && role === "system")) {
    return problem("bad-content", `content is ${nameOf(content)}; a ${role} message has text or a list of blocks`);
  }
  return blocksProblem(dialect, content, "content");
}

function blocksProblem(dialect: Dialect, blocks: readonly unknown[], path: string): Problem | null {
  for (const [index, block] of blocks.entries()) {
    const at = `${path}[${index}]`;
    if (!isRecord(block) || typeof block["type"] !== "string") {
      return problem("bad-block", `${at} is ${nameOf(block)}; a block is an object with a type`);
    }
    const missing = missingIn(block, FIELDS[dialect][block["type"]] ?? []);
    if (missing !== null) return problem("bad-block", `${at} (${block["type"]}) lacks ${missing}`);
    const inner = innerBlocks(dialect, block);
    const nested = inner === null ? null : blocksProblem(dialect, inner, `${at}.content`);
    if (nested !== null) return nested;
  }
  return null;
}

/** Fields that must be there as strings; `{name}` must be an object, and a dot looks inside it. */
const FIELDS: Readonly<Record<Dialect, Readonly<Record<string, readonly string[]>>>> = {
  openai: {
    text: ["text"],
    refusal: ["refusal"],
    image_url: ["image_url.url"],
    input_audio: ["input_audio.data", "input_audio.format"],
    file: ["{file}"],
  },
  anthropic: {
    text: ["text"],
    image: ["source.type"],
    document: ["source.type"],
    thinking: ["thinking"],
    redacted_thinking: ["data"],
    tool_use: ["id", "name"],
    tool_result: ["tool_use_id"],
  },
  "ai-sdk": {
    text: ["text"],
    reasoning: ["text"],
    file: ["mediaType"],
    "tool-call": ["toolCallId", "toolName"],
    "tool-result": ["toolCallId", "toolName", "output.type"],
  },
};

function missingIn(block: Json, fields: readonly string[]): string | null {
  for (const field of fields) {
    const isObject = field.startsWith("{");
    const path = isObject ? field.slice(1, -1) : field;
    const value = path.split(".").reduce<unknown>((inside, key) => (isRecord(inside) ? inside[key] : undefined), block);
    if (isObject ? !isRecord(value) : typeof value !== "string")
      return `${path} (${isObject ? "an object" : "a string"})`;
  }
  return null;
}

function innerBlocks(dialect: Dialect, block: Json): readonly unknown[] | null {
  if (dialect === "anthropic" && block["type"] === "tool_result") {
    const content = block["content"];
    return Array.isArray(content) ? content : null;
  }
  return null;
}

function callsProblem(dialect: Dialect, message: Json): Problem | null {
  if (dialect !== "openai") return null;
  if (message["role"] === "tool" && typeof message["tool_call_id"] !== "string") {
    return problem("bad-call", "a tool message needs tool_call_id (a string)");
  }
  const calls = message["tool_calls"] ?? [];
  if (!Array.isArray(calls)) return problem("bad-call", `tool_calls is ${nameOf(calls)}, not a list`);
  for (const [index, call] of calls.entries()) {
    const missing = isRecord(call) ? missingIn(call, ["id", "function.name", "function.arguments"]) : "everything";
    if (missing !== null) return problem("bad-call", `tool_calls[${index}] lacks ${missing}`);
  }
  const legacy = message["function_call"];
  const missing = isRecord(legacy) ? missingIn(legacy, ["name", "arguments"]) : null;
  return missing === null ? null : problem("bad-call", `function_call lacks ${missing}`);
}

type Json = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const nameOf = (value: unknown): string =>
  value === null ? "null" : value === undefined ? "missing" : Array.isArray(value) ? "a list" : `a ${typeof value}`;

const quote = (value: unknown): string =>
  typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : nameOf(value);
