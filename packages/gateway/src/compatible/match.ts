/**
 * Decides which thread a request belongs to, from what it is known by and what the store has. Every outcome says how many
 * of the request's messages the thread holds already: only the rest is written. Pure: the caller has asked the store.
 */

import { createHash, hash as digest } from "node:crypto";
import type { Part, ResultPart, Shape } from "@palimpsest/core/internal/message";
import { inTurns, jsonSteps, slices } from "palimpsest/internal/threads";
import type { MatchRow } from "palimpsest/stores";

export interface RequestFingerprint {
  /** After each message of the conversation, leading system messages left out. */
  readonly places: readonly ChainPlace[];
  readonly group: string | null;
  /** Of system prompt and tools. */
  readonly fixed: string;
  readonly sideCall: "likely" | "no";
}

/** A conversation in the store that the request begins with. */
export interface MatchCandidate extends Omit<MatchRow, "answer"> {
  /** What the thread holds after that answer, as it continues the request's chain: up to its next answer. */
  readonly tail: readonly ChainPlace[];
}

export type ThreadMatch =
  | { readonly kind: "new"; readonly parent: string | null }
  /** The thread goes on; it has `known` of the messages. If another request gets there first, it is forked instead. */
  | { readonly kind: "extended"; readonly thread: string; readonly known: number; readonly instead: Instead | null }
  /** A thread of its own that shares the records up to `at`, which hold `known` of the messages. */
  | { readonly kind: "forked"; readonly thread: string; readonly at: number; readonly known: number }
  | { readonly kind: "passed"; readonly reason: "side-call" };

/** What was seen of the thread, and where it is forked if it has changed since or is held. */
interface Instead {
  /** Up to where a fork shares the records, and how many of the messages they hold. */
  readonly at: number;
  readonly known: number;
  /** Where its log ended. */
  readonly version: number;
}

export interface Findings {
  readonly candidates: readonly MatchCandidate[];
  /** A thread in whose middle the request begins: its client has cut the head off. Only looked for by name or group. */
  readonly run: MatchedRun | null;
  /** The thread that the client named, if there is one of this name. */
  readonly named: string | null;
  /** The group's thread that changed last, if the group has one. */
  readonly groupThread: string | null;
}

/** `depth`: how many of the request's messages, from its first on, stand there in a row, the last of them an answer. */
type MatchedRun = MatchCandidate & { readonly depth: number };

export function match(request: RequestFingerprint, { candidates, run, named, groupThread }: Findings): ThreadMatch {
  const best =
    deepest(request, candidates) ??
    (run && { candidate: run, depth: run.depth, more: unanswered(request, run, run.depth) });
  if (best !== null) return joining(request, best);
  // A client that names its thread may send only what is new.
  if (named !== null) return { kind: "extended", thread: named, known: 0, instead: null };
  if (groupThread !== null && request.sideCall === "likely") return { kind: "passed", reason: "side-call" };
  return { kind: "new", parent: groupThread };
}

/** From a place in a thread that the client has named: all of its messages come after it. */
export function goOn(
  request: RequestFingerprint,
  candidate: MatchCandidate,
): Extract<ThreadMatch, { readonly thread: string }> {
  return joining(request, { candidate, depth: 0, more: unanswered(request, candidate, 0) });
}

interface MatchHit {
  readonly candidate: MatchCandidate;
  /** How many of the request's messages stand up to the answer. */
  readonly depth: number;
  /** How many more the thread has, unanswered; null: it goes on otherwise. */
  readonly more: number | null;
}

/** How to go on with a thread that has been found. */
function joining(
  request: RequestFingerprint,
  { candidate, depth, more }: MatchHit,
): Extract<ThreadMatch, { readonly thread: string }> {
  const { threadId: thread, seq } = candidate;
  if (more === null) return { kind: "forked", thread, at: seq, known: depth };
  const known = Math.min(depth + more, request.places.length);
  return { kind: "extended", thread, known, instead: { at: seq, known: depth, version: candidate.version } };
}

function deepest(request: RequestFingerprint, candidates: readonly MatchCandidate[]): MatchHit | null {
  const hits = candidates.flatMap((candidate): MatchHit[] => {
    const depth = depthOf(request, candidate.hash);
    return depth === null ? [] : [{ candidate, depth, more: unanswered(request, candidate, depth) }];
  });
  return hits.toSorted((a, b) => compare(request, a, b))[0] ?? null;
}

/** How many messages stand up to a place. Looked for from the end: that is where a conversation goes on. */
export function depthOf({ places }: Pick<RequestFingerprint, "places">, hash: string): number | null {
  for (let at = places.length - 1; at >= 0; at -= 1) if (places[at]!.hash === hash) return at + 1;
  return null;
}

