/** What the items of OpenAI's Responses API hold, how they are recognized and what the API accepts. */
import { isRecord } from "../../text/is-record.ts";
import type { DialectDefinition, MessageProblem } from "../dialect.ts";
import { openaiResponsesRules } from "../rules.ts";
import {
  type Check,
  type Fields,
  fields,
  list,
  markedBlock,
  messageCheck,
  notAnObject,
  optional,
  strangeBlock,
  string,
  textOr,
  typed,
} from "../schema.ts";
import { type ResponsesMessage, responsesShape, together } from "./shape.ts";

const TEXTS = ["input_text", "output_text", "text", "refusal", "input_image", "input_file", "input_audio"];

const block = typed({
  input_text: fields({ text: string }),
  output_text: fields({ text: string }),
  text: fields({ text: string }),
  refusal: fields({ refusal: string }),
  input_image: fields({ image_url: optional(string), file_id: optional(string) }),
  input_file: fields({ filename: optional(string), file_data: optional(string) }),
});

const message = messageCheck({
  name: "openai-responses",
  roles: ["system", "developer", "user", "assistant"],
  block,
});

const told = optional(list(fields({ text: optional(string) })));
const output = optional(textOr(list(block)));

const ITEMS: Readonly<Record<string, Check>> = {
  function_call: fields({ call_id: string, name: string, arguments: string }),
  custom_tool_call: fields({ call_id: string, name: string, input: string }),
  function_call_output: fields({ call_id: string, output }),
  custom_tool_call_output: fields({ call_id: string, output }),
  reasoning: fields({ summary: told, content: told, encrypted_content: optional(string) }),
};

/** Items that the API runs itself, or that steer it. */
const CARRIED = [
  "*_call",
  "*_call_output",
  "mcp_list_tools",
  "mcp_approval_request",
  "mcp_approval_response",
  "item_reference",
  "compaction",
  "compaction_summary",
  "compaction_trigger",
];

function check(value: unknown): MessageProblem | null {
  if (!Array.isArray(value)) return checkItem(value);
  if (value.length === 0) return { problem: "bad-content", detail: "the turn has no item" };
  for (const item of value) {
    const problem = checkItem(item);
    if (problem !== null) return problem;
  }
  return null;
}

function checkItem(value: unknown): MessageProblem | null {
  if (!isRecord(value)) return notAnObject(value);
  const type = value["type"] ?? "message";
  if (type === "message") return message(value);
  if (typeof type !== "string") return { problem: "unknown-role", detail: "type is not a string" };
  const wrong = Object.hasOwn(ITEMS, type) ? ITEMS[type]!(value, "") : null;
  return wrong === null ? null : { problem: "bad-field", detail: wrong };
}

const OWN_BLOCKS = ["input_text", "output_text", "input_image", "input_file"];

function mark(value: Fields): string | null {
  const { type, role, content } = value;
  if (typeof type === "string" && isItem(type)) return `the type ${type}`;
  if (type === "message" && typeof role === "string") return "the type message";
  return role === undefined ? null : markedBlock(content, (one) => OWN_BLOCKS.includes(String(one["type"])));
}

const KNOWN = [...Object.keys(ITEMS), ...CARRIED];

const isItem = (type: string): boolean =>
  type !== "tool_call" && strangeBlock([{ type }], { name: "", types: KNOWN }) === null;

function unknownBlock(value: Fields): string | null {
  for (const item of Array.isArray(value) ? value : [value]) {
    const { type = "message", content } = item as Fields;
    const name = "openai-responses";
    const strange =
      type === "message"
        ? strangeBlock(content, { name, types: TEXTS })
        : isItem(String(type))
          ? null
          : `the item has the unknown type "${String(type)}"; ${name} knows message, ${KNOWN.join(", ")}`;
    if (strange !== null) return strange;
  }
  return null;
}

export const openaiResponses: DialectDefinition<ResponsesMessage> = {
  shape: responsesShape,
  rules: openaiResponsesRules,
  check,
  mark,
  unknownBlock,
  model: "gpt-4o",
  carries: (signer) => signer === "openai",
  together,
  resultsIn: "tool",
  control: ["item_reference", "compaction_trigger", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response"],
};
