/**
 * The shape of OpenAI chat completions messages, and of the many servers that speak the same. The types are structural:
 * fields they don't name travel along untouched. Parts stand in this order: reasoning, content, refusal, calls.
 */
import type { DialectDefinition } from "./dialects.ts";
import { openaiRules } from "./rules.ts";
import {
  blocksOf,
  editingSlots,
  type Fields,
  fields,
  file,
  image,
  imageUrl,
  joinContent,
  list,
  markedBlock,
  media,
  messageCheck,
  optional,
  other,
  result,
  resultOf,
  sameContent,
  strangeBlock,
  string,
  text,
  thought,
  typed,
} from "./schema.ts";
import type { CallPart, FilePart, Part, ReasoningPart, ResultPart, Role, Shape, TextPart } from "./shape.ts";

export interface OpenAiMessage {
  readonly role: "system" | "developer" | "user" | "assistant" | "tool" | "function";
  readonly content?: string | readonly OpenAiBlock[] | null;
  readonly name?: string;
  readonly tool_calls?: readonly OpenAiCall[] | null;
  readonly tool_call_id?: string;
  readonly refusal?: string | null;
  /** Thinking, as DeepSeek, vLLM and others return it. */
  readonly reasoning_content?: string | null;
  /** The calling convention before tools: one call, answered by a `function` message of the same name. */
  readonly function_call?: { readonly name: string; readonly arguments: string } | null;
}

