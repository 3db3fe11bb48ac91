/**
 * What long conversations said last time and what they were known by, under the bytes that said it: a body that goes on
 * with them is neither parsed, checked nor hashed again from the front. A cache and nothing else: what it gives is what
 * reading the whole body would.
 */

import { createHash, type Hash } from "node:crypto";
import { type Dialect, type MessageOf, readMessage, type Shape } from "@palimpsest/core/internal/message";
import { inTurns } from "palimpsest/internal/threads";
import {
  AT_ONCE,
  type ByteSpan,
  CLOSE_BRACE,
  COMMA,
  type JsonFields,
  OPEN_BRACE,
  OPEN_BRACKET,
  objectOf,
  parseJson,
  pastSpace,
  QUOTE,
  stringEnd,
  valueEnd,
} from "../http/read-json.ts";
import { type Chained, type ChainPlace, type ChainState, chainSteps, type Secret } from "./match.ts";

export interface FrontMemory {
  /** Null: the bytes are no JSON object. */
  read<M>(bytes: Buffer, given: ReadOptions<M>): Promise<BodyReading<M> | null>;
}

interface ReadOptions<M> {
  readonly user: string;
  /** The body's field with the messages. */
  readonly field: string;
  readonly shape: Shape<M>;
}

export interface BodyReading<M> {
  readonly body: JsonFields;
  /** Items of the list that were read and found good before. */
  readonly checked: CheckedMessages | null;
  /** The body's bytes, with one `null` in place of the items that were found good before. */
  readonly fresh: Buffer;
  digest(): Promise<string>;
  /** What `chainOf` gives for the messages that `leading` items stand before. The next body may begin with them. */
  chain(request: ReadMessages<M>, secret: Secret, left?: AbortSignal): Promise<Chained>;
}

interface ReadMessages<M> {
  readonly leading: readonly unknown[];
  readonly messages: readonly M[];
}

interface FrontEntry extends Front {
  /** Whose it is. */
  readonly key: string;
  readonly room: FrontRoom;
  readonly hash: Hash;
  readonly places: readonly ChainPlace[];
  readonly state: ChainState;
}

/** Bytes that grow at their end: a body itself is let go of, or each request would leave one behind that lived for long. */
interface FrontRoom {
  readonly buffer: Buffer;
  used: number;
}

/** Shorter ones are read faster than they are looked for. */
const LEAST_BYTES = 32_768;
/** Of all users, and of one. */
const MOST_BYTES = 48 * 1024 * 1024;
const MOST_OF_ONE = 24 * 1024 * 1024;

export function frontMemory(leastBytes = LEAST_BYTES): FrontMemory {
  let entries: readonly FrontEntry[] = [];
  const keep = (entry: FrontEntry, before: FrontEntry | null): void => {
    entries = within([...entries.filter((one) => one !== before), entry]);
  };
  return {
    async read(bytes, { user, field, shape }) {
      const key = `${shape.dialect}\n${user}`;
      const isLeading = (item: unknown) => shape.role(item as never) === "system";
      const isLong = bytes.length >= leastBytes;
      const fronts = isLong ? entries.filter((entry) => entry.key === key) : [];
      const known = readKnown(bytes, { field, fronts, isLeading });
      const body = known?.body ?? (await objectIn(bytes));
      if (body === null) return null;
      const conversation = once(() => known?.conversation ?? spanOf(bytes, body, { field, isLeading }));
      const hash = once(() => conversationHash(bytes, known, isLong ? conversation() : null));
      return {
        body,
        checked: known && { from: known.leading, to: known.leading + known.front.items.length },
        fresh: known?.fresh ?? bytes,
        digest: async () => digestOf(bytes, isLong ? conversation() : null, await hash()),
        async chain(request, secret, left) {
          const span = isLong ? conversation() : null;
          const before = known !== null && known.leading === request.leading.length ? known.front : null;
          const chained = await goOn(request.messages, { shape, secret, before, left });
          const last = request.messages.at(-1);
          // An answer may go on in the next item; then it is another message.
          if (span === null || last === undefined || shape.role(last) === "assistant") return chained;
          const items = (body[field] as readonly unknown[]).slice(request.leading.length);
          const room = grown(before, bytes.subarray(span.start, span.end));
          keep({ key, room, bytes: room.buffer.subarray(0, room.used), items, hash: await hash(), ...chained }, before);
          return chained;
        },
      };
    },
  };
}

/** The front's own bytes and those after them. They are copied if another body was grown from that front. */
function grown(before: FrontEntry | null, bytes: Buffer): FrontRoom {
  const room = before?.room;
  const from = room !== undefined && room.used === before!.bytes.length ? room.used : 0;
  const fits = room !== undefined && from > 0 && bytes.length <= room.buffer.length;
  const into = fits ? room : { buffer: Buffer.allocUnsafeSlow(Math.ceil(bytes.length * SPARE)), used: 0 };
  bytes.copy(into.buffer, into.used, into.used);
  into.used = bytes.length;
  return into;
}

/** FrontRoom for what is still to come. */
const SPARE = 1.25;

