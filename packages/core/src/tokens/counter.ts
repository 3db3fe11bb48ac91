/**
 * Counts messages. A counter is any function from text to tokens; this file owns which pieces of a message are counted
 * (all of them: reasoning, tool calls, results, images, files, blocks we don't know) and the framing around them.
 * A meter remembers each message object's count, so that a call costs the new messages and not the thread.
 */
import type { FilePart, Part, Shape } from "../message/shape.ts";
import type { Count } from "./account.ts";
import { type ImageRule, imageTokens } from "./images.ts";

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
  return sum(sizeMessage(message, shape, { counter, imageRule: rule }));
}

/** A message's tokens, images apart from the rest so that a breakdown can show them. */
export interface MessageSize {
  readonly text: number;
  readonly images: number;
}

export interface MeterOptions {
  readonly counter: CountText;
  readonly imageRule?: ImageRule;
  readonly frame?: Frame;
}

export interface Meter<M> {
  /** Tokens of one message; the same object is counted once. Messages are never edited in place, so objects are keys. */
  message(message: M): number;
  /** The same, images apart. */
  size(message: M): MessageSize;
  messages(messages: readonly M[]): number;
  /** A system prompt or any other bare text, framing included. */
  system(text: string): number;
  /** Tool schemas: each by its JSON as the provider receives it. */
  tools(schemas: readonly unknown[]): number;
  text: CountText;
}