export interface OpenAiCall {
  readonly id: string;
  readonly type?: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

export const openaiShape: Shape<OpenAiMessage> = {
  dialect: "openai",
  role,
  wireRole: role,
  ...editingSlots({ slots, edit, rebuild }),
  make,
  turn: (role, content) => ({ role, content }),
  results: (answers) => answers.map((answer) => resultMessage(result(answer))),
  join(first, second) {
    if (role(first) === "tool") throw new TypeError("OpenAI wants each tool result in a message of its own.");
    const content = joinContent(contentOf(first), contentOf(second), textBlock);
    return { ...rebuild({ ...second, ...first }, [...slots(first), ...slots(second)]), content: content || null };
  },
};

function role(message: OpenAiMessage): Role {
  if (message.role === "developer") return "system";
  return message.role === "function" ? "tool" : message.role;
}

/** A part and the piece of the message it was read from: a message can be put together again from any of them. */
type OpenAiSlot =
  | { readonly at: "reasoning"; readonly part: ReasoningPart }
  | { readonly at: "content"; readonly part: Part; readonly block: OpenAiBlock }
  | { readonly at: "refusal"; readonly part: TextPart }
  | { readonly at: "call"; readonly part: CallPart; readonly call: OpenAiCall }
  | { readonly at: "result"; readonly part: ResultPart };

function slots(message: OpenAiMessage): readonly OpenAiSlot[] {
  if (role(message) === "tool") return [{ at: "result", part: viewResult(message) }];
  const messageSlots: OpenAiSlot[] = [];
  if (message.reasoning_content) messageSlots.push({ at: "reasoning", part: thought(message.reasoning_content) });
  for (const block of blocksOf(contentOf(message), textBlock)) {
    messageSlots.push({ at: "content", part: viewBlock(block), block });
  }
  if (message.refusal) messageSlots.push({ at: "refusal", part: text(message.refusal) });
  if (role(message) !== "assistant") return messageSlots;
  for (const call of callsOf(message)) messageSlots.push({ at: "call", part: viewCall(call), call });
  return messageSlots;
}

/** Sets the fields that the slots were read from; all others, and those that stay empty, are left as they were given. */
function rebuild(message: OpenAiMessage, chosen: readonly OpenAiSlot[]): OpenAiMessage {
  if (role(message) === "tool") return rebuildResult(message, chosen);
  const at = <K extends OpenAiSlot["at"]>(place: K) =>
    chosen.filter((slot): slot is OpenAiSlot & { at: K } => slot.at === place);
  const calls = at("call").map((slot) => slot.call);
  const legacy = calls.length === 1 && calls[0]!.id === functionId(message.function_call?.name ?? "");
  const fields: Readonly<Record<string, unknown>> = {
    reasoning_content: at("reasoning")
      .map((slot) => slot.part.text)
      .join("\n\n"),
    content: rebuildContent(
      message.content,
      at("content").map((slot) => slot.block),
    ),
    refusal: at("refusal")
      .map((slot) => slot.part.text)
      .join("\n\n"),
    tool_calls: legacy || calls.length === 0 ? null : calls,
    function_call: legacy ? calls[0]!.function : null,
  };
  const isSet = (name: string) => Boolean(message[name as keyof OpenAiMessage]);
  const changed = Object.entries(fields).filter(([name, value]) => value || (name === "content" && isSet(name)));
  const emptied = Object.keys(fields).filter((name) => isSet(name) && !fields[name] && name !== "content");
  const entries = Object.entries(message).filter(([name]) => !emptied.includes(name));
  return { ...Object.fromEntries(entries), ...Object.fromEntries(changed) } as unknown as OpenAiMessage;
}

function rebuildContent(
  was: OpenAiMessage["content"],
  blocks: readonly OpenAiBlock[],
): string | readonly OpenAiBlock[] {
  const only = blocks.length === 1 ? blocks[0] : undefined;
  if (typeof was === "string" && only?.type === "text") return only.text;
  return blocks.length === 0 && !Array.isArray(was) ? "" : blocks;
}

function rebuildResult(message: OpenAiMessage, chosen: readonly OpenAiSlot[]): OpenAiMessage {
  const part = chosen[0]?.part;
  if (part?.kind !== "result") return { ...message, content: "" };
  const id = message.role === "function" ? {} : { tool_call_id: part.id };
  return sameContent(part, viewResult(message)) ? { ...message, ...id } : { ...message, ...id, content: part.text };
}

function edit(slot: OpenAiSlot, part: Part): OpenAiSlot {
  switch (slot.at) {
    case "content":
      return { ...slot, part, block: editBlock(slot.block, part) };
    case "call":
      return part.kind === "call" ? { ...slot, part, call: editCall(slot.call, part) } : slot;
    default:
      return { ...slot, part } as OpenAiSlot; // the same kind: assertReplaceable has seen to it
  }
}

const contentOf = (message: OpenAiMessage): string | readonly OpenAiBlock[] => message.content ?? "";

/** Tool calls, and the older function call under an id made of its name. */
const callsOf = (message: OpenAiMessage): readonly OpenAiCall[] => {
  const calls = message.tool_calls ?? [];
  return message.function_call
    ? [...calls, { id: functionId(message.function_call.name), type: "function", function: message.function_call }]
    : calls;
};

const functionId = (name: string): string => `function:${name}`;

const answerId = (message: OpenAiMessage): string => message.tool_call_id ?? functionId(message.name ?? "");

const viewCall = (call: OpenAiCall): CallPart => ({
  kind: "call",
  id: call.id,
  name: call.function.name,
  input: call.function.arguments,
});

const editCall = (call: OpenAiCall, { id, name, input }: CallPart): OpenAiCall => ({
  ...call,
  id,
  function: { ...call.function, name, arguments: input },
});

function viewResult(message: OpenAiMessage): ResultPart {
  const inside = blocksOf(contentOf(message), textBlock).map(viewBlock);
  return resultOf(inside, { id: answerId(message), name: message.name ?? null });
}

/** A tool message holds one result and only text: images and whatever else follow in a user message. */
function make(role: Role, parts: readonly Part[]): readonly OpenAiMessage[] {
  if (role === "assistant") return [makeAssistant(parts)];
  if (role !== "tool") return [{ role, content: writeContent(role, parts) }];
  const results = parts.filter((part) => part.kind === "result");
  const rest = parts.flatMap((part): readonly Part[] => (part.kind === "result" ? part.images : [part]));
  const after = rest.length > 0 ? make("user", rest) : [];
  return [...results.map(resultMessage), ...after];
}

function makeAssistant(parts: readonly Part[]): OpenAiMessage {
  const calls = parts.filter((part) => part.kind === "call");
  const reasoning = parts.flatMap((part) => (part.kind === "reasoning" && part.text !== "" ? [part.text] : []));
  const content = parts.filter((part) => part.kind !== "call" && part.kind !== "reasoning");
  return {
    role: "assistant",
    // Only a message that says something else may go without content.
    content: content.length === 0 && parts.length > 0 ? null : writeContent("assistant", content),
    ...(reasoning.length > 0 && { reasoning_content: reasoning.join("\n\n") }),
    ...(calls.length > 0 && { tool_calls: calls.map(writeCall) }),
  };
}

const writeCall = ({ id, name, input }: CallPart): OpenAiCall => ({
  id,
  type: "function",
  function: { name, arguments: input },
});

const resultMessage = (part: ResultPart): OpenAiMessage => ({
  role: "tool",
  tool_call_id: part.id,
  content: part.text === "" && part.images.length > 0 ? "[the image follows]" : part.text,
});

/*
 * The blocks in the content of OpenAI messages: text, images, audio and files, seen as parts and written from parts.
 */

export type OpenAiBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "refusal"; readonly refusal: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string; readonly detail?: string } }
  | { readonly type: "input_audio"; readonly input_audio: { readonly data: string; readonly format: string } }
  | {
      readonly type: "file";
      readonly file: {
        readonly file_data?: string | null;
        readonly file_id?: string | null;
        readonly filename?: string | null;
      };
    };

