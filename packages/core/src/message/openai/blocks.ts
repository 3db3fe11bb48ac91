/**
 * The blocks in the content of OpenAI messages: text, images, audio and files, seen as parts and written from parts.
 */
import { file, image, imageUrl, media, other, text } from "../blocks.ts";
import type { FilePart, Part, Role } from "../shape.ts";

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

export const textBlock = (value: string): OpenAiBlock => ({ type: "text", text: value });

export function viewBlock(block: OpenAiBlock): Part {
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

export function editBlock(block: OpenAiBlock, part: Part): OpenAiBlock {
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

export function writeContent(role: Role, parts: readonly Part[]): string | readonly OpenAiBlock[] {
  const blocks = parts.map(writeBlock);
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  if (texts.length === blocks.length && (texts.length < 2 || role === "system")) return texts.join("\n\n");
  return blocks;
}
