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

type BinderOptions<M> = Omit<BoundOptions<M>, "fixed">;

export interface BoundMessages<M> {
  readonly messages: readonly M[];
  /** Hash of the whole request: what its answer is made under. */
  readonly prefix: string;
  /** The signatures of the thoughts that were left out. */
  readonly lost: ReadonlySet<string>;
  /** Any message without them; the same object where it has none. */
  without(message: M): M;
}

/** A message without a thought to leave out comes back as the same object. */
export function boundReasoning<M extends object>(messages: readonly M[], options: BoundOptions<M>): BoundMessages<M> {
  return reasoningBinder(options)(messages, options.fixed);
}

/** The same for requests that mostly grow: what stands before the first difference to the last one is not hashed again. */
export function reasoningBinder<M extends object>(
  options: BinderOptions<M>,
): (messages: readonly M[], fixed: string) => BoundMessages<M> {
  let last: { readonly fixed: string; readonly steps: readonly BoundStep<M>[] } | null = null;
  return (messages, fixed) => {
    const steps: BoundStep<M>[] = [];
    const before = last?.fixed === fixed ? last.steps : [];
    for (const [index, message] of messages.entries()) {
      const known = before[index];
      const same = known?.given === message && steps.at(-1) === before[index - 1];
      steps.push(same ? known : stepOver(message, steps.at(-1)?.prefix ?? fixed, options));
    }
    last = { fixed, steps };
    const lost = new Set(steps.flatMap((step) => step.lost));
    return {
      messages: steps.map(({ sent }) => sent),
      prefix: steps.at(-1)?.prefix ?? fixed,
      lost,
      without: (message) => (lost.size === 0 ? message : withoutThoughts(message, lost, options.shape)),
    };
  };
}

interface BoundStep<M> {
  readonly given: M;
  readonly sent: M;
  /** Of the request that ends with it. */
  readonly prefix: string;
  readonly lost: readonly string[];
}

function stepOver<M extends object>(given: M, before: string, { shape, hash, madeUnder }: BinderOptions<M>) {
  const lost = signaturesOf(shape.parts(given)).filter((signature) => madeUnder(signature) !== before);
  const sent = lost.length === 0 ? given : withoutThoughts(given, new Set(lost), shape);
  return { given, sent, lost, prefix: hash(`${before}\n${digestOf(sent, hash)}`) };
}

/** What was left of a message without some of its parts, by their places: the same object each time, so that it is counted once. */
const selections = new WeakMap<object, Map<string, object>>();

function withoutThoughts<M extends object>(message: M, lost: ReadonlySet<string>, shape: Shape<M>): M {
  const parts = shape.parts(message);
  const indices = parts.flatMap((part, index) => (isSigned(part) && lost.has(part.signature) ? [] : [index]));
  if (indices.length === parts.length) return message;
  const known = selections.get(message) ?? new Map<string, object>();
  const key = indices.join();
  const selection = (known.get(key) as M | undefined) ?? shape.select(message, indices);
  selections.set(message, known.set(key, selection));
  return selection;
}

/** The signed thoughts of an answer, by which it is found again. */
export function signaturesOf(parts: readonly Part[]): readonly string[] {
  return parts.flatMap((part) => (isSigned(part) ? [part.signature] : []));
}

function isSigned(part: Part): part is Extract<Part, { kind: "reasoning" }> & { readonly signature: string } {
  return part.kind === "reasoning" && part.signature !== null;
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