/** The deepest; of several the same group, then one that ends there, then the same system and tools, then the newest. */
function compare({ group, fixed }: RequestFingerprint, a: MatchHit, b: MatchHit): number {
  const rank = ({ candidate, depth, more }: MatchHit): readonly number[] => [
    depth,
    Number(group !== null && candidate.group === group),
    Number(more !== null),
    Number(candidate.fixed === fixed),
    Date.parse(candidate.updatedAt) || 0,
  ];
  const [left, right] = [rank(a), rank(b)];
  const at = left.findIndex((value, index) => value !== right[index]);
  return at === -1 ? 0 : right[at]! - left[at]!;
}

/** How many unanswered messages follow. A thread ends where it was found if all it has after that is what this request asks again: its run failed. */
function unanswered({ places }: RequestFingerprint, { tail }: MatchCandidate, depth: number): number | null {
  const repeats = tail.every(({ hash, answer }, index) => answer === null && places[depth + index]?.hash === hash);
  return repeats ? tail.length : null;
}

/*
 * The hash chain of a conversation: one keyed hash per message, over the previous hash and the message's content. Spelling,
 * ids, cache marks, reasoning and everything before the first message are left out, since clients change them. Keyed, so that
 * words can't be guessed from a hash. Pure.
 */

export interface ChainPlace {
  /** Of everything said up to this message. */
  readonly hash: string;
  /** Of this message alone, where it is an answer. */
  readonly answer: string | null;
}

/** Where a chain stands: enough to go on from there. */
export interface ChainState {
  /** Of the last message. */
  readonly hash: string;
  /** Results at the end, which are counted again with the next one. Null if the last message is no result. */
  readonly pending: PendingResults | null;
  /** Places of the calls they answer. */
  readonly calls: CallPlaces;
}

type CallPlaces = ReadonlyMap<string, number>;

interface PendingResults {
  /** The hash of what comes before them. */
  readonly before: string;
  readonly last: PendingResult;
}

/** Each names the one before it: a list would be copied for every result. */
interface PendingResult {
  readonly at: number;
  readonly text: string;
  readonly earlier: PendingResult | null;
}

export const START: ChainState = { hash: "palimpsest", pending: null, calls: new Map() };

/** `calls`: of the message that stands there. */
export function chainStateAt(hash: string, calls: readonly string[] = []): ChainState {
  return { hash, pending: null, calls: callPlaces(calls) };
}

function callPlaces(ids: readonly string[]): CallPlaces {
  const places = new Map<string, number>();
  for (const [at, id] of ids.entries()) if (!places.has(id)) places.set(id, at);
  return places;
}

interface ChainOptions<M> {
  readonly shape: Shape<M>;
  readonly secret: Secret;
  readonly from?: ChainState;
}

export interface Chained {
  readonly places: readonly ChainPlace[];
  readonly state: ChainState;
}

