/**
 * An image or a file in words, for where it isn't shown: what it is, its name, type and size, or where it lies. Nothing
 * of its content; an address without what may be a secret in it.
 */
import type { FilePart, ImagePart } from "../../message/shape.ts";
import { oneLine } from "../../text/clip.ts";

export function mediaName(part: ImagePart | FilePart): string {
  const address = part.kind === "file" ? part.ref : part.source.kind === "url" ? part.source.url : null;
  const bytes = part.kind === "file" ? fileBytes(part) : part.source.kind === "base64" ? decoded(part.source.data) : 0;
  const name = part.name == null ? "" : ` ${oneLine(part.name, MOST_CHARS)}`;
  const facts = [part.mediaType, bytes === 0 ? null : sizeOf(bytes), address === null ? null : `at ${plain(address)}`];
  return [`${part.kind}${name}`, ...facts.filter((fact) => fact !== null)].join(", ");
}

const MOST_CHARS = 120;

function fileBytes({ data, encoding }: FilePart): number {
  return encoding === "text" ? data.length : decoded(data);
}

function decoded(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}

function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Queries and passwords of an address stay out of texts that are kept. */
function plain(address: string): string {
  return oneLine(address.replace(/[?#].*$/s, "").replace(/\/\/[^/@]*@/, "//"), MOST_CHARS);
}
