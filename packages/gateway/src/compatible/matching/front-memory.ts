/**
 * What long conversations said last time and what they were known by, under the bytes that said it: a body that goes on
 * with them is neither parsed, checked nor hashed again from the front. A cache and nothing else: what it gives is what
 * reading the whole body would.
 */
import { createHash, type Hash } from "node:crypto";
import type { Shape } from "@palimpsest/core/message";
import { inTurns } from "palimpsest/internal/threads";
import { parseJson } from "../../http/read-json.ts";
import type { Fields } from "../vendor.ts";
import { type BodyWithFront, conversationSpan, type Front, readKnown } from "../wire/known-front.ts";
import type { Span } from "../wire/raw-json.ts";
import type { Checked } from "../wire/read-items.ts";
import { type Chained, type ChainState, chainSteps, type Place, type Secret } from "./chain.ts";

export interface FrontMemory {
  /** Null: the bytes are no JSON object. */
  read<M>(bytes: Buffer, given: ReadOptions<M>): Promise<Reading<M> | null>;
}

interface ReadOptions<M> {
  readonly user: string;
  /** The body's field with the messages. */
  readonly field: string;
  readonly shape: Shape<M>;
}

/** A body as it was read. */
export interface Reading<M> {
  readonly body: Fields;
  /** Items of the list that were read and found good before. */
  readonly checked: Checked | null;
  /** A hash of all bytes. */
  digest(): Promise<string>;
  /** What `chainOf` gives for the messages that `leading` items stand before. The next body may begin with them. */
  chain(request: ReadMessages<M>, secret: Secret): Promise<Chained>;
}

interface ReadMessages<M> {
  readonly leading: readonly unknown[];
  readonly messages: readonly M[];
}

interface Entry extends Front {
  /** Whose it is. */
  readonly key: string;
  readonly room: Room;
  readonly hash: Hash;
  readonly places: readonly Place[];
  readonly state: ChainState;
}

/** Bytes that grow at their end: a body itself is let go of, or each request would leave one behind that lived for long. */
interface Room {
  readonly buffer: Buffer;
  used: number;
}

/** Shorter ones are read faster than they are looked for. */
const LEAST_BYTES = 32_768;
/** Of all users, and of one. */
const MOST_BYTES = 48 * 1024 * 1024;
const MOST_OF_ONE = 24 * 1024 * 1024;

export function frontMemory(leastBytes = LEAST_BYTES): FrontMemory {
  let entries: readonly Entry[] = [];
  const keep = (entry: Entry, before: Entry | null): void => {
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
        digest: async () => digestOf(bytes, isLong ? conversation() : null, await hash()),
        async chain(request, secret) {
          const span = isLong ? conversation() : null;
          const before = known !== null && known.leading === request.leading.length ? known.front : null;
          const chained = await goOn(request.messages, { shape, secret, before });
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

/** The front's own bytes and those after them. Where somebody else has gone on from that front, they are copied. */
function grown(before: Entry | null, bytes: Buffer): Room {
  const room = before?.room;
  const from = room !== undefined && room.used === before!.bytes.length ? room.used : 0;
  const fits = room !== undefined && from > 0 && bytes.length <= room.buffer.length;
  const into = fits ? room : { buffer: Buffer.allocUnsafeSlow(Math.ceil(bytes.length * SPARE)), used: 0 };
  bytes.copy(into.buffer, into.used, into.used);
  into.used = bytes.length;
  return into;
}

/** Room for what is still to come. */
const SPARE = 1.25;

async function goOn<M>(
  messages: readonly M[],
  { shape, secret, before }: { readonly shape: Shape<M>; readonly secret: Secret; readonly before: Entry | null },
): Promise<Chained> {
  if (before === null) return inTurns(chainSteps(messages, { shape, secret }));
  const added = messages.slice(before.places.length);
  const rest = await inTurns(chainSteps(added, { shape, secret, from: before.state }));
  return { places: before.places.concat(rest.places), state: rest.state };
}

async function objectIn(bytes: Buffer): Promise<Fields | null> {
  try {
    const value = await parseJson(bytes);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Null: where the conversation stands can't be told. */
function spanOf(
  bytes: Buffer,
  body: Fields,
  { field, isLeading }: { readonly field: string; readonly isLeading: (item: unknown) => boolean },
): Span | null {
  const list = body[field];
  if (!Array.isArray(list)) return null;
  try {
    const first = list.findIndex((item) => !isLeading(item));
    return first === -1 ? null : conversationSpan(bytes, field, first);
  } catch {
    return null;
  }
}

async function conversationHash(bytes: Buffer, known: BodyWithFront<Entry> | null, span: Span | null): Promise<Hash> {
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
function digestOf(bytes: Buffer, span: Span | null, hash: Hash): string {
  if (span === null) return hash.copy().digest("base64");
  return createHash("sha256")
    .update(hash.copy().digest())
    .update(`${span.start}\n`)
    .update(bytes.subarray(0, span.start))
    .update(bytes.subarray(span.end))
    .digest("base64");
}

/** The newest, as far as there is room. */
function within(entries: readonly Entry[]): readonly Entry[] {
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
