/**
 * The shape of Gemini's contents. A part of a content has no type: the field it has says what it is, in camel case or, from
 * Python and REST, in snake case; each stays as it was spelled. The API takes the system prompt apart from the contents;
 * here it is a leading content of the role `system`, which adapters lift out again.
 *
 * Calls may come without ids and are then answered by name. Such a call is known by its name and, where a message calls a
 * tool twice, its number; an id is written only where that would no longer be true.
 */
import { isRecord } from "../text/names.ts";
import type { DialectDefinition, MessageProblem } from "./dialects.ts";
import { googleRules } from "./rules.ts";
import {
  editingSlots,
  expected,
  fields,
  file,
  image,
  inputObject,
  inputText,
  list,
  notAnObject,
  optional,
  result,
  resultOf,
  roleProblem,
  sameContent,
  string,
  text,
  thought,
} from "./schema.ts";
import type { CallPart, FilePart, ImagePart, Part, ReasoningPart, ResultPart, Role, Shape } from "./shape.ts";

export interface GeminiMessage {
  readonly role?: "user" | "model" | "function" | "system";
  readonly parts: readonly GeminiPart[];
}

/** One of `text`, `inlineData`, `fileData`, `functionCall`, `functionResponse`, ..., with `thought` and `thoughtSignature`. */
type GeminiPart = Readonly<Record<string, unknown>>;

export const geminiShape: Shape<GeminiMessage> = {
  dialect: "gemini",
  role: (message) => (slots(message).some(({ part }) => part.kind === "result") ? "tool" : wireRole(message)),
  wireRole,
  ...editingSlots({ slots, rebuild, edit: ({ block }, part) => ({ part, block: edit(block, part) }) }),
  make,
  turn: (role, words) => ({ role: role === "assistant" ? "model" : role, parts: [{ text: words }] }),
  results: (answers) => make("tool", answers.map(result)),
  join: (first, second) => rebuild(first, [...slots(first), ...slots(second)]),
};

function wireRole({ role }: GeminiMessage): Role {
  return role === "model" ? "assistant" : role === "system" ? "system" : "user";
}

/** A part and the piece of the message it was read from. */
interface GeminiSlot {
  readonly part: Part;
  readonly block: GeminiPart;
}

function slots(message: GeminiMessage): readonly GeminiSlot[] {
  const numbered = { call: numbering(), result: numbering() };
  return message.parts.map((block) => ({ block, part: view(block, wireRole(message), numbered) }));
}

type Numbering = (fields: GeminiFields) => string;

/** The id, or the name with its number among those of the same name. */
function numbering(): Numbering {
  const seen = new Map<string, number>();
  return (fields) => {
    const { id, name } = fields;
    if (typeof id === "string" && id !== "") return id;
    const number = (seen.get(String(name)) ?? 0) + 1;
    seen.set(String(name), number);
    return functionId(String(name), number);
  };
}

/** A call by the user, or a result by the model, can't be paired: it is kept as it is. */
function view(block: GeminiPart, role: Role, numbered: Readonly<Record<"call" | "result", Numbering>>): Part {
  const call = fieldOf(block, "functionCall");
  if (call !== null && role === "assistant") {
    return { kind: "call", id: numbered.call(call), name: String(call["name"]), input: inputText(call["args"] ?? {}) };
  }
  const response = fieldOf(block, "functionResponse");
  if (response !== null && role === "user") return viewResult(response, numbered.result(response));
  if (typeof block["text"] === "string") {
    return block["thought"] === true ? reasoning(block, block["text"]) : text(block["text"]);
  }
  return viewMedia(block) ?? { kind: "other", type: Object.keys(block)[0] ?? "empty", json: JSON.stringify(block) };
}

function reasoning(block: GeminiPart, words: string): ReasoningPart {
  const signature = block[field(block, "thoughtSignature")];
  return thought(words, { signature: typeof signature === "string" ? signature : null, signedBy: "google" });
}

function viewResult(response: GeminiFields, id: string): ResultPart {
  const answer = answerOf(response["response"]);
  const media = Array.isArray(response["parts"]) ? response["parts"].flatMap((part) => viewMedia(part) ?? []) : [];
  const name = stringOf(response, "name");
  return resultOf([text(answer.text), ...media], { id, name, isError: answer.isError });
}

