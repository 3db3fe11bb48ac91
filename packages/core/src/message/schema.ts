/**
 * Small checks that compose into what a dialect's messages must hold so that its shape can read them. A check returns
 * null, or one sentence that names the place and what was expected. Kinds and fields not listed are never checked.
 */
import { isRecord } from "../text/names.ts";
import type { MessageProblem } from "./dialects.ts";
import type {
  Answer,
  FilePart,
  ImagePart,
  OtherPart,
  Part,
  ReasoningPart,
  ResultPart,
  Shape,
  TextPart,
} from "./shape.ts";

export type Fields = Readonly<Record<string, unknown>>;

export type Check = (value: unknown, at: string) => string | null;

export const string: Check = (value, at) => (typeof value === "string" ? null : expected("a string", value, at));

export const optional =
  (check: Check): Check =>
  (value, at) =>
    value == null ? null : check(value, at);

export const fields =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value, at) => {
    if (!isRecord(value)) return expected("an object", value, at);
    for (const [name, check] of Object.entries(checks)) {
      const wrong = check(value[name], at === "" ? name : `${at}.${name}`);
      if (wrong !== null) return wrong;
    }
    return null;
  };

export const list =
  (check: Check): Check =>
  (value, at) => {
    if (!Array.isArray(value)) return expected("a list", value, at);
    for (const [index, item] of value.entries()) {
      const wrong = check(item, `${at}[${index}]`);
      if (wrong !== null) return wrong;
    }
    return null;
  };

export const expected = (what: string, value: unknown, at: string): string => `${at} is ${nameOf(value)}, not ${what}`;

const nameOf = (value: unknown): string =>
  value === null ? "null" : value === undefined ? "missing" : Array.isArray(value) ? "a list" : `a ${typeof value}`;

/** An object with a type; a type that isn't listed may hold anything. */
export const typed =
  (kinds: Readonly<Record<string, Check>>): Check =>
  (value, at) => {
    const type = isRecord(value) ? value["type"] : undefined;
    if (typeof type !== "string") return expected("an object with a type", value, at);
    return Object.hasOwn(kinds, type) ? kinds[type]!(value, at) : null;
  };

export const textOr =
  (check: Check): Check =>
  (value, at) =>
    typeof value === "string" ? null : check(value, at);

/** The messages of a dialect that has a role and content: what each role may be, and what its content may be. */
interface MessageSchema {
  readonly name: string;
  readonly roles: readonly string[];
  readonly block: Check;
  /** By role, where content isn't both text and a list of blocks. */
  readonly content?: (role: string) => "text" | "list" | "either";
  /** Whether a message without content says something all the same. */
  readonly speaksWithout?: (value: Fields) => boolean;
  readonly fields?: (role: string) => Check;
}

export const messageCheck =
  (schema: MessageSchema) =>
  (value: unknown): MessageProblem | null => {
    if (!isRecord(value)) return notAnObject(value);
    const { role, content } = value;
    const wrongRole = roleProblem(role, schema);
    if (wrongRole !== null) return wrongRole;
    const form = schema.content?.(String(role)) ?? "either";
    const isWanted = (form !== "list" && typeof content === "string") || (form !== "text" && Array.isArray(content));
    if (!isWanted && !(content == null && schema.speaksWithout?.(value))) {
      const what = form === "list" ? "a list of blocks" : "text or a list of blocks";
      return { problem: "bad-content", detail: expected(what, content, "content") };
    }
    const block = Array.isArray(content) ? list(schema.block)(content, "content") : null;
    if (block !== null) return { problem: "bad-block", detail: block };
    const field = schema.fields?.(String(role))(value, "") ?? null;
    return field === null ? null : { problem: "bad-field", detail: field };
  };

export const notAnObject = (value: unknown): MessageProblem => ({
  problem: "not-an-object",
  detail: `the message is ${nameOf(value)}, not an object`,
});

