/**
 * The blocks in the content of LangChain messages: its own standard ones, and those of the providers behind it, which it
 * carries as they came. Read both, written as standard blocks.
 */
import { file, image, imageUrl, media, other, text } from "../blocks.ts";
import type { FilePart, ImagePart, Part, ReasoningPart } from "../shape.ts";

export type LangChainBlock = Readonly<Record<string, unknown>> & { readonly type?: string };

/** Blocks that repeat what `tool_calls` says, in the provider's own words. */
export const REPEATS = ["tool_use", "tool_call", "function_call", "tool_call_chunk", "invalid_tool_call"];

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
      return reasoning(String(block["thinking"] ?? ""), block["signature"], false);
    case "redacted_thinking":
      return reasoning("", block["data"], true);
    case "reasoning":
      return reasoning(String(block["reasoning"] ?? ""), null, false);
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

const reasoning = (words: string, signature: unknown, redacted: boolean): ReasoningPart => ({
  kind: "reasoning",
  text: words,
  signature: typeof signature === "string" && signature !== "" ? signature : null,
  signedBy: typeof signature === "string" && signature !== "" ? "anthropic" : null,
  redacted,
});

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