export function createMeter<M extends object>(shape: Pick<Shape<M>, "parts">, given: MeterOptions): Meter<M> {
  const options = { ...given, counter: sampled(given.counter) };
  const counted = new WeakMap<object, MessageSize>();
  const schemas = new WeakMap<object, number>();
  const frame = options.frame ?? PLAIN_FRAME;
  const prefix = new PrefixSums<M>();
  const size = (message: M): MessageSize => {
    const tokens = counted.get(message);
    if (tokens !== undefined) return tokens;
    const fresh = sizeMessage(message, shape, options);
    counted.set(message, fresh);
    return fresh;
  };
  const tool = (schema: unknown): number => {
    if (typeof schema !== "object" || schema === null) return frame.call + options.counter(String(schema));
    const known = schemas.get(schema);
    if (known !== undefined) return known;
    const fresh = frame.call + options.counter(JSON.stringify(schema));
    schemas.set(schema, fresh);
    return fresh;
  };
  return {
    size,
    message: (message) => sum(size(message)),
    messages: (messages) => prefix.total(messages, (message) => sum(size(message))),
    system: (text) => (text === "" ? 0 : frame.message + options.counter(text)),
    tools: (list) => list.reduce<number>((total, schema) => total + tool(schema), 0),
    text: options.counter,
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

function sizeMessage<M>(message: M, shape: Pick<Shape<M>, "parts">, options: MeterOptions): MessageSize {
  const { counter, imageRule = "anthropic", frame = PLAIN_FRAME } = options;
  let text = frame.message;
  let images = 0;
  for (const part of shape.parts(message)) {
    if (part.kind === "image") images += imageTokens(part, imageRule);
    else text += partTokens(part, counter, frame);
    if (part.kind === "result") for (const image of part.images) images += imageTokens(image, imageRule);
  }
  return { text, images };
}

function partTokens(part: Exclude<Part, { kind: "image" }>, counter: CountText, frame: Frame): number {
  switch (part.kind) {
    case "text":
      return counter(part.text);
    // The signature is a proof, not prompt text: providers bill the thinking it stands for. Redacted thinking has no
    // text of its own, so there the sealed data is the only measure of it.
    case "reasoning":
      return part.text === "" && part.signature !== null ? Math.ceil(part.signature.length / 6) : counter(part.text);
    case "call":
      return frame.call + counter(part.name) + inputTokens(part.input, counter, frame);
    case "result":
      return frame.result + counter(part.text);
    case "file":
      return fileTokens(part, counter);
    case "other":
      return counter(part.json);
  }
}

function inputTokens(input: string, counter: CountText, frame: Frame): number {
  const text = frame.inputs === "json" ? input : withoutEscapes(input);
  return (frame.argument === 0 ? 0 : frame.argument * argumentsIn(input)) + counter(text);
}

const CONTROLS: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** JSON text with its escapes resolved: a file written by a call is read line by line, not as one line with `\\n`. */
function withoutEscapes(json: string): string {
  if (!json.includes("\\")) return json;
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
function fileTokens(part: FilePart, counter: CountText): number {
  const name = counter(part.name ?? "");
  const textual = part.mediaType === null || /^text\/|[/+](json|xml|yaml|javascript)\b/.test(part.mediaType);
  return name + (textual ? counter(part.data) : Math.ceil((part.data.length * 0.75) / 2));
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

/*
 * Counts a very long text by samples spread over it: exact for texts up to 128,000 characters, within a few percent beyond
 * them. A text of megabytes fills any window, so that more would only take time that others wait for.
 */

const SAMPLES = 64;
const SAMPLE = 2000;
/** From so many characters on the last count is remembered: sizing a prompt and cutting it count the same text. */
const LONG = 50_000;

export function sampled(count: CountText): CountText {
  let last = { read: "", tokens: 0 };
  return (text) => {
    if (text.length <= LONG) return count(text);
    const samples = text.length <= SAMPLES * SAMPLE ? [text] : samplesOf(text);
    const read = samples.join("");
    if (read !== last.read) {
      let tokens = 0;
      for (const sample of samples) tokens += count(sample);
      last = { read, tokens };
    }
    return Math.ceil((last.tokens * text.length) / read.length);
  };
}

function samplesOf(text: string): string[] {
  const stride = (text.length - SAMPLE) / (SAMPLES - 1);
  return Array.from({ length: SAMPLES }, (_, index) => {
    const start = Math.floor(index * stride);
    return text.slice(start, start + SAMPLE);
  });
}

// The window as a budget: what is reserved for the answer, whether a prompt fits, and what fills it. The parts of a
// breakdown sum exactly to the count; the groups add what is free and reserved, and sum exactly to the window.

/** The model's own limit on its answer, else an eighth of a small window and 4,096 tokens of a large one. */
export function answerReserve(window: number, maxOutputTokens: number | null): number {
  return maxOutputTokens ?? Math.min(4096, Math.floor(window / 8));
}

export interface Budget {
  readonly window: number;
  readonly reserve: number;
  /** Largest request the provider takes, in bytes; null when there is no such limit. */
  readonly maxBytes?: number | null;
}

export type Fit =
  | { readonly kind: "fits"; readonly free: number }
  | { readonly kind: "too-many-tokens"; readonly by: number }
  | { readonly kind: "too-many-bytes"; readonly by: number };

/** Before the first report the counter alone speaks; this much more is assumed. */
export const UNREPORTED_MARGIN = 1.05;

/** Whether a prompt leaves room for its answer, in tokens and in bytes. */
export function fit(prompt: { readonly count: Count; readonly bytes?: number }, budget: Budget): Fit {
  const { count, bytes = 0 } = prompt;
  const tokens = count.source === "estimated" ? Math.ceil(count.tokens * UNREPORTED_MARGIN) : count.tokens;
  const free = budget.window - budget.reserve - tokens;
  if (free < 0) return { kind: "too-many-tokens", by: -free };
  const maxBytes = budget.maxBytes ?? null;
  if (maxBytes !== null && bytes > maxBytes) return { kind: "too-many-bytes", by: bytes - maxBytes };
  return { kind: "fits", free };
}

/** Bytes of a text as it goes over the wire (UTF-8; a lone surrogate is replaced by three bytes). */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x80) continue;
    bytes += code < 0x800 ? 1 : 2;
    // A pair is four bytes in all: its second half adds none of its own.
    if (code >= 0xd800 && code <= 0xdbff && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) at += 1;
  }
  return bytes;
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