export function roleProblem(
  role: unknown,
  { name, roles }: Pick<MessageSchema, "name" | "roles">,
): MessageProblem | null {
  if (typeof role === "string" && roles.includes(role)) return null;
  const roleText = typeof role === "string" ? JSON.stringify(role.slice(0, 40)) : nameOf(role);
  return { problem: "unknown-role", detail: `role is ${roleText}; ${name} messages have ${roles.join(", ")}` };
}

/** The first block whose type isn't among these. */
export function strangeBlock(
  blocks: unknown,
  { name, types, at = "content" }: { readonly name: string; readonly types: readonly string[]; readonly at?: string },
): string | null {
  const blockTypes = (Array.isArray(blocks) ? blocks : []).map((block) =>
    isRecord(block) ? String(block["type"]) : "",
  );
  const strange = blockTypes.findIndex((type) => !types.some((pattern) => pattern === type || isFamily(pattern, type)));
  return strange === -1
    ? null
    : `${at}[${strange}] has the unknown type "${blockTypes[strange]}"; ${name} knows ${types.join(", ")}`;
}

/** `*_tool_result`: every type that ends so. */
const isFamily = (pattern: string, type: string): boolean => pattern.startsWith("*") && type.endsWith(pattern.slice(1));

/** The first of the blocks for which there is a word, and its type. */
export function markedBlock(blocks: unknown, isMark: (block: Fields) => boolean): string | null {
  const block = (Array.isArray(blocks) ? blocks : []).find((one) => isRecord(one) && isMark(one));
  return block === undefined ? null : `a block of type ${String(block.type)}`;
}

/**
 * How deep JSON may be nested before it is treated as text: values are walked and written recursively, and a
 * stack that overflows once would overflow at every later turn of its thread.
 */

const MOST_NESTED = 500;

/** Counts brackets outside of strings; takes text that is JSON, and any other. */
export function isNestedTooDeeply(json: string): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
    if (depth > MOST_NESTED) return true;
  }
  return false;
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

// What the shapes share: parts built from plain values, content that is either a string or a list of blocks, data
// URLs, and a call's input as JSON text. Nothing here knows a provider.

export const text = (value: string): TextPart => ({ kind: "text", text: value });

export const other = (block: { readonly type?: unknown }): OtherPart => ({
  kind: "other",
  type: String(block?.type),
  json: JSON.stringify(block),
});

export const result = (answer: Answer): ResultPart => ({ kind: "result", images: [], ...answer });

/** A result whose content was read as parts. `isError` false: the dialect doesn't say. */
export const resultOf = (
  inside: readonly Part[],
  { id, name = null, isError = false }: Pick<ResultPart, "id"> & Partial<Pick<ResultPart, "name" | "isError">>,
): ResultPart => ({ kind: "result", id, name, text: textIn(inside), isError, images: imagesIn(inside) });

/** Thinking; an empty signature is none. */
export const thought = (
  words: string,
  { signature = null, signedBy = null, redacted = false }: Partial<Omit<ReasoningPart, "kind" | "text">> = {},
): ReasoningPart => ({
  kind: "reasoning",
  text: words,
  signature: signature || null,
  signedBy: signature ? signedBy : null,
  redacted,
});

/** A tool's message and, since it holds results only, what else was said as a user's message. */
export const resultsApart = <M>(
  parts: readonly Part[],
  results: (parts: readonly ResultPart[]) => readonly M[],
  user: (parts: readonly Part[]) => readonly M[],
): readonly M[] => {
  const own = parts.filter((part) => part.kind === "result");
  const rest = parts.filter((part) => part.kind !== "result");
  return [...(own.length > 0 ? results(own) : []), ...(rest.length > 0 ? user(rest) : [])];
};

/** Parts as content: a lone text as a string, which every server accepts. */
export const contentFrom = <B>(parts: readonly Part[], write: (part: Part) => B): string | readonly B[] => {
  const only = parts.length === 1 ? parts[0] : undefined;
  if (parts.length === 0) return "";
  return only?.kind === "text" ? only.text : parts.map(write);
};

/** The words are compared first: writing out a long part just to see that it was cut would cost too much. */
const samePart = (a: Part, b: Part): boolean => wordsOf(a) === wordsOf(b) && JSON.stringify(a) === JSON.stringify(b);

