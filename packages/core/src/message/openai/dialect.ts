/** What OpenAI's chat messages hold, how they are recognized and what their API accepts. */
import type { DialectDefinition } from "../dialect.ts";
import { openaiRules } from "../rules.ts";
import {
  type Fields,
  fields,
  list,
  markedBlock,
  messageCheck,
  optional,
  strangeBlock,
  string,
  typed,
} from "../schema.ts";
import { type OpenAiMessage, openaiShape } from "./shape.ts";

const called = fields({ name: string, arguments: string });

const check = messageCheck({
  name: "openai",
  roles: ["system", "developer", "user", "assistant", "tool", "function"],
  block: typed({
    text: fields({ text: string }),
    refusal: fields({ refusal: string }),
    image_url: fields({ image_url: fields({ url: string }) }),
    input_audio: fields({ input_audio: fields({ data: string, format: string }) }),
    file: fields({
      file: fields({ file_data: optional(string), file_id: optional(string), filename: optional(string) }),
    }),
  }),
  speaksWithout: (value) => value["role"] === "assistant" && ANSWERS.some((field) => !isEmpty(value[field])),
  fields: (role) =>
    fields({
      tool_calls: optional(list(fields({ id: string, function: called }))),
      tool_call_id: role === "tool" ? string : optional(string),
      function_call: optional(called),
      name: role === "function" ? string : optional(string),
      reasoning_content: optional(string),
      refusal: optional(string),
    }),
});

/** What an assistant can say without content. */
const ANSWERS = ["tool_calls", "function_call", "reasoning_content", "refusal", "audio"];

const isEmpty = (value: unknown): boolean =>
  value == null || value === "" || (Array.isArray(value) && value.length === 0);

const OWN_FIELDS = ["tool_calls", "tool_call_id", "function_call", "reasoning_content", "refusal"];
const OWN_BLOCKS = ["image_url", "input_audio", "refusal"];

function mark(value: Fields): string | null {
  const { role, content } = value;
  if (typeof role !== "string") return null;
  const field = OWN_FIELDS.find((name) => value[name] != null);
  if (field !== undefined) return `the field ${field}`;
  if (role === "developer" || role === "function") return `the role ${role}`;
  return markedBlock(
    content,
    (block) => OWN_BLOCKS.includes(String(block["type"])) || (block["type"] === "file" && block["file"] != null),
  );
}

export const openai: DialectDefinition<OpenAiMessage> = {
  shape: openaiShape,
  rules: openaiRules,
  check,
  mark,
  unknownBlock: ({ content }) => strangeBlock(content, { name: "openai", types: ["text", "file", ...OWN_BLOCKS] }),
  model: "gpt-4o",
  carries: () => false,
  resultsIn: "tool",
  control: [],
};
