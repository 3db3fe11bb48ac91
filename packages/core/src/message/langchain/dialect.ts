/** What LangChain's messages hold, how they are recognized and what suits every provider behind it. */
import { isRecord } from "../../text/is-record.ts";
import type { DialectDefinition, MessageProblem } from "../dialect.ts";
import { googleRules } from "../rules.ts";
import {
  expected,
  type Fields,
  fields,
  list,
  notAnObject,
  optional,
  strangeBlock,
  string,
  textOr,
  typed,
} from "../schema.ts";
import { REPEATS } from "./blocks.ts";
import { fieldsOf, type LangChainMessage, typeOf } from "./forms.ts";
import { langchainShape } from "./shape.ts";

const TYPES = ["human", "ai", "system", "tool", "function", "chat", "generic", "developer"];

const block = textOr(
  typed({
    text: fields({ text: string }),
    input_text: fields({ text: string }),
    output_text: fields({ text: string }),
    refusal: fields({ refusal: string }),
    thinking: fields({ thinking: string, signature: optional(string) }),
    redacted_thinking: fields({ data: string }),
    reasoning: fields({ reasoning: optional(string) }),
  }),
);

const calls = list(fields({ name: optional(string), id: optional(string) }));

function check(value: unknown): MessageProblem | null {
  if (!isRecord(value)) return notAnObject(value);
  const type = typeOf(value);
  if (!TYPES.includes(type)) {
    return {
      problem: "unknown-role",
      detail: `type is ${JSON.stringify(type.slice(0, 40))}; langchain messages have ${TYPES.join(", ")}`,
    };
  }
  const messageFields = fieldsOf(value);
  const { content } = messageFields;
  if (typeof content !== "string" && !Array.isArray(content) && !(content == null && hasCalls(messageFields))) {
    return { problem: "bad-content", detail: expected("text or a list of blocks", content, "content") };
  }
  const badBlock = Array.isArray(content) ? list(block)(content, "content") : null;
  if (badBlock !== null) return { problem: "bad-block", detail: badBlock };
  const badField =
    HELD(messageFields, "") ?? (type === "tool" ? fields({ tool_call_id: string })(messageFields, "") : null);
  return badField === null ? null : { problem: "bad-field", detail: badField };
}

const HELD = fields({
  tool_calls: optional(calls),
  invalid_tool_calls: optional(calls),
  additional_kwargs: optional(
    fields({
      tool_calls: optional(
        list(fields({ id: optional(string), function: fields({ name: string, arguments: string }) })),
      ),
    }),
  ),
});

const hasCalls = ({ tool_calls, additional_kwargs }: Fields): boolean =>
  (Array.isArray(tool_calls) && tool_calls.length > 0) ||
  (isRecord(additional_kwargs) && (additional_kwargs["tool_calls"] ?? additional_kwargs["function_call"]) != null);

function mark(value: Fields): string | null {
  if (typeof value["role"] === "string" && value["type"] === undefined) return null;
  if (typeof value["lc"] === "number" && Array.isArray(value["id"])) return "the field lc";
  const messageFields = fieldsOf(value);
  return TYPES.includes(typeOf(value)) && "content" in messageFields ? `the type ${typeOf(value)}` : null;
}

const KNOWN = [
  "text",
  "input_text",
  "output_text",
  "refusal",
  "thinking",
  "redacted_thinking",
  "reasoning",
  "image",
  "image_url",
  "audio",
  "input_audio",
  "video",
  "file",
  "document",
  "media",
  "text-plain",
  ...REPEATS,
  "*_call",
  "*_call_result",
  "*tool_result",
  "server_tool_use",
  "executable_code",
  "executableCode",
  "code_execution_result",
  "codeExecutionResult",
  "non_standard",
];

export const langchain: DialectDefinition<LangChainMessage> = {
  shape: langchainShape,
  // LangChain speaks to any provider: the order must suit the strictest.
  rules: googleRules,
  check,
  mark,
  unknownBlock(value) {
    const { content } = fieldsOf(value);
    const blocks = Array.isArray(content)
      ? content.map((one) => (typeof one === "string" ? { type: "text" } : one))
      : [];
    return strangeBlock(blocks, { name: "langchain", types: KNOWN });
  },
  model: "gpt-4o",
  carries: (signer) => signer === "anthropic",
  resultsIn: "tool",
  control: [],
};
