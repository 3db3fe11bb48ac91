/**
 * What a prompt would count under a cut and a clamp level, without building it. Sizes are remembered, so that trying many
 * cuts costs one pass over the tail per level.
 */
import type { PruneEntry } from "../log/record.ts";
import { ACKNOWLEDGEMENT, SUMMARY_END } from "../log/view.ts";
import type { Shape } from "../message/shape.ts";
import { entryTokens, fixedTokens, type PromptSizes, sizesOf } from "../prompt/parts.ts";
import type { Prompt, SizedEntry } from "../prompt/prompt.ts";
import { NOWHERE, type Originals } from "../summary/render/originals.ts";
import { type Clamped, clampableTokens, clampEntry } from "./clamp.ts";
import { type Boundary, requestBefore } from "./cut.ts";
import type { Policy } from "./policy.ts";
import { quoteSizes } from "./quote-sizes.ts";

export interface CutOptions {
  readonly format: Policy["summaryFormat"];
  /** Tokens of the result that no entry accounts for; only a result can tell. */
  readonly overshoot?: number;
  readonly originals?: Originals;
}

/** No clamp at all is `Infinity`. */
export type Level = number;

export interface CutSizes {
  /** Index of the first entry a compaction may hide; system messages are never hidden. */
  readonly first: number;
  readonly entries: readonly number[];
  readonly total: number;
  /** System prompt, tool schemas, what repairs add. */
  readonly fixed: number;
  /** What isn't conversation: fixed, and the system messages. */
  readonly outside: number;
  /** Messages in the view without system messages. */
  readonly messages: number;
  /** Tokens that leave the view with this cut: what is newly hidden and what is folded. */
  hidden(cut: number): number;
  after(cut: Boundary, level: Level, summary: number): { readonly tokens: number; readonly messages: number };
  /** The prune entries that this cut and level need, and the tokens by which they miss what `after` had estimated. */
  clamps(cut: Boundary, level: Level): { readonly entries: readonly PruneEntry[]; readonly excess: number };
  /** The parts that no cut removes: fixed, hoisted system messages, what stands behind the summary. */
  readonly base: number;
  request(cut: Boundary): number;
  /** Of what this cut hides, what could be quoted of the model's own writing; an estimate. */
  quotes(cut: Boundary): number;
}

export function cutSizes<M>(prompt: Prompt<M>, { format, overshoot = 0, originals = NOWHERE }: CutOptions): CutSizes {
  const view = prompt.entries;
  const { shape } = prompt.sizer;
  const promptSizes = sizesOf(prompt);
  const sizes = view.map((entry) => entryTokens(entry, prompt.factor));
  const fixed = fixedTokens(prompt) + overshoot;
  const { first, total, systems, messages } = sums(view, sizes);
  const outside = fixed + systems;
  const base = outside + behindSummary(format, shape, promptSizes);
  const clamped = (level: Level, index: number): Clamped =>
    clampEntry(view[index]!, level, { shape, sizes: promptSizes, originals });
  /** Estimated from the parts' sizes: shortening every long text at every level just to size it would cost too much. */
  const sizeAt = (level: Level, index: number): number => {
    const size = sizes[index]!;
    if (isSystem(view[index]!)) return 0;
    if (size <= level) return size;
    return size - sum(clampableTokens(view[index]!, shape, promptSizes).map((tokens) => Math.max(0, tokens - level)));
  };
  const suffix = remember((level: Level) => suffixSums(view.length, (index) => sizeAt(level, index)));
  const visible = remember(() => suffixSums(view.length, (index) => (isSystem(view[index]!) ? 0 : 1)));
  const request = (cut: Boundary): number => (cut.kind === "group" ? requestBefore(view, cut.index, shape) : -1);
  const hidesNothing = (cut: Boundary): boolean => cut.index <= first;
  const quotes = remember(() => quoteSizes(prompt));
  const standingRequest = (): number => view.findIndex((entry) => entry.source === "request");

  return {
    first,
    entries: sizes,
    fixed,
    total: fixed + total,
    outside,
    base,
    messages,
    request,
    quotes: (cut) => (hidesNothing(cut) ? 0 : quotes(0)(cut.index)),
    hidden: (cut) => suffix(Number.POSITIVE_INFINITY)[0]! - suffix(Number.POSITIVE_INFINITY)[cut]!,
    after(cut, level, summary) {
      if (hidesNothing(cut)) {
        const standing = sum(
          sizes.slice(0, first).filter((_, index) => !isSystem(view[index]!) && view[index]!.source === "summary"),
        );
        const requestIndex = standingRequest();
        const tokens = base + standing + (requestIndex < 0 ? 0 : sizeAt(level, requestIndex)) + suffix(level)[first]!;
        return { tokens, messages };
      }
      const requestAt = request(cut);
      const summaryTurns = format === "pair" ? 2 : format === "user" ? 1 : 0;
      return {
        tokens: base + summary + (requestAt < 0 ? 0 : sizeAt(level, requestAt)) + suffix(level)[cut.index]!,
        messages: visible(0)[cut.index]! + summaryTurns + (requestAt < 0 ? 0 : 1),
      };
    },
    clamps(cut, level) {
      const standing = hidesNothing(cut) ? standingRequest() : request(cut);
      const from = hidesNothing(cut) ? first : cut.index;
      const indexes = [...(standing < 0 ? [] : [standing]), ...range(from, view.length)];
      const long = indexes.filter((index) => !isSystem(view[index]!) && sizes[index]! > level);
      return shorten(long, { sizes, sizeAt: (index) => sizeAt(level, index), clamp: (index) => clamped(level, index) });
    },
  };
}

