/**
 * The boundary for messages from outside: checks a parsed JSON value far enough that the dialect's shape can read it, and
 * names the first thing wrong. Blocks and fields we don't know are welcome: they are carried as they are.
 */

import type { MessageOf } from "./dialects.ts";
import { BLOCK, expected, fields, isRecord, list, nameOf, optional, string } from "./schema.ts";
import type { Dialect } from "./shape.ts";

export type ReadResult<M> =
  | { readonly kind: "message"; readonly message: M }
  | {
      readonly kind: "problem";
      readonly problem: "not-an-object" | "unknown-role" | "bad-content" | "bad-block" | "bad-field";
      /** A sentence that says where, and what was expected. */
      readonly detail: string;
    };

export function readMessage<D extends Dialect>(dialect: D, value: unknown): ReadResult<MessageOf[D]> {
  if (!isRecord(value)) return problem("not-an-object", `the message is ${nameOf(value)}, not an object`);
  const { role, content } = value;
  const roles = ROLES[dialect];
  if (typeof role !== "string" || !roles.includes(role)) {
    const found = typeof role === "string" ? JSON.stringify(role.slice(0, 40)) : nameOf(role);
    return problem("unknown-role", `role is ${found}; ${dialect} messages have ${roles.join(", ")}`);
  }
  const wanted = contentOf(dialect, role);
  const isWanted = (wanted.text && typeof content === "string") || (wanted.list && Array.isArray(content));
  if (!isWanted && !(content == null && dialect === "openai")) {
    return problem(
      "bad-content",
      expected(wanted.text ? "text or a list of blocks" : "a list of blocks", content, "content"),
    );
  }
  const badBlock = Array.isArray(content) ? list(BLOCK[dialect])(content, "content") : null;
  if (badBlock !== null) return problem("bad-block", badBlock);
  const badField = dialect === "openai" ? openaiFields(role)(value, "") : null;
  if (badField !== null) return problem("bad-field", badField);
  return { kind: "message", message: value as unknown as MessageOf[D] }; // every field that a shape reads is checked
}

type Problem = Extract<ReadResult<never>, { kind: "problem" }>;

const problem = (name: Problem["problem"], detail: string): Problem => ({ kind: "problem", problem: name, detail });

const ROLES: Readonly<Record<Dialect, readonly string[]>> = {
  openai: ["system", "developer", "user", "assistant", "tool", "function"],
  anthropic: ["system", "user", "assistant"],
  "ai-sdk": ["system", "user", "assistant", "tool"],
};

function contentOf(dialect: Dialect, role: string): { text: boolean; list: boolean } {
  return { text: dialect !== "ai-sdk" || role !== "tool", list: dialect !== "ai-sdk" || role !== "system" };
}

const called = fields({ name: string, arguments: string });

const openaiFields = (role: string) =>
  fields({
    tool_calls: optional(list(fields({ id: string, function: called }))),
    tool_call_id: role === "tool" ? string : optional(string),
    function_call: optional(called),
    name: role === "function" ? string : optional(string),
    reasoning_content: optional(string),
    refusal: optional(string),
  });
