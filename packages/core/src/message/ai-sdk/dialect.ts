/** What the AI SDK's model messages hold, how they are recognized and what suits every provider behind it. */
import type { DialectDefinition } from "../dialect.ts";
import { googleRules } from "../rules.ts";
import {
  type Fields,
  fields,
  list,
  markedBlock,
  messageCheck,
  optional,
  strangeBlock,
  string,
  textOr,
  typed,
} from "../schema.ts";
import { type AiSdkMessage, aiSdkShape } from "./shape.ts";

const data = textOr(
  typed({
    data: fields({ data: string }),
    url: fields({ url: string }),
    text: fields({ text: string }),
    reference: fields({ reference: fields({}) }),
  }),
);

const file = fields({ data, mediaType: string, filename: optional(string) });

const output = typed({
  text: fields({ value: string }),
  "error-text": fields({ value: string }),
  "execution-denied": fields({ reason: optional(string) }),
  content: fields({
    value: list(
      typed({
        text: fields({ text: string }),
        file,
        media: fields({ data: string, mediaType: string }),
        "file-data": fields({ data: string, mediaType: string }),
        "image-data": fields({ data: string, mediaType: string }),
        "file-url": fields({ url: string, mediaType: optional(string) }),
        "image-url": fields({ url: string, mediaType: optional(string) }),
      }),
    ),
  }),
});

const check = messageCheck({
  name: "ai-sdk",
  roles: ["system", "user", "assistant", "tool"],
  block: typed({
    text: fields({ text: string }),
    image: fields({ image: data, mediaType: optional(string) }),
    file,
    reasoning: fields({ text: string }),
    "tool-call": fields({ toolCallId: string, toolName: string }),
    "tool-result": fields({ toolCallId: string, toolName: string, output }),
  }),
  content: (role) => (role === "tool" ? "list" : role === "system" ? "text" : "either"),
});

const OWN_BLOCKS = [
  "reasoning",
  "reasoning-file",
  "tool-call",
  "tool-result",
  "tool-approval-request",
  "tool-approval-response",
];

function mark({ role, content, providerOptions }: Fields): string | null {
  if (typeof role !== "string") return null;
  if (providerOptions != null) return "the field providerOptions";
  return markedBlock(content, (block) => {
    const type = String(block["type"]);
    const isFile = (type === "image" && block["source"] == null) || (type === "file" && block["file"] == null);
    return block["providerOptions"] != null || block["mediaType"] != null || isFile || OWN_BLOCKS.includes(type);
  });
}

export const aiSdk: DialectDefinition<AiSdkMessage> = {
  shape: aiSdkShape,
  // The SDK speaks to any provider: the order must suit the strictest, but its adapters drop foreign reasoning themselves.
  rules: googleRules,
  check,
  mark,
  unknownBlock: ({ content }) =>
    strangeBlock(content, { name: "ai-sdk", types: ["text", "image", "file", "custom", ...OWN_BLOCKS] }),
  model: "gpt-4o",
  carries: () => true,
  resultsIn: "tool",
  control: ["tool-approval-request", "tool-approval-response", "custom"],
};
