/**
 * Files and images in AI SDK messages: the data is a string (base64, a data URL, a URL), bytes, a URL object, or one of
 * the tagged forms of version 7. This file reads all of them and writes the tagged form, which survives JSON.
 */
import { base64 } from "../base64.ts";
import { file, media } from "../blocks.ts";
import type { FilePart, ImagePart } from "../shape.ts";

export interface FileFields {
  readonly data: FileData;
  readonly mediaType: string;
  readonly filename?: string;
}

export type FileData =
  | string
  | Uint8Array
  | ArrayBuffer
  | { readonly href: string }
  | { readonly type: "data"; readonly data: string | Uint8Array | ArrayBuffer }
  | { readonly type: "url"; readonly url: string | { readonly href: string } }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reference"; readonly reference: Readonly<Record<string, string>> };

/** Null when the data has a form we don't know. */
export function viewFile(fields: FileFields): ImagePart | FilePart | null {
  const { data, mediaType } = fields;
  const name = fields.filename ?? null;
  if (typeof data === "string") return media(data, mediaType, name);
  if (data instanceof Uint8Array || data instanceof ArrayBuffer) return media(base64(data), mediaType, name);
  if ("href" in data) return media(data.href, mediaType, name);
  switch (data.type) {
    case "data":
      return media(typeof data.data === "string" ? data.data : base64(data.data), mediaType, name);
    case "url":
      return media(typeof data.url === "string" ? data.url : data.url.href, mediaType, name);
    case "text":
      return file({ mediaType, name, data: data.text, encoding: "text" });
    case "reference":
      return file({ mediaType, name, ref: Object.values(data.reference)[0] ?? null });
    default:
      return null;
  }
}

export const writeImage = ({ source, mediaType, name }: ImagePart): FileFields => ({
  data: source.kind === "url" ? { type: "url", url: source.url } : { type: "data", data: source.data },
  mediaType: mediaType ?? "image",
  ...(name !== undefined && { filename: name }),
});

export const writeFile = (part: FilePart): FileFields => ({
  data: writeData(part),
  mediaType: part.mediaType ?? "application/octet-stream",
  ...(part.name !== null && { filename: part.name }),
});

function writeData(part: FilePart): FileData {
  if (part.data !== "") {
    return part.encoding === "text" ? { type: "text", text: part.data } : { type: "data", data: part.data };
  }
  const ref = part.ref ?? "";
  return /^https?:/.test(ref) ? { type: "url", url: ref } : { type: "reference", reference: { id: ref } };
}
