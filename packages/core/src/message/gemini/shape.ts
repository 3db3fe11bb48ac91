/**
 * The shape of Gemini's contents. A part of a content has no type: the field it has says what it is, in camel case or, from
 * Python and REST, in snake case; each stays as it was spelled. The API takes the system prompt apart from the contents;
 * here it is a leading content of the role `system`, which adapters lift out again.
 *
 * Calls may come without ids and are then answered by name. Such a call is known by its name and, where a message calls a
 * tool twice, its number; an id is written only where that would no longer be true.
 */
import { editingSlots, imagesIn, inputObject, inputText, result, sameContent, text, textIn } from "../blocks.ts";
import type { CallPart, Part, ReasoningPart, ResultPart, Role, Shape } from "../shape.ts";
import { functionId } from "./ids.ts";
import { type Fields, field, fieldOf, viewMedia, writeMedia } from "./media.ts";

export interface GeminiMessage {
  readonly role?: "user" | "model" | "function" | "system";
  readonly parts: readonly GeminiPart[];
}

/** One of `text`, `inlineData`, `fileData`, `functionCall`, `functionResponse`, ..., with `thought` and `thoughtSignature`. */
export type GeminiPart = Readonly<Record<string, unknown>>;

export const geminiShape: Shape<GeminiMessage> = {
  dialect: "gemini",
  role: (message) => (slots(message).some(({ part }) => part.kind === "result") ? "tool" : wireRole(message)),
  wireRole,
  ...editingSlots({ slots, rebuild, edit: ({ block }, part) => ({ part, block: edit(block, part) }) }),
  calls: (message) => slots(message).flatMap(({ part }) => (part.kind === "call" ? [part.id] : [])),
  answers: (message) => slots(message).flatMap(({ part }) => (part.kind === "result" ? [part.id] : [])),
  make,
  turn: (role, words) => ({ role: role === "assistant" ? "model" : role, parts: [{ text: words }] }),
  results: (answers) => make("tool", answers.map(result)),
  join: (first, second) => rebuild(first, [...slots(first), ...slots(second)]),
};

function wireRole({ role }: GeminiMessage): Role {
  return role === "model" ? "assistant" : role === "system" ? "system" : "user";
}

/** A part and the piece of the message it was read from. */
interface Slot {
  readonly part: Part;
  readonly block: GeminiPart;
}

function slots(message: GeminiMessage): readonly Slot[] {
  const numbered = { call: numbering(), result: numbering() };
  return message.parts.map((block) => ({ block, part: view(block, wireRole(message), numbered) }));
}

type Numbering = (fields: Fields) => string;

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

function reasoning(block: GeminiPart, thought: string): ReasoningPart {
  const signature = block[field(block, "thoughtSignature")];
  const isSigned = typeof signature === "string" && signature !== "";
  return {
    kind: "reasoning",
    text: thought,
    signature: isSigned ? signature : null,
    signedBy: isSigned ? "google" : null,
    redacted: false,
  };
}

function viewResult(response: Fields, id: string): ResultPart {
  const answer = answerOf(response["response"]);
  const media = Array.isArray(response["parts"]) ? response["parts"].flatMap((part) => viewMedia(part) ?? []) : [];
  const inside = [text(answer.text), ...media];
  const name = response["name"];
  return {
    kind: "result",
    id,
    name: typeof name === "string" ? name : null,
    text: textIn(inside),
    isError: answer.isError,
    images: imagesIn(inside),
  };
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
      return { ...block, [name]: { ...(block[name] as Fields), name: part.name, args: inputObject(part.input) } };
    }
    case "result":
      return editResult(block, part);
    default:
      return write(part);
  }
}

function editResult(block: GeminiPart, part: ResultPart): GeminiPart {
  const name = field(block, "functionResponse");
  const fields = block[name] as Fields;
  if (sameContent(part, viewResult(fields, part.id))) return block;
  const { parts: _, ...kept } = fields;
  return { ...block, [name]: { ...kept, ...writeAnswer(part) } };
}

/** The message with these parts; an id is written where place and name would give another one. */
function rebuild(message: GeminiMessage, chosen: readonly Slot[]): GeminiMessage {
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
  return { ...block, [name]: { ...(block[name] as Fields), id } };
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

/** A proof of anybody else's means nothing here. */
const isOwn = ({ signature, signedBy }: ReasoningPart): boolean =>
  signature !== null && (signedBy === "google" || signedBy === "vertex");

/** An id that was made of the name alone is not written. */
const ownId = ({ id, name }: CallPart | ResultPart): { readonly id?: string } =>
  id === functionId(name ?? "", 1) ? {} : { id };

const writeResult = (part: ResultPart): Fields => ({
  ...ownId(part),
  name: part.name ?? "unknown",
  ...writeAnswer(part),
});

const writeAnswer = ({ text, isError, images }: ResultPart): Fields => ({
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
