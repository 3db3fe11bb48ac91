/**
 * What a caller keeps beside the array: what is hidden and shortened in it, what it was made from, and what was learned from
 * the provider's reports. Plain JSON. It says by itself whether an array is the one it was made for.
 */
import { PalimpsestError } from "@palimpsest/core/internal/errors";
import type { CompactionRecord, PruneRecord } from "@palimpsest/core/internal/log";
import type { Shape } from "@palimpsest/core/internal/message";
import { atOnce } from "@palimpsest/core/internal/summary";
import { jsonPieces } from "../long-work.ts";

export const NO_MESSAGES: Mark = { count: 0, hash: "" };

export const STATE_VERSION = 1;

/** Sources in it are places in the array, from 1; of a flat list of Responses items, places of its turns. */
export interface MessagesState {
  readonly v: typeof STATE_VERSION;
  readonly compaction: CompactionRecord | null;
  readonly prunes: readonly PruneRecord[];
  /** The messages that the compaction covers: an array that begins otherwise is another one. */
  readonly hidden: Mark;
  /** The messages up to the last one that is shortened; null without one. */
  readonly pruned: Mark | null;
  /** All messages it was made from. */
  readonly said: Mark;
  /** The messages that were given back, so that an array that goes on from them is known. */
  readonly sent: SentMark;
  /** The newest report on a prompt of this state. */
  readonly report: UsageMark | null;
  /** Reported tokens per counted one, as learned so far. */
  readonly factor: number;
}

interface SentMark extends Mark {
  /** How many turns of them stand before the first one that was said after the hidden ones; null: they can't be told apart. */
  readonly before: number | null;
}

/** What a provider reported: `input` is the whole prompt, cached part included. */
export interface MessagesUsage {
  readonly input: number;
  readonly output: number;
}

export interface UsageMark extends MessagesUsage {
  /** The place of the answer. */
  readonly of: number;
  /** Of the messages before it. */
  readonly hash: string;
}

/** The state is no state of this array, or no state that this version reads. */
export class StateMismatchError extends PalimpsestError<"other-messages" | "other-version"> {
  static override readonly kind = "StateMismatchError";
}

/** What an array is to a state. `compacted`: it goes on from what was given back, not from the whole conversation. */
export type Recognized = "new" | "grown" | "compacted" | "foreign";

/** Refuses unknown versions: a half-read state could hide messages without a summary. */
export function checkState(state: unknown): void {
  const version = (state as { readonly v?: unknown } | null)?.v;
  if (version === STATE_VERSION) return;
  const found = version === undefined ? "has no version" : `is of version ${JSON.stringify(version)}`;
  throw new StateMismatchError(
    "other-version",
    `the state ${found}, and this program reads version ${STATE_VERSION}: leave it out, and the array is compacted anew; nothing in it is lost`,
  );
}

/** `turns` are the messages as their shape reads them; what is added to a flat list may still belong to its last turn. */
export function recognize<M extends object>(
  state: MessagesState | null,
  { messages, turns }: { readonly messages: readonly M[]; readonly turns: readonly M[] },
  shape: Shape<M>,
): Recognized {
  if (state === null) return "new";
  if (begins(marksOf(turns, shape), state.hidden)) return asksVisibly(state, turns, shape) ? "grown" : "foreign";
  const { count, hash } = state.sent;
  const goesOn = messages.length >= count && markOf(messages.slice(0, count), shape).hash === hash;
  return goesOn ? "compacted" : "foreign";
}

export function foreignMessages({ hidden }: MessagesState): StateMismatchError {
  return new StateMismatchError(
    "other-messages",
    `the state was made from another array: its first ${hidden.count} messages are not those of this one, or nothing was asked after them. ` +
      'Give the state of this array, none, or onMismatch: "reset"',
  );
}

function begins(marks: Marks, { count, hash }: Mark): boolean {
  return marks.to(count)?.hash === hash;
}

/** An array that was cut back may end inside what is hidden: then its last question would be. */
function asksVisibly<M extends object>({ compaction, hidden }: MessagesState, turns: readonly M[], shape: Shape<M>) {
  if (compaction === null) return true;
  const last = turns.findLastIndex((turn) => shape.role(turn) === "user") + 1;
  return turns.length > hidden.count && (last === 0 || last > hidden.count || last === compaction.request);
}

/** Prunes that the array no longer bears out are left out: it then shows more, and nothing is wrong. */
export function standingPrunes({ pruned, prunes }: MessagesState, marks: Marks): readonly PruneRecord[] {
  return pruned !== null && begins(marks, pruned) ? prunes : [];
}

/** So is a report on messages that were edited since. */
export function standingReport(
  { report, hidden }: MessagesState,
  markTo: (count: number) => Mark | null,
): UsageMark | null {
  if (report === null || report.of <= hidden.count) return null;
  return markTo(report.of - 1)?.hash === report.hash ? report : null;
}

export const EMPTY_STATE: MessagesState = {
  v: STATE_VERSION,
  compaction: null,
  prunes: [],
  hidden: NO_MESSAGES,
  pruned: null,
  said: NO_MESSAGES,
  sent: { ...NO_MESSAGES, before: 0 },
  report: null,
  factor: 1,
};

/**
 * What was found out about an array, for the next time it comes, grown by a few messages. Messages are values, so an array
 * is known again by the objects in it: comparing those is far cheaper than reading them. Known by the last of them, since
 * conversations may share their first.
 */
