/**
 * Which dialects there are: the only place that names them all. A new one is a file and a line in each list here. Below, what
 * works on a message of any of them: to recognize, read and convert it, and shapes that remember what they read.
 */

import { PalimpsestError } from "../errors.ts";
import type { Origin } from "../log/record.ts";
import { isRecord } from "../text/names.ts";
import { type AiSdkMessage, aiSdk } from "./ai-sdk.ts";
import { type AnthropicMessage, anthropic } from "./anthropic.ts";
import { type GeminiMessage, gemini } from "./gemini.ts";
import { langchain } from "./langchain.ts";
import type { LangChainMessage } from "./langchain-blocks.ts";
import { type OpenAiMessage, openai } from "./openai.ts";
import { openaiResponses, type ResponsesMessage } from "./openai-responses.ts";
import type { FindToolFacts, RuleSet } from "./rules.ts";
import type { Fields } from "./schema.ts";
import { idsIn } from "./schema.ts";
import type { Part, Role, Shape } from "./shape.ts";
import { isUiMessage } from "./ui-messages.ts";

/** The message type of each dialect. */
export interface MessageOf {
  openai: OpenAiMessage;
  anthropic: AnthropicMessage;
  "ai-sdk": AiSdkMessage;
  gemini: GeminiMessage;
  "openai-responses": ResponsesMessage;
  langchain: LangChainMessage;
}

export type Dialect = keyof MessageOf;

const DEFINITIONS: { readonly [D in Dialect]: DialectDefinition<MessageOf[D]> } = {
  openai: remembering(openai),
  anthropic: remembering(anthropic),
  "ai-sdk": remembering(aiSdk),
  gemini: remembering(gemini),
  "openai-responses": remembering(openaiResponses),
  langchain: remembering(langchain),
};

export const DIALECTS = Object.keys(DEFINITIONS) as readonly Dialect[];

export function isDialect(name: string): name is Dialect {
  return Object.hasOwn(DEFINITIONS, name);
}

export function definitionOf<D extends Dialect>(dialect: D): DialectDefinition<MessageOf[D]> {
  return DEFINITIONS[dialect];
}

export function shapeOf<D extends Dialect>(dialect: D): Shape<MessageOf[D]>;
/** For a client's own type of the same messages: `shapeOf<ModelMessage>("ai-sdk")`. */
export function shapeOf<M extends object>(dialect: Dialect): Shape<M>;
export function shapeOf(dialect: Dialect): unknown {
  if (!isDialect(dialect))
    throw new PalimpsestError(
      "bad-dialect",
      `there is no dialect ${JSON.stringify(dialect)}; there are ${DIALECTS.join(", ")}`,
    );
  return DEFINITIONS[dialect].shape;
}

/** The rule set that fits a dialect when nothing more is known about the provider. */
export function rulesOf(dialect: Dialect): RuleSet {
  return DEFINITIONS[dialect].rules;
}

function remembering<M extends object>(definition: DialectDefinition<M>): DialectDefinition<M> {
  return { ...definition, shape: remembered(definition.shape) };
}

/*
 * What a dialect says about itself, beside the functions of its shape. Everything that depends on whose messages they are
 * (reading, recognizing, converting, judging, counting) asks this table and knows no dialect by name.
 */

export interface DialectDefinition<M extends object> {
  readonly shape: Shape<M>;
  /** What fits when nothing more is known about the provider. */
  readonly rules: RuleSet;
  /** Whether the shape can read the value; null when it can. */
  readonly check: (value: unknown) => MessageProblem | null;
  /** Names a field or value that only this dialect's messages have; null if there is none. */
  readonly mark: (value: Fields) => string | null;
  /** A sentence about an unknown block in a message that passed `check`; a file with one is probably damaged. Null: none. */
  readonly unknownBlock: (value: Fields) => string | null;
  /** A model of the family that speaks it, for counting before a model is known. */
  readonly model: string;
  /** Whether a thought signed by this provider may travel in it, signature and all. */
  readonly carries: (signer: string | null) => boolean;
  /** Whether two neighbours in a flat list are one message, where the API's list is flatter than a conversation. */
  together?(first: M, second: M): boolean;
  /** Whether the user's words after tool results stand in one message with them. */
  readonly resultsIn: "tool" | "user";
  /** Blocks that control this protocol; meaningless in other dialects. */
  readonly control: readonly string[];
}

export interface MessageProblem {
  readonly problem: "not-an-object" | "unknown-role" | "bad-content" | "bad-block" | "bad-field";
  /** A sentence that says where, and what was expected. */
  readonly detail: string;
}

/*
 * Decides whose messages a parsed file holds, from marks that only one dialect uses. Plain text messages look the same
 * everywhere; they count as OpenAI's.
 */

export interface Detection {
  readonly dialect: Dialect;
  /** What decided, for the person who imports the file. */
  readonly reason: string;
  /** How many messages have a mark of this dialect. */
  readonly marked: number;
}

/** The dialect with the most marked messages; values that aren't messages are passed over. */
export function detectDialect(messages: Iterable<unknown>): Detection {
  const votes = dialectVotes();
  for (const message of messages) votes.add(message);
  return votes.detection();
}