/** `output` and `error` are the API's own words, `result` and `content` what most clients write; else it is all of it. */
function answerOf(response: unknown): { readonly text: string; readonly isError: boolean } {
  if (typeof response === "string") return { text: response, isError: false };
  if (typeof response !== "object" || response === null) return { text: "", isError: false };
  const [only, ...more] = Object.entries(response);
  const isError = "error" in response && response.error != null;
  if (more.length === 0 && only !== undefined && ANSWERS.includes(only[0]) && typeof only[1] === "string") {
    return { text: only[1], isError };
  }
  return { text: JSON.stringify(response), isError };
}

const ANSWERS = ["output", "error", "result", "content"];

/** Replaces what the part says; a signature beside it stays. */
function edit(block: GeminiPart, part: Part): GeminiPart {
  switch (part.kind) {
    case "other":
      return block;
    case "text":
    case "reasoning":
      return typeof block["text"] === "string" ? { ...block, text: part.text } : { text: part.text };
    case "call": {
      const name = field(block, "functionCall");
      return { ...block, [name]: { ...(block[name] as GeminiFields), name: part.name, args: inputObject(part.input) } };
    }
    case "result":
      return editResult(block, part);
    default:
      return write(part);
  }
}

function editResult(block: GeminiPart, part: ResultPart): GeminiPart {
  const name = field(block, "functionResponse");
  const fields = block[name] as GeminiFields;
  if (sameContent(part, viewResult(fields, part.id))) return block;
  const { parts: _, ...kept } = fields;
  return { ...block, [name]: { ...kept, ...writeAnswer(part) } };
}

/** The message with these parts; an id is written where place and name would give another one. */
function rebuild(message: GeminiMessage, chosen: readonly GeminiSlot[]): GeminiMessage {
  const built = { ...message, parts: chosen.map(({ block }) => block) };
  const blocks = slots(built).map(({ part }) => part);
  if (chosen.every(({ part }, index) => idOf(part) === idOf(blocks[index]!))) return built;
  return { ...built, parts: chosen.map(({ block, part }) => named(block, part)) };
}

const idOf = (part: Part): string | null => (part.kind === "call" || part.kind === "result" ? part.id : null);

function named(block: GeminiPart, part: Part): GeminiPart {
  const id = idOf(part);
  if (id === null) return block;
  const name = field(block, part.kind === "call" ? "functionCall" : "functionResponse");
  return { ...block, [name]: { ...(block[name] as GeminiFields), id } };
}

function write(part: Part): GeminiPart {
  switch (part.kind) {
    case "text":
      return { text: part.text };
    case "reasoning":
      return { text: part.text, thought: true, ...(isOwn(part) && { thoughtSignature: part.signature }) };
    case "call":
      return { functionCall: { ...ownId(part), name: part.name, args: inputObject(part.input) } };
    case "result":
      return { functionResponse: writeResult(part) };
    case "image":
    case "file":
      return writeMedia(part);
    case "other":
      return { text: part.json };
  }
}

/** Google accepts only its own signatures. */
const isOwn = ({ signature, signedBy }: ReasoningPart): boolean =>
  signature !== null && (signedBy === "google" || signedBy === "vertex");

/** An id that was made of the name alone is not written. */
const ownId = ({ id, name }: CallPart | ResultPart): { readonly id?: string } =>
  id === functionId(name ?? "", 1) ? {} : { id };

const writeResult = (part: ResultPart): GeminiFields => ({
  ...ownId(part),
  name: part.name ?? "unknown",
  ...writeAnswer(part),
});

const writeAnswer = ({ text, isError, images }: ResultPart): GeminiFields => ({
  response: isError ? { error: text } : { output: text },
  ...(images.length > 0 && { parts: images.map(writeMedia) }),
});
/** Results come first in their message, as the API answers calls. */
function make(role: Role, parts: readonly Part[]): readonly GeminiMessage[] {
  const isResult = (part: Part): boolean => part.kind === "result";
  const ordered = [...parts.filter(isResult), ...parts.filter((part) => !isResult(part))];
  const wire = role === "assistant" ? "model" : role === "system" ? "system" : "user";
  const slots = ordered.map((part) => ({ part, block: write(part) }));
  return [rebuild({ role: wire, parts: [] }, slots)];
}