export interface Grown<T> {
  /** How many messages, from the start, are those of the last time. */
  readonly same: number;
  /** What was kept then; undefined where this array isn't known. */
  readonly value: T | undefined;
  keep(value: T): void;
}

export function grownArrays<T>(): (messages: readonly object[]) => Grown<T> {
  const known = new WeakMap<object, { readonly messages: object[]; readonly value: T }>();
  return (messages) => {
    const seen = lastSeen(messages, (message) => known.get(message));
    const same = seen === undefined ? 0 : commonLength(messages, seen.messages);
    const keep = (value: T): void => {
      const last = messages.at(-1);
      if (last === undefined) return;
      const snapshot = seen?.messages ?? [];
      const before = snapshot.at(-1);
      if (before !== undefined && before !== last) known.delete(before);
      snapshot.length = same;
      for (let index = same; index < messages.length; index += 1) snapshot.push(messages[index]!);
      known.set(last, { messages: snapshot, value });
    };
    return { same, value: seen?.value, keep };
  };
}

/** A call adds a few messages; an array that got many more is read anew. */
const MOST_NEW = 100;

function lastSeen<T>(messages: readonly object[], get: (message: object) => T | undefined): T | undefined {
  const from = Math.max(0, messages.length - MOST_NEW);
  for (let index = messages.length - 1; index >= from; index -= 1) {
    const seen = get(messages[index]!);
    if (seen !== undefined) return seen;
  }
  return undefined;
}

function commonLength(messages: readonly object[], others: readonly object[]): number {
  const most = Math.min(messages.length, others.length);
  let length = 0;
  while (length < most && messages[length] === others[length]) length += 1;
  return length;
}

// A mark: how far a list of messages is known, by count and hash.

export interface Mark {
  readonly count: number;
  readonly hash: string;
}

/** `after`: what stands before them. */
export function markOf<M extends object>(messages: Iterable<M>, shape: Shape<M>, after: Mark = NO_MESSAGES): Mark {
  const links = linksOf(shape);
  let { count, hash } = after;
  for (const message of messages) {
    const seen = links.get(message);
    const link = seen?.before === hash ? seen : linkOf(message, shape, hash, seen);
    if (link !== seen) links.set(message, link);
    hash = link.hash;
    count += 1;
  }
  return { count, hash };
}

/** Marks of every beginning of one array. */
export interface Marks {
  /** Null where the array is shorter. */
  to(count: number): Mark | null;
}

/** An array that has grown since the last time costs what is new. */
export function marksOf<M extends object>(messages: readonly M[], shape: Shape<M>): Marks {
  const arrays = hashLists.get(shape) ?? grownArrays<string[]>();
  hashLists.set(shape, arrays);
  const { same, value: before = [], keep } = arrays(messages);
  // A call that is still under way may read the longer list.
  const hashes = before.length === same ? before : before.slice(0, same);
  let mark: Mark = { count: same, hash: hashes.at(-1) ?? NO_MESSAGES.hash };
  for (let index = same; index < messages.length; index += 1) {
    mark = markOf([messages[index]!], shape, mark);
    hashes.push(mark.hash);
  }
  keep(hashes);
  return {
    to(count) {
      if (count === 0) return NO_MESSAGES;
      return count > messages.length ? null : { count, hash: hashes[count - 1]! };
    },
  };
}

const hashLists = new WeakMap<object, (messages: readonly object[]) => Grown<string[]>>();

/** A message, and the hash with it behind what stood before it last. */
interface Link {
  readonly digest: string;
  /** Null if it was read ahead. */
  readonly before: string | null;
  readonly hash: string;
}

/** Messages are values: what was read from an object stays true, and an array that grows costs what is new. */
const known = new WeakMap<object, WeakMap<object, Link>>();

function linksOf(shape: object): WeakMap<object, Link> {
  const links = known.get(shape) ?? new WeakMap<object, Link>();
  known.set(shape, links);
  return links;
}

/** Reads messages ahead, so that their marks take no time. Yields after each message and each piece of a long one. */
export function* readAhead<M extends object>(messages: readonly M[], shape: Shape<M>): Generator<void, void> {
  const links = linksOf(shape);
  for (const message of messages) {
    if (links.has(message)) continue;
    const digest = yield* digestOf(message, shape);
    links.set(message, { digest, before: null, hash: "" });
    yield;
  }
}

function linkOf<M extends object>(message: M, shape: Shape<M>, before: string, seen: Link | undefined): Link {
  const digest = seen?.digest ?? atOnce(digestOf(message, shape));
  return { digest, before, hash: atOnce(hashSteps([`${before}${digest}`])) };
}

function digestOf<M extends object>(message: M, shape: Shape<M>): Generator<void, string> {
  return hashSteps(jsonPieces([shape.role(message), shape.parts(message)]));
}

function* hashSteps(pieces: Iterable<string>): Generator<void, string> {
  let one = 0xdeadbeef;
  let other = 0x41c6ce57;
  for (const text of pieces) {
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      one = Math.imul(one ^ code, 0x9e3779b1);
      other = Math.imul(other ^ code, 0x5f356495);
    }
    yield;
  }
  const first = Math.imul(one ^ (one >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
  const second = Math.imul(other ^ (other >>> 16), 0x85ebca6b) ^ Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return hex(first) + hex(second);
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, "0");
}
