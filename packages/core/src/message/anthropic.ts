/**
 * The shape of Anthropic messages. The types are structural: fields they don't name travel along untouched. The API takes
 * the system prompt apart from the messages; here it is a leading `system` message, which adapters lift out again.
 */
import type { DialectDefinition } from "./dialects.ts";
import { anthropicRules } from "./rules.ts";
import {
  blocksOf,
  type Check,
  contentFrom,
  editingBlocks,
  fields,
  file,
  image,
  inputObject,
  inputText,
  joinContent,
  list,
  markedBlock,
  messageCheck,
  optional,
  other,
  result,
  resultOf,
  sameContent,
  strangeBlock,
  string,
  text,
  textOr,
  thought,
  typed,
} from "./schema.ts";
import type { FilePart, ImagePart, Part, ResultPart, Role, Shape } from "./shape.ts";

export interface AnthropicMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string | readonly AnthropicBlock[];
}

type Marked = { readonly cache_control?: unknown };

export type AnthropicBlock = Marked &
  (
    | { readonly type: "text"; readonly text: string }
    | { readonly type: "image"; readonly source: AnthropicSource }
    | { readonly type: "document"; readonly source: AnthropicSource; readonly title?: string | null }
    | { readonly type: "thinking"; readonly thinking: string; readonly signature?: string }
    | { readonly type: "redacted_thinking"; readonly data: string }
    | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: unknown }
    | {
        readonly type: "tool_result";
        readonly tool_use_id: string;
        readonly content?: string | readonly AnthropicBlock[];
        readonly is_error?: boolean;
      }
  );

type AnthropicSource =
  | { readonly type: "base64"; readonly media_type: string; readonly data: string }
  | { readonly type: "text"; readonly media_type: string; readonly data: string }
  | { readonly type: "url"; readonly url: string }
  | { readonly type: "file"; readonly file_id: string }
  | { readonly type: "content"; readonly content: string | readonly AnthropicBlock[] };

export const anthropicShape: Shape<AnthropicMessage> = {
  dialect: "anthropic",
  role,
  wireRole: (message) => message.role,
  ...editingBlocks({ parts, blocks: (message) => blocks(message), edit }),
  make,
  turn: (role, content) => ({ role, content }),
  results: (answers) => make("tool", answers.map(result)),
  join: (first, second) => ({ ...first, content: joinContent(first.content, second.content, textBlock) }),
};

function role(message: AnthropicMessage): Role {
  const answers = message.role === "user" && blocks(message).some((block) => block.type === "tool_result");
  return answers ? "tool" : message.role;
}

function parts(message: AnthropicMessage): readonly Part[] {
  return blocks(message).map((block) => view(block, message.role));
}

const blocks = (message: AnthropicMessage): readonly AnthropicBlock[] => blocksOf(message.content, textBlock);

const textBlock = (value: string): AnthropicBlock => ({ type: "text", text: value });

/** A call in a user message, or a result in an assistant's, can't be paired: it is kept as it is. */
function view(block: AnthropicBlock, role: AnthropicMessage["role"]): Part {
  switch (block.type) {
    case "text":
      return text(block.text);
    case "thinking":
      return thought(block.thinking, { signature: block.signature ?? null, signedBy: "anthropic" });
    case "redacted_thinking":
      return thought("", { signature: block.data, signedBy: "anthropic", redacted: true });
    case "tool_use":
      if (role !== "assistant") return other(block);
      return { kind: "call", id: block.id, name: block.name, input: inputText(block.input) };
    case "tool_result":
      return role === "user" ? viewResult(block) : other(block);
    case "image":
    case "document":
      return viewSource(block) ?? other(block);
    default:
      return other(block);
  }
}

function viewResult(block: AnthropicBlock & { type: "tool_result" }): ResultPart {
  const inside = blocksOf(block.content ?? "", textBlock).map((inner) => view(inner, "user"));
  return resultOf(inside, { id: block.tool_use_id, isError: block.is_error === true });
}

function viewSource(block: AnthropicBlock & { type: "image" | "document" }): Part | null {
  const { source } = block;
  const name = block.type === "document" ? (block.title ?? null) : null;
  switch (source.type) {
    case "base64":
      if (block.type === "image") return image(source.media_type, { data: source.data });
      return file({ mediaType: source.media_type, name, data: source.data });
    case "url":
      return block.type === "image" ? image(null, { url: source.url }) : file({ name, ref: source.url });
    case "text":
      return file({ mediaType: source.media_type, name, data: source.data, encoding: "text" });
    case "file":
      return file({ mediaType: block.type === "image" ? "image" : null, name, ref: source.file_id });
    default:
      return null;
  }
}

/** Replaces what the part says and keeps the block's marks. */
function edit(block: AnthropicBlock, part: Part): AnthropicBlock {
  if (part.kind === "other") return block;
  if (part.kind === "result" && block.type === "tool_result" && sameContent(part, viewResult(block))) {
    return { ...block, tool_use_id: part.id };
  }
  const written = write(part);
  if (written.type === block.type) return { ...block, ...written } as AnthropicBlock;
  return block.cache_control === undefined ? written : { ...written, cache_control: block.cache_control };
}

function write(part: Part): AnthropicBlock {
  switch (part.kind) {
    case "text":
      return textBlock(part.text);
    case "reasoning":
      if (part.redacted && part.signature !== null) return { type: "redacted_thinking", data: part.signature };
      return { type: "thinking", thinking: part.text, signature: part.signature ?? "" };
    case "call":
      return { type: "tool_use", id: part.id, name: part.name, input: inputObject(part.input) };
    case "result":
      return writeResult(part);
    case "image":
      return { type: "image", source: writeImage(part) };
    case "file":
      return writeFile(part);
    case "other":
      return textBlock(part.json);
  }
}

const writeResult = (part: ResultPart): AnthropicBlock => ({
  type: "tool_result",
  tool_use_id: part.id,
  content:
    part.images.length === 0
      ? part.text
      : [...blocksOf(part.text, textBlock), ...part.images.map((image) => write(image))],
  ...(part.isError && { is_error: true }),
});

const writeImage = ({ source, mediaType }: ImagePart): AnthropicSource =>
  source.kind === "url"
    ? { type: "url", url: source.url }
    : { type: "base64", media_type: mediaType ?? "image/png", data: source.data };

function writeFile(part: FilePart): AnthropicBlock {
  const title = part.name === null ? {} : { title: part.name };
  const media_type = part.mediaType ?? "application/pdf";
  if (part.data !== "") {
    const type = part.encoding;
    return { type: "document", source: { type, media_type, data: part.data }, ...title };
  }
  const ref = part.ref ?? "";
  const source: AnthropicSource = /^https?:/.test(ref) ? { type: "url", url: ref } : { type: "file", file_id: ref };
  return part.mediaType?.startsWith("image") ? { type: "image", source } : { type: "document", source, ...title };
}

/** Results come first in their message: the API refuses them after anything else. */
function make(role: Role, parts: readonly Part[]): readonly AnthropicMessage[] {
  const ordered = [
    ...parts.filter((part) => part.kind === "result"),
    ...parts.filter((part) => part.kind !== "result"),
  ];
  return [{ role: role === "tool" ? "user" : role, content: contentFrom(ordered, write) }];
}

/* What Anthropic's messages hold, how they are recognized and what their API accepts. */

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