interface GoOnOptions<M> {
  readonly shape: Shape<M>;
  readonly secret: Secret;
  readonly before: FrontEntry | null;
  readonly left: AbortSignal | undefined;
}

async function goOn<M>(messages: readonly M[], { shape, secret, before, left }: GoOnOptions<M>): Promise<Chained> {
  if (before === null) return inTurns(chainSteps(messages, { shape, secret }), left);
  const added = messages.slice(before.places.length);
  const rest = await inTurns(chainSteps(added, { shape, secret, from: before.state }), left);
  return { places: before.places.concat(rest.places), state: rest.state };
}

async function objectIn(bytes: Buffer): Promise<JsonFields | null> {
  try {
    const value = await parseJson(bytes);
    return objectOf(value);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Null: where the conversation stands can't be told. */
function spanOf(
  bytes: Buffer,
  body: JsonFields,
  { field, isLeading }: { readonly field: string; readonly isLeading: (item: unknown) => boolean },
): ByteSpan | null {
  const list = body[field];
  if (!Array.isArray(list)) return null;
  try {
    const first = list.findIndex((item) => !isLeading(item));
    return first === -1 ? null : conversationSpan(bytes, field, first);
  } catch {
    return null;
  }
}

async function conversationHash(
  bytes: Buffer,
  known: BodyWithFront<FrontEntry> | null,
  span: ByteSpan | null,
): Promise<Hash> {
  const front = span === null ? undefined : known?.front;
  const from = (span?.start ?? 0) + (front?.bytes.length ?? 0);
  const rest = bytes.subarray(from, span?.end);
  return inTurns(hashSteps(front?.hash.copy() ?? createHash("sha256"), rest));
}

function* hashSteps(hash: Hash, bytes: Buffer): Generator<void, Hash> {
  for (let at = 0; at < bytes.length; at += HASHED) {
    hash.update(bytes.subarray(at, at + HASHED));
    yield;
  }
  return hash;
}

/** Bytes that are hashed at a time. */
const HASHED = 4 * 1024 * 1024;

/** The same for the same bytes, whatever of them was known. */
function digestOf(bytes: Buffer, span: ByteSpan | null, hash: Hash): string {
  if (span === null) return hash.copy().digest("base64");
  return createHash("sha256")
    .update(hash.copy().digest())
    .update(`${span.start}\n`)
    .update(bytes.subarray(0, span.start))
    .update(bytes.subarray(span.end))
    .digest("base64");
}

/** The newest, as far as there is room. */
function within(entries: readonly FrontEntry[]): readonly FrontEntry[] {
  let all = 0;
  const each = new Map<string, number>();
  return entries
    .toReversed()
    .filter(({ key, room: { buffer } }) => {
      const own = (each.get(key) ?? 0) + buffer.length;
      if (own > MOST_OF_ONE || all + buffer.length > MOST_BYTES) return false;
      each.set(key, own);
      all += buffer.length;
      return true;
    })
    .toReversed();
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/*
 * Parsing a body whose messages begin with known bytes: only the rest is parsed, with `null` in place of the known part. The
 * body is JSON exactly if that is, since both leave a parser after one item of a list. In doubt nothing counts as known. Pure.
 */

/** Items of a list that were parsed before, and the bytes they were parsed from: from the first item's to the last one's. */
interface Front {
  readonly bytes: Buffer;
  readonly items: readonly unknown[];
}

interface BodyWithFront<F extends Front> {
  readonly body: JsonFields;
  readonly front: F;
  /** All bytes but the front's, with `null` in its place. */
  readonly fresh: Buffer;
  /** Where the front stands: items of the list before it, and the whole conversation's bytes. */
  readonly leading: number;
  readonly conversation: ByteSpan;
}

interface KnownFronts<F extends Front> {
  /** The body's field with the list. */
  readonly field: string;
  readonly fronts: readonly F[];
  /** Of an item before the conversation: it may change from request to request. */
  readonly isLeading: (item: unknown) => boolean;
}

/** Null: no front is known, or something is unusual; then the body has to be read as a whole. */
function readKnown<F extends Front>(bytes: Buffer, given: KnownFronts<F>): BodyWithFront<F> | null {
  try {
    const place = frontPlace(bytes, given);
    return place === null ? null : bodyAround(bytes, place, given.field);
  } catch {
    return null;
  }
}

/**
 * The bytes of the items behind the leading ones, without the brackets and what stands beside them. Null: there is no
 * such list, it is there twice, or its last item is no object. `bytes` is JSON.
 */
export function conversationSpan(bytes: Buffer, field: string, leading: number): ByteSpan | null {
  const starts = [...fieldStarts(bytes)].filter(({ name }) => name === field);
  const list = starts.length === 1 ? starts[0]!.start : null;
  if (list === null || bytes[list] !== OPEN_BRACKET) return null;
  let start = pastSpace(bytes, list + 1);
  for (let passed = 0; passed < leading; passed += 1) {
    const comma = pastSpace(bytes, valueEnd(bytes, start));
    if (bytes[comma] !== COMMA) return null;
    start = pastSpace(bytes, comma + 1);
  }
  const end = beforeSpace(bytes, valueEnd(bytes, list) - 1);
  return bytes[start] === OPEN_BRACE && bytes[end - 1] === CLOSE_BRACE && start < end ? { start, end } : null;
}

interface FrontPlace<F> {
  readonly front: F;
  readonly at: number;
  readonly leading: number;
}

function frontPlace<F extends Front>(
  bytes: Buffer,
  { field, fronts, isLeading }: KnownFronts<F>,
): FrontPlace<F> | null {
  const list = listStart(bytes, field);
  if (list === null || fronts.length === 0) return null;
  let at = pastSpace(bytes, list + 1);
  for (let leading = 0; bytes[at] === OPEN_BRACE; leading += 1) {
    const standing = fronts.filter((front) => stands(front.bytes, bytes, at));
    if (standing.length > 0) {
      const front = standing.reduce((longest, one) => (one.bytes.length > longest.bytes.length ? one : longest));
      return { front, at, leading };
    }
    const end = valueEnd(bytes, at);
    if (end - at > AT_ONCE) return null;
    if (!isLeading(JSON.parse(bytes.toString("utf8", at, end)))) return null;
    const comma = pastSpace(bytes, end);
    if (bytes[comma] !== COMMA) return null;
    at = pastSpace(bytes, comma + 1);
  }
  return null;
}

function bodyAround<F extends Front>(
  bytes: Buffer,
  { front, at, leading }: FrontPlace<F>,
  field: string,
): BodyWithFront<F> | null {
  const fresh = Buffer.concat([bytes.subarray(0, at), NULL, bytes.subarray(at + front.bytes.length)]);
  // More than is parsed at once: reading the whole body gives others their turns.
  if (fresh.length > AT_ONCE) return null;
  const body: Record<string, unknown> = JSON.parse(fresh.toString());
  // A list that stands there twice is the second one.
  if ([...fieldStarts(fresh)].filter(({ name }) => name === field).length !== 1) return null;
  const list = body[field];
  if (!Array.isArray(list) || list[leading] !== null) return null;
  body[field] = list.slice(0, leading).concat(front.items, list.slice(leading + 1));
  const shift = front.bytes.length - NULL.length;
  const end = beforeSpace(fresh, valueEnd(fresh, listStart(fresh, field)!) - 1) + shift;
  return { body, front, fresh, leading, conversation: { start: at, end } };
}

const NULL = Buffer.from("null");

function stands(front: Buffer, bytes: Buffer, at: number): boolean {
  return bytes.length - at > front.length && bytes.compare(front, 0, front.length, at, at + front.length) === 0;
}

function listStart(bytes: Buffer, field: string): number | null {
  for (const { name, start } of fieldStarts(bytes))
    if (name === field) return bytes[start] === OPEN_BRACKET ? start : null;
  return null;
}

/** The object's own fields in their order, each as often as it stands; a value is passed over when the next one is asked for. */
function* fieldStarts(bytes: Buffer): Generator<{ readonly name: string; readonly start: number }> {
  let at = pastSpace(bytes, 0);
  if (bytes[at] !== OPEN_BRACE) return;
  at = pastSpace(bytes, at + 1);
  while (bytes[at] === QUOTE) {
    const nameEnd = stringEnd(bytes, at);
    const name: string = JSON.parse(bytes.toString("utf8", at, nameEnd));
    const start = pastSpace(bytes, pastSpace(bytes, nameEnd) + 1);
    yield { name, start };
    at = pastSpace(bytes, valueEnd(bytes, start));
    if (bytes[at] === COMMA) at = pastSpace(bytes, at + 1);
  }
}

function beforeSpace(bytes: Buffer, end: number): number {
  let at = end;
  while (at > 0 && pastSpace(bytes, at - 1) > at - 1) at -= 1;
  return at;
}

/* Checks the messages of a request one by one, except those checked before. */

/** From one place of the list to before another. */
export interface CheckedMessages {
  readonly from: number;
  readonly to: number;
}

type ReadItems<M> =
  | { readonly kind: "items"; readonly items: readonly M[] }
  | { readonly kind: "problem"; readonly index: number; readonly detail: string };

export function readItems<D extends Dialect>(
  dialect: D,
  items: readonly unknown[],
  checked: CheckedMessages | null,
): ReadItems<MessageOf[D]> {
  for (let index = 0; index < items.length; index += 1) {
    if (index === checked?.from) index = checked.to;
    if (index >= items.length) break;
    const read = readMessage(dialect, items[index]);
    if (read.kind === "problem") return { kind: "problem", index, detail: read.detail };
  }
  return { kind: "items", items: items as readonly MessageOf[D][] };
}
/** What every protocol has. That it names a model was looked at before. */
export function common({ model, stream }: JsonFields): { readonly model: string; readonly stream: boolean } {
  return { model: String(model), stream: stream === true };
}

/** System messages before the first of the conversation. */
export function leadingIn<M>(items: readonly M[], { role }: Pick<Shape<M>, "role">): readonly M[] {
  const first = items.findIndex((item) => role(item) !== "system");
  return items.slice(0, first === -1 ? items.length : first);
}