const textBlock = (value: string): OpenAiBlock => ({ type: "text", text: value });

function viewBlock(block: OpenAiBlock): Part {
  switch (block.type) {
    case "text":
      return text(block.text);
    case "refusal":
      return text(block.refusal);
    case "image_url":
      return block.image_url.url.startsWith("data:")
        ? media(block.image_url.url, "image/png")
        : image(null, { url: block.image_url.url });
    case "input_audio":
      return file({ mediaType: `audio/${block.input_audio.format}`, data: block.input_audio.data });
    case "file":
      return viewFile(block.file);
    default:
      return other(block);
  }
}

function viewFile({ file_data, file_id, filename }: (OpenAiBlock & { type: "file" })["file"]): Part {
  const name = filename ?? null;
  return file_data == null ? file({ name, ref: file_id ?? null }) : media(file_data, "application/octet-stream", name);
}

function editBlock(block: OpenAiBlock, part: Part): OpenAiBlock {
  if (part.kind === "text" && block.type === "text") return { ...block, text: part.text };
  if (part.kind === "text" && block.type === "refusal") return { ...block, refusal: part.text };
  return part.kind === "other" ? block : writeBlock(part);
}

function writeBlock(part: Part): OpenAiBlock {
  switch (part.kind) {
    case "image":
      return { type: "image_url", image_url: { url: imageUrl(part) } };
    case "file":
      return writeFile(part);
    case "other":
      return textBlock(part.json);
    default:
      return textBlock(part.kind === "call" ? part.input : part.text);
  }
}

function writeFile(part: FilePart): OpenAiBlock {
  const name = part.name === null ? {} : { filename: part.name };
  if (part.encoding === "text" && part.data !== "") return textBlock(part.data);
  if (part.data === "") return { type: "file", file: { ...name, ...(part.ref !== null && { file_id: part.ref }) } };
  const [kind, format] = (part.mediaType ?? "").split("/");
  if (kind === "audio" && format) return { type: "input_audio", input_audio: { data: part.data, format } };
  return { type: "file", file: { ...name, file_data: `data:${part.mediaType ?? ""};base64,${part.data}` } };
}

function writeContent(role: Role, parts: readonly Part[]): string | readonly OpenAiBlock[] {
  const blocks = parts.map(writeBlock);
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  if (texts.length === blocks.length && (texts.length < 2 || role === "system")) return texts.join("\n\n");
  return blocks;
}

/* What OpenAI's chat messages hold, how they are recognized and what their API accepts. */

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
