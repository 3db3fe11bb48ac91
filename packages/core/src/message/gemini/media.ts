/** Images and files in Gemini's contents: inline as base64, or by their address. Fields may be in camel or snake case. */
import { file, image } from "../blocks.ts";
import type { FilePart, ImagePart } from "../shape.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** The field as this object spells it. */
export function field(object: Fields, name: string): string {
  const snake = name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
  return name in object || !(snake in object) ? name : snake;
}

/** The object that stands in a field, if one does. */
export function fieldOf(object: Fields, name: string): Fields | null {
  const value = object[field(object, name)];
  return typeof value === "object" && value !== null ? (value as Fields) : null;
}

export function viewMedia(block: Fields): ImagePart | FilePart | null {
  const inline = fieldOf(block, "inlineData");
  const stored = fieldOf(block, "fileData");
  const blob = inline ?? stored;
  if (blob === null) return null;
  const mediaType = stringOf(blob, "mimeType");
  const name = stringOf(blob, "displayName");
  const data = inline === null ? null : (stringOf(inline, "data") ?? "");
  const url = stringOf(blob, "fileUri") ?? "";
  if (!mediaType?.startsWith("image/")) return file({ mediaType, name, ...(data === null ? { ref: url } : { data }) });
  const picture = image(mediaType, data === null ? { url } : { data });
  return name === null ? picture : { ...picture, name };
}

const stringOf = (object: Fields, name: string): string | null => {
  const value = object[field(object, name)];
  return typeof value === "string" ? value : null;
};

/** A text file is text: inline data is always read as bytes. */
export function writeMedia(part: ImagePart | FilePart): Fields {
  const displayName = part.name == null ? {} : { displayName: part.name };
  if (part.kind === "image") {
    const { source } = part;
    if (source.kind === "url") {
      return { fileData: { mimeType: part.mediaType ?? "image/jpeg", fileUri: source.url, ...displayName } };
    }
    return { inlineData: { mimeType: part.mediaType ?? "image/png", data: source.data, ...displayName } };
  }
  const mimeType = part.mediaType ?? "application/octet-stream";
  if (part.data === "") return { fileData: { mimeType, fileUri: part.ref ?? "", ...displayName } };
  if (part.encoding === "text") return { text: part.data };
  return { inlineData: { mimeType, data: part.data, ...displayName } };
}