/** A summary in `system` format is conversation all the same. */
function isSystem<M>({ role, source }: Pick<SizedEntry<M>, "role" | "source">): boolean {
  return role === "system" && source !== "summary";
}

function sums<M>(view: readonly SizedEntry<M>[], sizes: readonly number[]) {
  let first = view.length;
  let total = 0;
  let systems = 0;
  let messages = 0;
  for (const [index, entry] of view.entries()) {
    total += sizes[index]!;
    if (isSystem(entry)) systems += sizes[index]!;
    else {
      messages += 1;
      if (entry.source === "message" && index < first) first = index;
    }
  }
  return { first, total, systems, messages };
}

/** Tokens of the acknowledgement, or of the line that ends a summary in a shared message. */
export function behindSummary<M>(
  format: Policy["summaryFormat"],
  shape: Shape<M>,
  sizes: Pick<PromptSizes<M>, "message" | "text">,
): number {
  if (format === "pair") return sizes.message(shape.turn("assistant", ACKNOWLEDGEMENT));
  return sizes.text(`\n\n${SUMMARY_END}`) + 1;
}

/** Clamps these entries for real, and says by how much that misses what was estimated for them. */
function shorten(
  indexes: readonly number[],
  { sizes, sizeAt, clamp }: { sizes: readonly number[]; sizeAt: (i: number) => number; clamp: (i: number) => Clamped },
): { readonly entries: readonly PruneEntry[]; readonly excess: number } {
  const shorter = indexes.map((index) => ({ index, ...clamp(index) }));
  const useful = shorter.filter(({ index, tokens }) => tokens < sizes[index]!);
  const excess = shorter.map(({ index, tokens }) => Math.min(tokens, sizes[index]!) - sizeAt(index));
  return { entries: useful.flatMap(({ entries }) => entries), excess: Math.max(0, sum(excess)) };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, offset) => from + offset);
}

function suffixSums(length: number, at: (index: number) => number): number[] {
  const sums = new Array<number>(length + 1).fill(0);
  for (let index = length - 1; index >= 0; index--) sums[index] = sums[index + 1]! + at(index);
  return sums;
}

function remember<T>(compute: (level: number) => T): (level: number) => T {
  const cache = new Map<number, T>();
  return (level) => {
    const value = cache.get(level) ?? compute(level);
    cache.set(level, value);
    return value;
  };
}
