/**
 * Reasoning that is bound to what came before it. Newer Claude models take a signed thought back only while the system
 * prompt, the tools and every message before it are what they were when it was made; otherwise they refuse the request.
 * So the record of an answer keeps the hash of the request it answers, and a signed thought is sent again only behind
 * that very request. Text and calls always stay. Cache marks are no part of it: providers leave them out as well.
 */
import type { Part, Shape } from "./shape.ts";

export interface BoundOptions<M> {
  readonly shape: Shape<M>;
  readonly hash: (text: string) => string;
  /** Hash of what stands before the first message: system prompt and tools. */
  readonly fixed: string;
  /** The hash of the request that a signed thought was made under, by its signature; undefined: not known. */
  readonly madeUnder: (signature: string) => string | undefined;
}

export interface BoundMessages<M> {
  readonly messages: readonly M[];
  /** Hash of the whole request: what its answer is made under. */
  readonly prefix: string;
  /** How many thoughts were left out. */
  readonly dropped: number;
}

/** A message without a thought to leave out comes back as the same object. */
export function boundReasoning<M extends object>(messages: readonly M[], options: BoundOptions<M>): BoundMessages<M> {
  const { shape, hash } = options;
  let prefix = options.fixed;
  let dropped = 0;
  const kept = messages.map((message) => {
    const parts = shape.parts(message);
    const indices = parts.flatMap((part, index) => (isLost(part, prefix, options) ? [] : [index]));
    dropped += parts.length - indices.length;
    const sent = indices.length === parts.length ? message : shape.select(message, indices);
    prefix = hash(`${prefix}\n${digestOf(sent, hash)}`);
    return sent;
  });
  return { messages: kept, prefix, dropped };
}

/** The signed thoughts of an answer, by which it is found again. */
export function signaturesOf(parts: readonly Part[]): readonly string[] {
  return parts.flatMap((part) => (part.kind === "reasoning" && part.signature !== null ? [part.signature] : []));
}

function isLost<M>(part: Part, prefix: string, { madeUnder }: BoundOptions<M>): boolean {
  if (part.kind !== "reasoning" || part.signature === null) return false;
  return madeUnder(part.signature) !== prefix;
}

/** Messages keep their identity from request to request, so each is hashed once. */
const digests = new WeakMap<object, string>();

function digestOf(message: object, hash: (text: string) => string): string {
  const known = digests.get(message);
  if (known !== undefined) return known;
  const digest = hash(JSON.stringify(message));
  digests.set(message, digest);
  return digest;
}
