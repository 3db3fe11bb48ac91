/**
 * Marks: so many messages and a hash of what they say, by which an array is known again. Only what a shape shows of a
 * message counts, so that neither the order of its keys nor a cache mark makes it another one. Quick, and no proof against
 * anyone who means to deceive.
 */
import type { Shape } from "@palimpsest/core/message";
import { type Grown, grownArrays } from "./grown-array.ts";

export interface Mark {
  readonly count: number;
  readonly hash: string;
}

export const NO_MESSAGES: Mark = { count: 0, hash: "" };

/** `after`: what stands before them. */
export function markOf<M extends object>(messages: Iterable<M>, shape: Shape<M>, after: Mark = NO_MESSAGES): Mark {
  const links = known.get(shape) ?? new WeakMap<object, Link>();
  known.set(shape, links);
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
  readonly before: string;
  readonly hash: string;
}

/** Messages are values: what was read from an object stays true, and an array that grows costs what is new. */
const known = new WeakMap<object, WeakMap<object, Link>>();

function linkOf<M extends object>(message: M, shape: Shape<M>, before: string, seen: Link | undefined): Link {
  const digest = seen?.digest ?? hashOf(JSON.stringify([shape.role(message), shape.parts(message)]));
  return { digest, before, hash: hashOf(`${before}${digest}`) };
}

function hashOf(text: string): string {
  let one = 0xdeadbeef;
  let other = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x9e3779b1);
    other = Math.imul(other ^ code, 0x5f356495);
  }
  const first = Math.imul(one ^ (one >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
  const second = Math.imul(other ^ (other >>> 16), 0x85ebca6b) ^ Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return hex(first) + hex(second);
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, "0");
}