/** A place for each message; system messages at the start have none of their own and leave the chain where it was. */
export function chainOf<M>(messages: readonly M[], options: ChainOptions<M>): Chained {
  const steps = chainSteps(messages, options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same in steps of one message, several for a long one, so that the caller can do other work between two steps. */
export function* chainSteps<M>(
  messages: readonly M[],
  { shape, secret, from = START }: ChainOptions<M>,
): Generator<void, Chained> {
  let state = from;
  const places: ChainPlace[] = [];
  for (const message of messages) {
    const isLeading = state === START && shape.role(message) === "system";
    const added = isLeading ? { state, answer: null } : yield* after(state, message, { shape, secret });
    state = added.state;
    places.push({ hash: state.hash, answer: added.answer });
    yield;
  }
  return { places, state };
}

export type Secret = string | Buffer;

/** HMAC-SHA256 in two plain hashes: an object for each short message would cost ten times as much. Also for what is no message. */
export function keyed(secret: Secret, text: string): string {
  const { inner } = padsOf(secret);
  return outerHash(secret, digest("sha256", Buffer.concat([inner, Buffer.from(text)]), "buffer"));
}

/** The same; yields after each piece of a long text. */
export function* keyedSteps(secret: Secret, text: string): Generator<void, string> {
  if (text.length <= LONG) return keyed(secret, text);
  const hash = createHash("sha256").update(padsOf(secret).inner);
  for (const piece of slices(text)) {
    hash.update(piece);
    yield;
  }
  return outerHash(secret, hash.digest());
}

function outerHash(secret: Secret, first: Uint8Array): string {
  const { outer } = padsOf(secret);
  return digest("sha256", Buffer.concat([outer, first]), "base64url").slice(0, HASH_LENGTH);
}

interface Pads {
  readonly inner: Buffer;
  readonly outer: Buffer;
}

let known: (Pads & { readonly secret: Secret }) | null = null;

/** As RFC 2104 has them; the last secret's are kept, since there is mostly one. */
function padsOf(secret: Secret): Pads {
  if (known?.secret === secret) return known;
  const bytes = typeof secret === "string" ? Buffer.from(secret) : secret;
  const key = Buffer.alloc(64);
  (bytes.length > 64 ? createHash("sha256").update(bytes).digest() : bytes).copy(key);
  known = {
    secret,
    inner: Buffer.from(key.map((byte) => byte ^ 0x36)),
    outer: Buffer.from(key.map((byte) => byte ^ 0x5c)),
  };
  return known;
}

/** 132 bits. */
const HASH_LENGTH = 22;

/** Characters of a message from which on it takes more than one step. */
const LONG = 1_000_000;

interface ChainStep {
  readonly state: ChainState;
  readonly answer: string | null;
}

function* after<M>(
  state: ChainState,
  message: M,
  { shape, secret }: { readonly shape: Shape<M>; readonly secret: Secret },
): Generator<void, ChainStep> {
  const role = shape.role(message);
  const parts = shape.parts(message);
  const texts: string[] = [];
  let last = state.pending?.last ?? null;
  for (const part of parts) {
    if (part.kind === "result") last = { at: placeOf(part, state.calls), text: yield* resultText(part), earlier: last };
    const text = partText(part);
    if (text !== null) texts.push(text);
    yield;
  }
  const before = state.pending?.before ?? state.hash;
  if (role === "tool" && texts.length === 0) {
    if (last === null) return { state, answer: null };
    const hash = yield* linkedResults(state.hash, resultsIn(last, state.pending?.last ?? null), secret);
    return { state: { ...state, hash, pending: { before, last } }, answer: null };
  }
  const said = yield* written([role === "tool" ? "user" : role, ...texts]);
  if (said.length > LONG) yield;
  const hash = yield* link(yield* linkedResults(before, resultsIn(last), secret), said, secret);
  const calls = callPlaces(role === "assistant" ? shape.calls(message) : []);
  if (said.length > LONG) yield;
  return {
    state: { hash, pending: null, calls },
    answer: role === "assistant" ? yield* keyedSteps(secret, `answer\n${said}`) : null,
  };
}

/** The hash of the whole conversation, for an answer that continues it. Results count in the order of their calls, not of their arrival. */
export async function hashBefore({ hash, pending }: ChainState, secret: Secret): Promise<string> {
  return pending === null ? hash : inTurns(linkedResults(pending.before, resultsIn(pending.last), secret));
}

/** In the order of arrival, without those up to `until`. */
function resultsIn(last: PendingResult | null, until: PendingResult | null = null): readonly PendingResult[] {
  const results: PendingResult[] = [];
  for (let one = last; one !== until && one !== null; one = one.earlier) results.push(one);
  return results.reverse();
}

function* linkedResults(before: string, results: readonly PendingResult[], secret: Secret): Generator<void, string> {
  if (results.length === 0) return before;
  const ordered = results.toSorted((a, b) => a.at - b.at).map(({ text }) => text);
  const said = yield* written(["tool", ...ordered]);
  if (said.length > LONG) yield;
  return yield* link(before, said, secret);
}

function link(before: string, said: string, secret: Secret): Generator<void, string> {
  return keyedSteps(secret, `${before}\n${said}`);
}

/** A result that answers no call of the answer before it stands where it came. */
function placeOf({ id }: ResultPart, calls: CallPlaces): number {
  return calls.get(id) ?? Number.MAX_SAFE_INTEGER;
}

function resultText({ text, isError, images }: ResultPart): Generator<void, string> {
  return written([text, isError, ...images.map(partText)]);
}

function* written(value: readonly unknown[]): Generator<void, string> {
  return (yield* jsonSteps(value)) ?? "";
}

/** The content of a part as normalized text. Null if it is empty, or a result, which is counted elsewhere. */
function partText(part: Part): string | null {
  switch (part.kind) {
    case "text":
      return part.text === "" ? null : `t${part.text}`;
    case "reasoning":
    case "result":
      return null;
    case "call":
      return `c${part.name}\n${argumentsText(part.input)}`;
    case "image":
      return part.source.kind === "url" ? `u${part.source.url}` : `i${bytesHash(part.source.data)}`;
    case "file":
      return part.data === "" ? `u${part.ref}` : `i${part.encoding === "base64" ? bytesHash(part.data) : part.data}`;
    case "other":
      return `o${canonical(withoutMarks(JSON.parse(part.json)))}`;
  }
}

function bytesHash(base64: string): string {
  return createHash("sha256").update(Buffer.from(base64, "base64")).digest("base64url");
}

/** Arguments are what they mean: spaces and the order of keys don't count, and nothing is an empty object. */
function argumentsText(input: string): string {
  return input.trim() === "" ? "{}" : canonicalText(input);
}

function canonicalText(json: string): string {
  try {
    return canonical(JSON.parse(json));
  } catch {
    return json;
  }
}

/** Of a block that we only carry: what the server or a client adds to it, and what is null. */
function withoutMarks(block: object): object {
  return Object.fromEntries(Object.entries(block).filter(([name, field]) => field !== null && !MARKS.includes(name)));
}

const MARKS = ["cache_control", "prompt_cache_breakpoint", "id", "status"];

/** JSON text with its keys in order. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(",")}}`;
}