/** The same for messages that come one after the other. */
export function dialectVotes() {
  const votes = new Map<Dialect, { count: number; reason: string }>();
  let index = 0;
  return {
    add(message: unknown): void {
      for (const dialect of DIALECTS) {
        const mark = isRecord(message) ? definitionOf(dialect).mark(message) : null;
        if (mark === null) continue;
        const before = votes.get(dialect);
        votes.set(dialect, {
          count: (before?.count ?? 0) + 1,
          reason: before?.reason ?? `message ${index} has ${mark}`,
        });
      }
      index++;
    },
    detection(): Detection {
      const [winner] = [...votes].sort(([, a], [, b]) => b.count - a.count);
      if (winner === undefined)
        return { dialect: "openai", reason: "plain text only, which OpenAI's format covers", marked: 0 };
      const [dialect, { reason, count: marked }] = winner;
      return { dialect, reason, marked };
    },
  };
}

/**
 * A sentence about the first value that no dialect's shape could read, and what it looks like; null when there is none. Reading
 * it anyway would make a message up.
 */
export function unreadable(messages: readonly unknown[]): string | null {
  const index = messages.findIndex((message) => !isReadable(message));
  if (index === -1) return null;
  const message = messages[index];
  const place = `message ${index + 1}`;
  if (isUiMessage(message)) {
    return `${place} looks like an AI SDK UI message: give what readUiMessages of @palimpsest/core makes of the list`;
  }
  if (!isRecord(message)) return `${place} is ${message === null ? "null" : `a ${typeof message}`}, not a message`;
  const names = Object.keys(message).slice(0, 8).join(", ");
  return `${place} has the fields ${names}: no dialect has such messages`;
}

/** A list is a turn of several items. */
function isReadable(message: unknown): boolean {
  if (Array.isArray(message)) return message.length > 0;
  if (!isRecord(message) || isUiMessage(message)) return false;
  const isChat = typeof message["role"] === "string" && ("content" in message || "tool_calls" in message);
  return isChat || DIALECTS.some((dialect) => definitionOf(dialect).mark(message) !== null);
}

/*
 * The boundary for messages from outside: checks a parsed JSON value far enough that the dialect's shape can read it, and
 * names the first thing wrong. Blocks and fields we don't know are welcome: they are carried as they are.
 */

export type ReadResult<M> =
  | { readonly kind: "message"; readonly message: M }
  | ({ readonly kind: "problem" } & MessageProblem);

export function readMessage<D extends Dialect>(dialect: D, value: unknown): ReadResult<MessageOf[D]> {
  const problem = definitionOf(dialect).check(value);
  if (problem !== null) return { kind: "problem", ...problem };
  return { kind: "message", message: value as MessageOf[D] }; // every field that a shape reads is checked
}

/** A stored message of a known dialect. Throws where the body holds no such message. */
export function parseMessage<D extends Dialect>(dialect: D, body: string): MessageOf[D] {
  const read = readMessage(dialect, JSON.parse(body));
  if (read.kind === "problem") throw new TypeError(`a stored ${dialect} message can't be read: ${read.detail}`);
  return read.message;
}

/** A message as a log stores it: JSON, and the dialect it is in. */
interface StoredMessage {
  readonly dialect: Dialect;
  readonly body: string;
}

/** A stored message with the shape that reads it. */
export function readStored({ dialect, body }: StoredMessage): {
  readonly shape: Shape<object>;
  readonly message: object;
} {
  const message: unknown = JSON.parse(body);
  if (typeof message !== "object" || message === null) throw new TypeError(`a stored ${dialect} message is no object`);
  return { shape: shapeOf<object>(dialect), message };
}

/** A stored message as messages of this shape, converted where it is in another dialect. */
export function readStoredAs<M>(stored: StoredMessage, shape: Shape<M>): readonly M[] {
  const { message } = readStored(stored);
  // Only the name of a shape's dialect says which type its messages have.
  if (stored.dialect === shape.dialect) return [message as M];
  if (!isDialect(shape.dialect)) throw new TypeError(`${shape.dialect} is no dialect of a log`);
  return convertInto([message], definitionOf(stored.dialect), definitionOf(shape.dialect), shape);
}

/**
 * What a person typed in the thread: empty for messages that were imported, injected or read from elsewhere, for those of somebody with a
 * name of their own, and for those that carry a tool's call or result, as some clients send them in the user's name.
 */
export function typedText<M>(message: M, shape: Shape<M>, origin: Origin): string {
  if (origin !== "user" || shape.role(message) !== "user" || speakerName(message) !== null) return "";
  const parts = shape.parts(message);
  if (parts.some(({ kind }) => kind === "call" || kind === "result")) return "";
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n\n");
}

/** The name of a person, where a message of a user or an assistant has one. */
export function speakerName(message: unknown): string | null {
  if (typeof message !== "object" || message === null || !("name" in message) || !("role" in message)) return null;
  const { name, role } = message;
  return typeof name === "string" && name.trim() !== "" && (role === "user" || role === "assistant")
    ? name.trim()
    : null;
}

