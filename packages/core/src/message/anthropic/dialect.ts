/** What Anthropic's messages hold, how they are recognized and what their API accepts. */
import type { DialectDefinition } from "../dialect.ts";
import { anthropicRules } from "../rules.ts";
import {
  type Check,
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
import { type AnthropicMessage, anthropicShape } from "./shape.ts";

const source = typed({
  base64: fields({ media_type: string, data: string }),
  text: fields({ media_type: string, data: string }),
  url: fields({ url: string }),
  file: fields({ file_id: string }),
});

const block: Check = typed({
  text: fields({ text: string }),
  image: fields({ source }),
  document: fields({ source, title: optional(string) }),
  thinking: fields({ thinking: string, signature: optional(string) }),
  redacted_thinking: fields({ data: string }),
  tool_use: fields({ id: string, name: string }),
  tool_result: fields({
    tool_use_id: string,
    content: optional(textOr(list((value, at) => block(value, at)))),
  }),
});

const OWN_BLOCKS = ["document", "tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"];

/** Its own tools' results are named after the tool, and there are new tools all the time. */
const TYPES = [
  "text",
  "image",
  ...OWN_BLOCKS,
  "mcp_tool_use",
  "search_result",
  "container_upload",
  "compaction",
  "*_tool_result",
];

export const anthropic: DialectDefinition<AnthropicMessage> = {
  shape: anthropicShape,
  rules: anthropicRules,
  check: messageCheck({ name: "anthropic", roles: ["system", "user", "assistant"], block }),
  mark: ({ role, content }) =>
    typeof role !== "string"
      ? null
      : markedBlock(content, (block) => {
          const type = String(block["type"]);
          const isImage = type === "image" && block["source"] != null;
          return block["cache_control"] != null || isImage || OWN_BLOCKS.includes(type);
        }),
  unknownBlock: ({ content }) => strangeBlock(content, { name: "anthropic", types: TYPES }),
  model: "claude",
  carries: (signer) => signer === "anthropic",
  resultsIn: "user",
  control: [],
};
