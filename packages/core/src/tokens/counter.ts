/**
 * Counts messages. A counter is any function from text to tokens; this file owns which pieces of a message are counted
 * (all of them: reasoning, tool calls, results, images, files, blocks we don't know) and the framing around them.
 * A meter remembers each message object's count, so that a call costs the new messages and not the thread.
 */
import type { CallPart, FilePart, Part, Shape } from "../message/shape.ts";
import { type ImageRule, imageTokens, piecesOf } from "./estimates.ts";

/**
 * What wraps the content: role and separators of a message; ids, names and tags of a call, of each of its arguments and
 * of its result. Providers differ a lot: Anthropic writes a call as tags around every argument.
 */
export interface Frame {
  readonly message: number;
  readonly call: number;
  readonly argument: number;
  readonly result: number;
  /** Whether the model reads a call's arguments as JSON text or as plain values, without the escapes. */
  readonly inputs: "json" | "plain";
}

const PLAIN_FRAME: Frame = { message: 4, call: 8, argument: 0, result: 6, inputs: "json" };

/** Tokens of one message as a part of a prompt, framing included. Total: never throws, whatever the parts hold. */
export function countMessage<M>(
  message: M,
  shape: Pick<Shape<M>, "parts">,
  counter: CountText,
  rule: ImageRule = "anthropic",
): number {
  return sum(atOnce(sizeMessage(message, shape, { count: inPieces(counter), imageRule: rule })));
}

/** A message's tokens, images apart from the rest so that a breakdown can show them. */
export interface MessageSize {
  readonly text: number;
  readonly images: number;
}

export interface MeterOptions {
  readonly counter: CountText;
  readonly imageRule?: ImageRule | undefined;
  readonly frame?: Frame | undefined;
}

export interface Meter<M> {
  /** Tokens of one message; the same object is counted once. Messages are never edited in place, so objects are keys. */
  message(message: M): number;
  /** The same, images apart. */
  size(message: M): MessageSize;
  /** Of each part's own text and its pictures, by its place. Counted with the message, once. */
  parts(message: M): readonly MessageSize[];
  /** Counts what isn't counted yet, and yields after each text and each piece of a long one: others get a turn meanwhile. */
  steps(messages: readonly M[], schemas?: readonly unknown[]): Generator<void, void>;
  messages(messages: readonly M[]): number;
  /** A system prompt or any other bare text, framing included. */
  system(text: string): number;
  /** Tool schemas: each by its JSON as the provider receives it. */
  tools(schemas: readonly unknown[]): number;
  text: CountText;
}

export function createMeter<M extends object>(shape: Pick<Shape<M>, "parts">, given: MeterOptions): Meter<M> {
  const { frame = PLAIN_FRAME, imageRule } = given;
  const count = inPieces(given.counter);
  const counter: CountText = (text) => atOnce(count(text));
  const counted = new WeakMap<object, CountedMessage>();
  const schemas = new WeakMap<object, number>();
  const prefix = new PrefixSums<M>();
  function* sizing(message: M): Generator<void, CountedMessage> {
    const fresh = yield* sizeMessage(message, shape, { count, imageRule, frame });
    counted.set(message, fresh);
    return fresh;
  }
  const size = (message: M): CountedMessage => counted.get(message) ?? atOnce(sizing(message));
  function* tool(schema: unknown): Generator<void, number> {
    if (typeof schema !== "object" || schema === null) return frame.call + (yield* count(String(schema)));
    const known = schemas.get(schema);
    if (known !== undefined) return known;
    const fresh = frame.call + (yield* count(JSON.stringify(schema)));
    schemas.set(schema, fresh);
    return fresh;
  }
  return {
    size,
    parts: (message) => size(message).parts,
    *steps(messages, schemas = []) {
      for (const message of messages) if (!counted.has(message)) yield* sizing(message);
      for (const schema of schemas) {
        yield* tool(schema);
        yield;
      }
    },
    message: (message) => sum(size(message)),
    messages: (messages) => prefix.total(messages, (message) => sum(size(message))),
    system: (text) => (text === "" ? 0 : frame.message + counter(text)),
    tools: (list) => list.reduce<number>((total, schema) => total + atOnce(tool(schema)), 0),
    text: counter,
  };
}

/** Sums along the list asked about last: a list grown by one message costs that message and a look at the others. */
class PrefixSums<M> {
  #messages: M[] = [];
  #sums: number[] = [0];