/*
 * Messages of one provider as messages of another. Total: text, calls, results and images always arrive. What only the
 * sender could use stays behind: foreign signatures, and blocks that steer its own protocol. Validity is not judged here.
 */

export function convert<F extends Dialect, T extends Dialect>(
  messages: readonly MessageOf[F][],
  from: F,
  to: T,
): readonly MessageOf[T][] {
  if (isSame(messages, from, to)) return messages;
  const target = definitionOf(to);
  return convertInto(messages, definitionOf(from), target, target.shape);
}

function isSame<T extends Dialect>(
  _messages: readonly object[],
  from: Dialect,
  to: T,
): _messages is readonly MessageOf[T][] {
  return from === to;
}

function convertInto<F extends object, M>(
  messages: readonly F[],
  sender: DialectDefinition<F>,
  target: Pick<DialectDefinition<object>, "resultsIn" | "carries">,
  shape: Shape<M>,
): readonly M[] {
  return turnsOf(messages, sender, target).flatMap(({ role, parts }) =>
    shape.make(
      role,
      parts.flatMap((part) => adapt(part, sender, target)),
    ),
  );
}

interface ConvertedTurn {
  readonly role: Role;
  readonly parts: Part[];
}

/** One turn per message, but neighbouring tool messages as one: each provider splits their results in its own way. */
function turnsOf<M extends object>(
  messages: readonly M[],
  { shape }: DialectDefinition<M>,
  { resultsIn }: Pick<DialectDefinition<object>, "resultsIn">,
): readonly ConvertedTurn[] {
  const turns: ConvertedTurn[] = [];
  const names = new Map<string, string>();
  for (const message of messages) {
    const role = shape.role(message);
    const parts = shape.parts(message).map((part) => named(part, names));
    const last = turns.at(-1);
    const joins = last?.role === "tool" && (role === "tool" || role === resultsIn);
    if (joins) last.parts.push(...parts);
    else turns.push({ role, parts });
  }
  return turns;
}

/** Only some providers repeat the tool's name beside the result; elsewhere it is that of the latest call of the id. */
function named(part: Part, names: Map<string, string>): Part {
  if (part.kind === "call") names.set(part.id, part.name);
  return part.kind === "result" ? { ...part, name: names.get(part.id) ?? part.name } : part;
}

function adapt(
  part: Part,
  { control }: Pick<DialectDefinition<object>, "control">,
  { carries }: Pick<DialectDefinition<object>, "carries">,
): readonly Part[] {
  if (part.kind === "other") return control.includes(part.type) ? [] : [{ kind: "text", text: part.json }];
  if (part.kind !== "reasoning" || part.signedBy === null || carries(part.signedBy)) return [part];
  return part.text === "" ? [] : [{ ...part, signature: null, signedBy: null, redacted: false }];
}

/*
 * A shape that reads each message object once. Messages are values that are never edited in place, so what was read stays
 * true as long as the object lives, and planning over a long view costs only what is new.
 */

function remembered<M extends object>(shape: Shape<M>): Shape<M> {
  const parts = once(shape.parts);
  return {
    ...shape,
    parts,
    calls: once((message) => idsIn(parts(message), "call")),
    answers: once((message) => idsIn(parts(message), "result")),
    // What a repair makes of the same messages stays the same object, so that it is counted once and not at every step.
    join: lastWith(shape.join, (a, b) => a === b),
    select: lastWith(shape.select, (a, b) => a.length === b.length && a.every((index, at) => index === b[at])),
  };
}

function once<M extends object, T>(read: (message: M) => T): (message: M) => T {
  const cache = new WeakMap<M, T>();
  return (message) => {
    const seen = cache.get(message);
    if (seen !== undefined) return seen;
    const value = read(message);
    cache.set(message, value);
    return value;
  };
}

/** A shape that puts what tools say of themselves on the parts it shows, so that readers of a call need no list of names. */
export function withToolFacts<M>(shape: Shape<M>, find: FindToolFacts): Shape<M> {
  const tell = (part: Part): Part => {
    if ((part.kind !== "call" && part.kind !== "result") || part.name === null) return part;
    const facts = find(part.name);
    return facts === undefined ? part : { ...part, facts };
  };
  const cache = new WeakMap<readonly Part[], readonly Part[]>();
  return {
    ...shape,
    parts(message) {
      const parts = shape.parts(message);
      const seen = cache.get(parts);
      if (seen !== undefined) return seen;
      const told = parts.map(tell);
      // What a tool says may become known later: only what was found is kept.
      if (told.every((part, index) => part === parts[index])) return parts;
      cache.set(parts, told);
      return told;
    },
  };
}

/** Remembers for each message what was last made of it, and with what. */
function lastWith<M extends object, W>(
  make: (message: M, other: W) => M,
  same: (a: W, b: W) => boolean,
): (message: M, other: W) => M {
  const cache = new WeakMap<M, { readonly other: W; readonly made: M }>();
  return (message, other) => {
    const last = cache.get(message);
    if (last !== undefined && same(last.other, other)) return last.made;
    const made = make(message, other);
    cache.set(message, { other, made });
    return made;
  };
}
