/**
 * What the shapes share: parts built from plain values, content that is either a string or a list of blocks, data URLs,
 * and a call's input as JSON text. Nothing here knows a provider.
 */
import { isNestedTooDeeply } from "./schema.ts";
import type { Answer, FilePart, ImagePart, OtherPart, Part, ResultPart, Shape, TextPart } from "./shape.ts";

export const text = (value: string): TextPart => ({ kind: "text", text: value });

export const other = (block: { readonly type?: unknown }): OtherPart => ({
  kind: "other",
  type: String(block?.type),
  json: JSON.stringify(block),
});

export const result = (answer: Answer): ResultPart => ({ kind: "result", images: [], ...answer });

/** The words are compared first: writing out a long part just to see that it was cut would cost too much. */
const samePart = (a: Part, b: Part): boolean => wordsOf(a) === wordsOf(b) && JSON.stringify(a) === JSON.stringify(b);

const wordsOf = (part: Part): string => ("text" in part ? part.text : "input" in part ? part.input : "");

/** Whether an edited result says what it said, so that the provider's own spelling of it can stay. */
export const sameContent = (a: ResultPart, b: ResultPart): boolean =>
  a.text === b.text && a.isError === b.isError && a.images.length === b.images.length;

/** Everything textual in a list of parts, blocks on their own lines. */
export const textIn = (parts: readonly Part[]): string =>
  parts
    .flatMap((part) => (part.kind === "text" ? [part.text] : part.kind === "file" ? [fileMark(part)] : []))
    .join("\n");

export const imagesIn = (parts: readonly Part[]): ImagePart[] => parts.filter((part) => part.kind === "image");

/** Content as a list of blocks; an empty string holds none. */
export function blocksOf<B>(content: string | readonly B[], textBlock: (text: string) => B): readonly B[] {
  if (typeof content !== "string") return content;
  return content === "" ? [] : [textBlock(content)];
}

/** Contents one after the other. Two strings stay a string, because some servers accept nothing else. */
export function joinContent<B>(
  first: string | readonly B[],
  second: string | readonly B[],
  textBlock: (text: string) => B,
): string | readonly B[] {
  if (typeof first === "string" && typeof second === "string") return [first, second].filter(Boolean).join("\n\n");
  return [...blocksOf(first, textBlock), ...blocksOf(second, textBlock)];
}

/** The two edits of a shape whose messages hold a string or blocks, one part to a block. */
export function editingBlocks<B, M extends { readonly content: string | readonly B[] }>(reader: {
  parts(message: M): readonly Part[];
  blocks(message: M): readonly B[];
  edit(block: B, replacement: Part): B;
}): Pick<Shape<M>, "withPart" | "select"> {
  const { parts, blocks, edit } = reader;
  return {
    withPart(message, index, replacement) {
      const part = parts(message)[index];
      assertReplaceable(part, replacement);
      if (samePart(part, replacement)) return message;
      if (typeof message.content === "string" && replacement.kind === "text") {
        return { ...message, content: replacement.text };
      }
      const all = blocks(message);
      return { ...message, content: all.with(index, edit(all[index]!, replacement)) };
    },
    select(message, indices) {
      if (typeof message.content === "string")
        return { ...message, content: indices.length > 0 ? message.content : "" };
      const all = blocks(message);
      return { ...message, content: indices.flatMap((index) => all[index] ?? []) };
    },
  };
}

/** The same for a shape that reads a message into slots, one to a part, and makes a message out of those that stay. */
export function editingSlots<M, S extends { readonly part: Part }>(reader: {
  slots(message: M): readonly S[];
  edit(slot: S, replacement: Part): S;
  rebuild(message: M, chosen: readonly S[]): M;
}): Pick<Shape<M>, "parts" | "withPart" | "select"> {
  const { slots, edit, rebuild } = reader;
  return {
    parts: (message) => slots(message).map(({ part }) => part),
    withPart(message, index, replacement) {
      const all = slots(message);
      const slot = all[index];
      assertReplaceable(slot?.part, replacement);
      if (samePart(slot!.part, replacement)) return message;
      return rebuild(message, all.with(index, edit(slot!, replacement)));
    },
    select(message, indices) {
      const all = slots(message);
      return rebuild(
        message,
        indices.flatMap((index) => all[index] ?? []),
      );
    },
  };
}

/** Throws where a replacement would tear a message apart: that is a caller's mistake, never a matter of data. */
function assertReplaceable(part: Part | undefined, replacement: Part): asserts part is Part {
  const standsIn = replacement.kind === "text" && ["image", "file", "other"].includes(part?.kind ?? "");
  if (part?.kind === replacement.kind || standsIn) return;
  throw new TypeError(
    part === undefined
      ? "withPart: the message has no part at this index; take the index from parts()."
      : `withPart: a ${part.kind} part can't become a ${replacement.kind} part; replace it by its own kind.`,
  );
}

/** A URL or base64 data as an image or, for any other media type, a file. */
export function media(location: string, mediaType: string | null, name: string | null = null): ImagePart | FilePart {
  const data = /^data:([^;,]*)(?:;[^,]*)?,/.exec(location);
  const type = data?.[1] || mediaType;
  const payload = data ? location.slice(data[0].length) : location;
  const isUrl = !data && /^[a-z][a-z0-9+.-]*:\/\//i.test(location.slice(0, 32));
  if (type?.startsWith("image")) {
    const picture = image(type, isUrl ? { url: payload } : { data: payload });
    return name === null ? picture : { ...picture, name };
  }
  return file({ mediaType: type, name, ...(isUrl ? { ref: payload } : { data: payload }) });
}

export function image(mediaType: string | null, from: { readonly url: string } | { readonly data: string }): ImagePart {
  const source =
    "url" in from ? ({ kind: "url", url: from.url } as const) : ({ kind: "base64", data: from.data } as const);
  return { kind: "image", mediaType, source };
}

export const file = (fields: Partial<Omit<FilePart, "kind">>): FilePart => ({
  kind: "file",
  mediaType: null,
  name: null,
  data: "",
  encoding: "base64",
  ref: null,
  ...fields,
});

/** The image as a URL, inline data included. */
export const imageUrl = ({ source, mediaType }: ImagePart): string =>
  source.kind === "url" ? source.url : `data:${mediaType ?? "image/png"};base64,${source.data}`;

/** A call's input as JSON text. */
export const inputText = (input: unknown): string => JSON.stringify(input) ?? "{}";

/** For an API that takes objects only: anything else is wrapped so that nothing of it is lost. */
export function inputObject(input: string): unknown {
  const value = inputValue(input);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : { input: value };
}

/** The value behind a call's JSON text; text that isn't JSON, or is nested beyond use, is kept as it is. */
export function inputValue(input: string): unknown {
  if (input.trim() === "") return {};
  if (isNestedTooDeeply(input)) return input;
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

const fileMark = (part: FilePart): string => `[file: ${part.name ?? part.ref ?? part.mediaType ?? "unnamed"}]`;

/** Bytes as base64. Core has no platform to ask, so it brings its own. */

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

export function base64(data: Uint8Array | ArrayBuffer): string {
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  let written = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i;
    const group = (bytes[i]! << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    for (let digit = 0; digit < 4; digit++) {
      written += digit > left ? "=" : DIGITS[(group >> (18 - 6 * digit)) & 63];
    }
  }
  return written;
}