  total(messages: readonly M[], tokens: (message: M) => number): number {
    let same = 0;
    const shared = Math.min(messages.length, this.#messages.length);
    while (same < shared && messages[same] === this.#messages[same]) same += 1;
    this.#messages.length = same;
    this.#sums.length = same + 1;
    for (let at = same; at < messages.length; at += 1) {
      const message = messages[at]!;
      this.#messages.push(message);
      this.#sums.push(this.#sums[at]! + tokens(message));
    }
    return this.#sums[messages.length]!;
  }
}

function sum({ text, images }: MessageSize): number {
  return text + images;
}

interface CountedMessage extends MessageSize {
  readonly parts: readonly MessageSize[];
}

interface SizeOptions extends Omit<MeterOptions, "counter"> {
  readonly count: CountInPieces;
}

/** Yields after each text: a message may have thousands of parts. */
function* sizeMessage<M>(
  message: M,
  shape: Pick<Shape<M>, "parts">,
  { count, imageRule = "anthropic", frame = PLAIN_FRAME }: SizeOptions,
): Generator<void, CountedMessage> {
  const parts: MessageSize[] = [];
  let text = frame.message;
  let images = 0;
  for (const part of shape.parts(message)) {
    const tokens = part.kind === "image" ? 0 : yield* ownTokens(part, count);
    const own = { text: tokens, images: pictureTokens(part, imageRule) };
    parts.push(own);
    yield;
    text += own.text + (part.kind === "call" ? yield* aroundCall(part, own.text, count, frame) : 0);
    if (part.kind === "result") text += frame.result;
    images += own.images;
  }
  return { text, images, parts };
}

function pictureTokens(part: Part, rule: ImageRule): number {
  const pictures = part.kind === "image" ? [part] : part.kind === "result" ? part.images : [];
  return pictures.reduce((tokens, picture) => tokens + imageTokens(picture, rule), 0);
}

function* ownTokens(part: Exclude<Part, { kind: "image" }>, count: CountInPieces): Generator<void, number> {
  switch (part.kind) {
    case "text":
    case "result":
      return yield* count(part.text);
    // The signature is a proof, not prompt text: providers bill the thinking it stands for. Redacted thinking has no
    // text of its own, so there the sealed data is the only measure of it.
    case "reasoning":
      return part.text === "" && part.signature !== null
        ? Math.ceil(part.signature.length / 6)
        : yield* count(part.text);
    case "call":
      return yield* count(part.input);
    case "file":
      return yield* fileTokens(part, count);
    case "other":
      return yield* count(part.json);
  }
}

/** What a call counts beyond its input: frames and its name, less the escapes that its model never reads. */
function* aroundCall(
  { name, input }: CallPart,
  own: number,
  count: CountInPieces,
  frame: Frame,
): Generator<void, number> {
  const frames = frame.call + (frame.argument === 0 ? 0 : frame.argument * argumentsIn(input));
  const named = frames + (yield* count(name));
  yield;
  if (frame.inputs === "json" || !input.includes("\\")) return named;
  const read = yield* count(withoutEscapes(input));
  yield;
  return named + read - own;
}

const CONTROLS: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** JSON text with its escapes resolved: a file written by a call is read line by line, not as one line with `\\n`. */
function withoutEscapes(json: string): string {
  return json.replace(/\\(?:u([0-9a-fA-F]{4})|([^u]))/g, (_, hex: string | undefined, char: string) =>
    hex === undefined ? (CONTROLS[char] ?? char) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** How many arguments a call's JSON text has at its top level; scanned, since a model's JSON needn't parse. */
function argumentsIn(json: string): number {
  let depth = 0;
  let count = 0;
  let quoted = false;
  for (let at = 0; at < json.length; at += 1) {
    const char = json[at];
    if (quoted) {
      if (char === "\\") at += 1;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") depth -= 1;
    else if (char === ":" && depth === 1) count += 1;
  }
  return count;
}

/** A text file is read as text; a binary one (a PDF) is charged by its bytes, as pages of about 3 kB and 1,500 tokens. */
function* fileTokens(part: FilePart, count: CountInPieces): Generator<void, number> {
  const name = yield* count(part.name ?? "");
  const textual = part.mediaType === null || /^text\/|[/+](json|xml|yaml|javascript)\b/.test(part.mediaType);
  return name + (textual ? yield* count(part.data) : Math.ceil((part.data.length * 0.75) / 2));
}

/**
 * The counter that needs no table: characters over a rate. Text that is denser than prose is charged more, because a
 * plain rate loses more than half of it: CJK, kana, hangul and emoji by the character, other scripts and symbols by
 * about two, hashes and base64 by two.
 */
export type CountText = (text: string) => number;

/** One token per `n` characters (UTF-16 units) of ordinary text, rounded up. */
export function charsPerToken(n: number): CountText {
  if (!(n > 0)) throw new RangeError(`charsPerToken needs a number above 0, not ${n}.`);
  const rate = { plain: 1 / n, script: Math.max(0.45, 1 / n), wide: Math.max(1, 1 / n), hash: Math.max(0.5, 1 / n) };
  return (text) => {
    const { script, wide, hash } = denser(text);
    const plain = text.length - script - wide - hash;
    // The tenth decimal is floating-point noise: 33 characters at 3.3 are 10 tokens.
    const tokens = plain * rate.plain + script * rate.script + wide * rate.wide + hash * rate.hash;
    return Math.max(0, Math.ceil(tokens - 1e-9));
  };
}

interface Denser {
  readonly script: number;
  readonly wide: number;
  readonly hash: number;
}

/** Shorter runs of letters and digits are words, versions or ids that a tokenizer knows. */
const SHORTEST_HASH = 16;

/** How many characters are of each dense kind. One pass: a thread of megabytes is counted in milliseconds. */
function denser(text: string): Denser {
  let script = 0;
  let wide = 0;
  let hash = 0;
  let start = 0;
  let switches = 0;
  let last = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : 0;
    const kind = code < 128 ? KINDS[code]! : 0;
    if (kind !== 0) {
      if (kind !== last) switches += 1;
      last = kind;
      continue;
    }
    // Letters and digits in turn, and no word in between: nothing a tokenizer has a long token for.
    const run = at - start;
    if (run >= SHORTEST_HASH && (switches - 1) * 8 >= run) hash += run;
    start = at + 1;
    switches = 0;
    last = 0;
    if (code >= 0x2e80) wide += 1;
    else if (code >= 0x370) script += 1;
  }
  return { script, wide, hash };
}

/** By character code: 1 for a letter, 2 for a digit, 0 for the rest. A table, because this runs for every character. */
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  return /[a-z]/i.test(char) ? 1 : /\d/.test(char) ? 2 : 0;
});

/** From so many characters on the last count is remembered: sizing a prompt and cutting it count the same text. */
const LONG = 50_000;

export function sampled(counter: CountText): CountText {
  const count = inPieces(counter);
  return (text) => atOnce(count(text));
}

/** Counts a text; yields after each piece of a long one. */
type CountInPieces = (text: string) => Generator<void, number>;

function inPieces(counter: CountText): CountInPieces {
  let last = { read: "", tokens: 0 };
  return function* (text) {
    if (text.length <= LONG) return counter(text);
    const pieces = piecesOf(text);
    const read = pieces.join("");
    let { tokens } = last;
    if (read !== last.read) {
      tokens = 0;
      for (const piece of pieces) {
        tokens += counter(piece);
        yield;
      }
      last = { read, tokens };
    }
    return Math.ceil((tokens * text.length) / read.length);
  };
}

function atOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Windows learned from providers' refusals ("maximum context length is ..."). A limit belongs to one provider, address
 * and model, is forgotten after a day, and never makes a window larger than it was configured. The clock is the caller's.
 */

export interface Endpoint {
  readonly provider: string;
  readonly baseUrl: string | null;
  readonly model: string;
}

export interface LearnedLimit {
  readonly tokens: number;
  /** Milliseconds since 1970. */
  readonly learnedAt: number;
}

export type LearnedLimits = Readonly<Record<string, LearnedLimit>>;

const DAY = 24 * 60 * 60 * 1000;

/** The limits with one more; what can't be a window is not learned, and what has expired is dropped. */
export function learnLimit(limits: LearnedLimits, endpoint: Endpoint, limit: LearnedLimit): LearnedLimits {
  const fresh = Object.fromEntries(Object.entries(limits).filter(([, other]) => isFresh(other, limit.learnedAt)));
  if (!Number.isFinite(limit.tokens) || limit.tokens < 1) return fresh;
  return { ...fresh, [endpointKey(endpoint)]: { tokens: Math.floor(limit.tokens), learnedAt: limit.learnedAt } };
}

export interface EffectiveWindow {
  readonly tokens: number;
  readonly source: "configured" | "learned";
}

export function effectiveWindow(
  configured: number,
  { limits, endpoint, now }: { readonly limits: LearnedLimits; readonly endpoint: Endpoint; readonly now: number },
): EffectiveWindow {
  const limit = limits[endpointKey(endpoint)];
  if (limit === undefined || !isFresh(limit, now) || limit.tokens >= configured) {
    return { tokens: configured, source: "configured" };
  }
  return { tokens: limit.tokens, source: "learned" };
}

/** The smallest limit that the server of this model at this address has stated and that is still valid; null: none. */
export function learnedLimit(
  limits: LearnedLimits,
  { baseUrl, model, now }: Omit<Endpoint, "provider"> & { readonly now: number },
): number | null {
  const matches = endpointsWith(limits, { baseUrl, model })
    .map((key) => limits[key]!)
    .filter((limit) => isFresh(limit, now));
  return matches.length === 0 ? null : Math.min(...matches.map(({ tokens }) => tokens));
}

/** The keys of the limits of this model at this address, whichever provider's protocol it was asked by. */
export function endpointsWith(limits: LearnedLimits, { baseUrl, model }: Omit<Endpoint, "provider">): string[] {
  const end = endpointKey({ provider: "", baseUrl, model }).slice('[""'.length);
  return Object.keys(limits).filter((key) => key.endsWith(end));
}

function isFresh(limit: LearnedLimit, now: number): boolean {
  return now - limit.learnedAt < DAY;
}

/** Under which limits of an endpoint are kept. */
export function endpointKey({ provider, baseUrl, model }: Endpoint): string {
  return JSON.stringify([provider, baseUrl, model]);
}