const wordsOf = (part: Part): string => ("text" in part ? part.text : "input" in part ? part.input : "");

/** Whether an edited result says what it said, so that the provider's own spelling of it can stay. */
export const sameContent = (a: ResultPart, b: ResultPart): boolean =>
  a.text === b.text && a.isError === b.isError && a.images.length === b.images.length;

/** Everything textual in a list of parts, blocks on their own lines. */
const textIn = (parts: readonly Part[]): string =>
  parts
    .flatMap((part) => (part.kind === "text" ? [part.text] : part.kind === "file" ? [fileMark(part)] : []))
    .join("\n");

const imagesIn = (parts: readonly Part[]): ImagePart[] => parts.filter((part) => part.kind === "image");

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

/** Ids of the calls, or of the results, among parts. */
export const idsIn = (parts: readonly Part[], kind: "call" | "result"): string[] =>
  parts.flatMap((part) => (part.kind === kind ? [part.id] : []));

type EditingMembers = "parts" | "calls" | "answers" | "withPart" | "withParts" | "select";

/** What follows from the parts, for a shape whose messages hold a string or blocks, one part to a block. */
export function editingBlocks<B, M extends { readonly content: string | readonly B[] }>(reader: {
  parts(message: M): readonly Part[];
  blocks(message: M): readonly B[];
  edit(block: B, replacement: Part): B;
}): Pick<Shape<M>, EditingMembers> {
  const { parts, blocks, edit } = reader;
  const withParts = (message: M, replacements: ReadonlyMap<number, Part>): M => {
    const content = edited(blocks(message), parts(message), replacements, edit);
    if (content === null) return message;
    const only = replacements.get(0);
    return { ...message, content: typeof message.content === "string" && only?.kind === "text" ? only.text : content };
  };
  return {
    parts,
    calls: (message) => idsIn(parts(message), "call"),
    answers: (message) => idsIn(parts(message), "result"),
    withParts,
    withPart: (message, index, replacement) => withParts(message, new Map([[index, replacement]])),
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
}): Pick<Shape<M>, EditingMembers> {
  const { slots, edit, rebuild } = reader;
  const parts = (message: M) => slots(message).map(({ part }) => part);
  const withParts = (message: M, replacements: ReadonlyMap<number, Part>): M => {
    const changed = edited(slots(message), parts(message), replacements, edit);
    return changed === null ? message : rebuild(message, changed);
  };
  return {
    parts,
    calls: (message) => idsIn(parts(message), "call"),
    answers: (message) => idsIn(parts(message), "result"),
    withParts,
    withPart: (message, index, replacement) => withParts(message, new Map([[index, replacement]])),
    select(message, indices) {
      const all = slots(message);
      return rebuild(
        message,
        indices.flatMap((index) => all[index] ?? []),
      );
    },
  };
}

type PartEdit<B> = (one: B, to: Part) => B;

/** Null: nothing differs from what stands there. */
function edited<B>(all: readonly B[], parts: readonly Part[], by: ReadonlyMap<number, Part>, edit: PartEdit<B>) {
  const list = [...all];
  let isSame = true;
  for (const [index, replacement] of by) {
    const part = parts[index];
    assertReplaceable(part, replacement);
    if (samePart(part, replacement)) continue;
    isSame = false;
    if (index < list.length) list.splice(index, 1, edit(list[index] as B, replacement));
  }
  return isSame ? null : list;
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
  return isRecord(value) ? value : { input: value };
}

/** The value of a JSON text; of any other text what is given for it. */
export function jsonOr(text: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}

/** The value behind a call's JSON text; text that isn't JSON, or is nested beyond use, is kept as it is. */
export const inputValue = (input: string): unknown =>
  input.trim() === "" ? {} : isNestedTooDeeply(input) ? input : jsonOr(input, input);

const fileMark = (part: FilePart): string => `[file: ${part.name ?? part.ref ?? part.mediaType ?? "unnamed"}]`;