/* Images and files in Gemini's contents: inline as base64, or by their address. Fields may be in camel or snake case. */

type GeminiFields = Readonly<Record<string, unknown>>;

/** The field as this object spells it. */
function field(object: GeminiFields, name: string): string {
  const snake = name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
  return name in object || !(snake in object) ? name : snake;
}

/** The object that stands in a field, if one does. */
function fieldOf(object: GeminiFields, name: string): GeminiFields | null {
  const value = object[field(object, name)];
  return typeof value === "object" && value !== null ? (value as GeminiFields) : null;
}

function viewMedia(block: GeminiFields): ImagePart | FilePart | null {
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

const stringOf = (object: GeminiFields, name: string): string | null => {
  const value = object[field(object, name)];
  return typeof value === "string" ? value : null;
};

/** A text file is text: inline data is always read as bytes. */
function writeMedia(part: ImagePart | FilePart): GeminiFields {
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

/** The id of a call that has none: its name and, from the second of that name in a message on, its number. */
const functionId = (name: string, number: number): string =>
  number === 1 ? `function:${name}` : `function:${name}#${number}`;

/* What Gemini's contents hold, how they are recognized and what their API accepts. */

const ROLES = ["user", "model", "function", "system"];

/** What a part can be; the others are carried without being understood. */
const KINDS = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
];

function check(value: unknown): MessageProblem | null {
  if (!isRecord(value)) return notAnObject(value);
  const wrongRole = value["role"] === undefined ? null : roleProblem(value["role"], { name: "gemini", roles: ROLES });
  if (wrongRole !== null) return wrongRole;
  const { parts } = value;
  if (!Array.isArray(parts)) return { problem: "bad-content", detail: expected("a list of parts", parts, "parts") };
  const bad = list(part)(parts, "parts");
  return bad === null ? null : { problem: "bad-block", detail: bad };
}

function part(value: unknown, at: string): string | null {
  if (!isRecord(value)) return expected("an object", value, at);
  const problems = [
    optional(string)(value["text"], `${at}.text`),
    optional(string)(value[field(value, "thoughtSignature")], `${at}.thoughtSignature`),
    ...["inlineData", "fileData"].map((name) => optional(fields({}))(value[field(value, name)], `${at}.${name}`)),
    ...["functionCall", "functionResponse"].map((name) =>
      optional(fields({ name: string, id: optional(string) }))(value[field(value, name)], `${at}.${name}`),
    ),
    optional(list(fields({})))(fieldOf(value, "functionResponse")?.["parts"], `${at}.functionResponse.parts`),
  ];
  return problems.find((problem) => problem !== null) ?? null;
}

/** Parts without a type: UI messages have parts, too, but each of theirs says its type. */
function mark({ role, parts }: GeminiFields): string | null {
  if (!Array.isArray(parts) || !parts.every((one) => isRecord(one) && typeof one["type"] !== "string")) return null;
  if (role !== undefined && !ROLES.includes(String(role))) return null;
  const own = parts.flatMap((one) => KINDS.find((kind) => kind !== "text" && field(one, kind) in one) ?? [])[0];
  return own === undefined ? "parts without a type" : `a part with ${own}`;
}

function unknownBlock({ parts }: GeminiFields): string | null {
  const records = Array.isArray(parts) ? parts.filter(isRecord) : [];
  const strange = records.findIndex((one) => !KINDS.some((kind) => field(one, kind) in one));
  if (strange === -1) return null;
  const names = Object.keys(records[strange]!).join(", ") || "no field";
  return `parts[${strange}] has ${names}; gemini knows ${KINDS.join(", ")}`;
}

export const gemini: DialectDefinition<GeminiMessage> = {
  shape: geminiShape,
  rules: googleRules,
  check,
  mark,
  unknownBlock,
  model: "gemini-2.5-pro",
  carries: (signer) => signer === "google" || signer === "vertex",
  resultsIn: "user",
  control: [],
};
