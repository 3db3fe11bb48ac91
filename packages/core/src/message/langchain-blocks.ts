/**
 * The blocks in the content of LangChain messages: its own standard ones, and those of the providers behind it, which it
 * carries as they came. Read both, written as standard blocks.
 */
import { file, image, imageUrl, media, other, text, thought } from "./schema.ts";
import type { FilePart, ImagePart, Part, ReasoningPart } from "./shape.ts";

export type LangChainBlock = Readonly<Record<string, unknown>> & { readonly type?: string };

/** Blocks that repeat what `tool_calls` says, in the provider's own words. */
export const REPEATS = ["tool_use", "tool_call", "function_call", "tool_call_chunk", "invalid_tool_call"];

/** Every type of block that LangChain's messages are known to hold. */
export const KNOWN_BLOCKS = [
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

export const textBlock = (words: string): LangChainBlock => ({ type: "text", text: words });

export function viewBlock(block: LangChainBlock): Part {
  switch (block.type) {
    case "text":
    case "input_text":
    case "output_text":
      return text(String(block["text"]));
    case "refusal":
      return text(String(block["refusal"]));
    case "thinking":
      return thought(String(block["thinking"] ?? ""), {
        signature: stringIn(block, "signature"),
        signedBy: "anthropic",
      });
    case "redacted_thinking":
      return thought("", { signature: stringIn(block, "data"), signedBy: "anthropic", redacted: true });
    case "reasoning":
      return thought(String(block["reasoning"] ?? ""));
    case "image_url":
      return viewUrl(block["image_url"]) ?? other(block);
    case "image":
    case "file":
    case "audio":
    case "video":
    case "text-plain":
      return viewMedia(block) ?? other(block);
    default:
      return other(block);
  }
}

function viewUrl(value: unknown): Part | null {
  const url = typeof value === "string" ? value : (value as { url?: unknown } | null)?.url;
  if (typeof url !== "string") return null;
  return url.startsWith("data:") ? media(url, "image/png") : image(null, { url });
}

/** Standard blocks say `url`, `data` (`base64` in Python) or `file_id`, older ones also a `source_type`. */
function viewMedia(block: LangChainBlock): Part | null {
  const mediaType = stringIn(block, "mime_type", "mimeType", "media_type") ?? (block.type === "image" ? "image" : null);
  const name = stringIn(block, "filename", "name", "title");
  const source = typeof block["source"] === "object" ? (block["source"] as LangChainBlock | null) : null;
  const data = stringIn(block, "data", "base64") ?? stringIn(source ?? {}, "data");
  const words = stringIn(block, "text");
  if (words !== null && block.type === "text-plain")
    return file({ mediaType: "text/plain", name, data: words, encoding: "text" });
  if (data !== null) return media(data, stringIn(source ?? {}, "media_type") ?? mediaType, name);
  const ref = stringIn(block, "url", "file_id", "fileId", "id") ?? stringIn(source ?? {}, "url", "file_id");
  if (ref === null) return null;
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(ref);
  return isUrl || ref.startsWith("data:") ? media(ref, mediaType, name) : file({ mediaType, name, ref });
}

function stringIn(block: LangChainBlock, ...names: readonly string[]): string | null {
  const value = names.map((name) => block[name]).find((one) => typeof one === "string");
  return typeof value === "string" ? value : null;
}

/** Replaces what the part says and keeps the block's marks. */
export function editBlock(block: LangChainBlock, part: Part): LangChainBlock {
  if (part.kind === "other") return block;
  if (part.kind === "text" && typeof block["text"] === "string" && block.type !== "text-plain")
    return { ...block, text: part.text };
  if (part.kind === "text" && block.type === "refusal") return { ...block, refusal: part.text };
  if (part.kind === "reasoning" && block.type === "reasoning") return { ...block, reasoning: part.text };
  const written = writeBlock(part);
  return written.type === block.type ? { ...block, ...written } : written;
}

export function writeBlock(part: Part): LangChainBlock {
  switch (part.kind) {
    case "text":
      return textBlock(part.text);
    case "reasoning":
      return writeReasoning(part);
    case "image":
      return writeImage(part);
    case "file":
      return writeFile(part);
    case "other":
      return textBlock(part.json);
    default:
      return textBlock(part.kind === "call" ? part.input : part.text);
  }
}

function writeReasoning(part: ReasoningPart): LangChainBlock {
  if (part.signature === null) return { type: "reasoning", reasoning: part.text };
  if (part.redacted) return { type: "redacted_thinking", data: part.signature };
  return { type: "thinking", thinking: part.text, signature: part.signature };
}

/** The one spelling that every integration understands. */
const writeImage = (part: ImagePart): LangChainBlock => ({ type: "image_url", image_url: { url: imageUrl(part) } });

function writeFile(part: FilePart): LangChainBlock {
  const fields = {
    ...(part.mediaType !== null && { mime_type: part.mediaType }),
    ...(part.name !== null && { filename: part.name }),
  };
  if (part.data !== "" && part.encoding === "text") return textBlock(part.data);
  if (part.data !== "") return { type: "file", base64: part.data, ...fields };
  const ref = part.ref ?? "";
  return { type: "file", ...(/^https?:/.test(ref) ? { url: ref } : { file_id: ref }), ...fields };
}

/**
 * The three forms of a LangChain message: its fields themselves (`{type: "human", content}`, also an instance of one of its
 * classes), the fields under `data` (`messages_to_dict`), and the fields under `kwargs` (`dumpd`, JSON of an instance).
 * Everything else reads the fields and doesn't know the form; an edit is put back in the form it came in.
 */
type BlockFields = Readonly<Record<string, unknown>>;

export type LangChainMessage = BlockFields;

export function fieldsOf(message: LangChainMessage): BlockFields {
  if (isConstructor(message)) return message["kwargs"] as BlockFields;
  return isDict(message) ? (message["data"] as BlockFields) : message;
}

/** The message with other fields; null takes a field away. An instance stays one of its class. */
export function withFields(message: LangChainMessage, changes: BlockFields): LangChainMessage {
  const fields = fieldsOf(message);
  if (fields !== message) return { ...message, [isConstructor(message) ? "kwargs" : "data"]: changed(fields, changes) };
  const prototype = Object.getPrototypeOf(message) as object | null;
  if (prototype === null || prototype === Object.prototype) return changed(message, changes);
  return Object.assign(Object.create(prototype) as object, changed(message, changes)) as LangChainMessage;
}

function changed(fields: BlockFields, changes: BlockFields): BlockFields {
  const merged = Object.entries({ ...fields, ...changes });
  return Object.fromEntries(
    merged.filter(([name]) => !(name in changes) || changes[name] !== null || name === "content"),
  );
}

/** `human`, `ai`, `system`, `tool`, `function`, ...: what the message is, whatever its form says it with. */
export function typeOf(message: LangChainMessage): string {
  const path = isConstructor(message) ? (message["id"] as readonly unknown[]) : null;
  const own = path === null ? typeOfInstance(message) : path.at(-1);
  if (typeof own !== "string") return "";
  return /Message(Chunk)?$/.test(own) ? classType(own) : own;
}

/** `AIMessageChunk` is `ai`. */
const classType = (name: string): string => name.replace(/Message(Chunk)?$/, "").toLowerCase();

function typeOfInstance(message: LangChainMessage): unknown {
  for (const name of ["getType", "_getType"]) {
    const ask = message[name];
    if (typeof ask === "function") return (ask as () => unknown).call(message);
  }
  return message["type"];
}

const isConstructor = ({ lc, id, kwargs }: BlockFields): boolean =>
  typeof lc === "number" && Array.isArray(id) && typeof kwargs === "object" && kwargs !== null;

const isDict = ({ type, data, content }: BlockFields): boolean =>
  typeof type === "string" && content === undefined && typeof data === "object" && data !== null;
