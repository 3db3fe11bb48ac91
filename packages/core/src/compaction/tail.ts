/**
 * What the view would weigh under a cut and a clamp level, without building it. Sizes are remembered, so that trying
 * many cuts costs one pass over the tail per level.
 */

import type { PruneEntry } from "../log/record.ts";
import { ACKNOWLEDGEMENT, SUMMARY_END, type ViewEntry } from "../log/view.ts";
import type { Shape } from "../message/shape.ts";
import { NOWHERE, type Originals } from "../summary/render/originals.ts";
import { type Boundary, requestBefore } from "./boundaries.ts";
import { type Clamped, clampableTokens, clampEntry, entrySize, type Measure } from "./clamp.ts";
import type { Policy } from "./policy.ts";

export interface TailInput<M> {
  readonly view: readonly ViewEntry<M>[];
  readonly shape: Shape<M>;
  readonly measure: Measure<M>;
  /** Everything in the request that isn't a message of the view: system prompt, tool schemas, repairs. */
  readonly fixed: number;
  readonly format: Policy["summaryFormat"];
  readonly originals?: Originals;
}

/** No clamp at all is `Infinity`. */
export type Level = number;

export interface Weigher {
  /** Index of the first entry a compaction may hide; system messages are never hidden. */
  readonly first: number;
  readonly sizes: readonly number[];
  readonly total: number;
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
}

export function weigh<M>({ view, shape, measure, fixed, format, originals = NOWHERE }: TailInput<M>): Weigher {
  const sizes = view.map((entry) => entrySize(entry, measure));
  const isSystem = view.map((entry) => shape.role(entry.message) === "system" && entry.source !== "summary");
  const firstMessage = view.findIndex((entry, index) => entry.source === "message" && !isSystem[index]);
  const first = firstMessage < 0 ? view.length : firstMessage;
  const total = fixed + sum(sizes);
  const outside = fixed + sum(sizes.filter((_, index) => isSystem[index]));
  const base = outside + behindSummary(format, shape, measure);

  const parts = (index: number): readonly number[] => clampableTokens(view[index]!, shape, measure);
  const clamped = (level: Level, index: number): Clamped =>
    clampEntry(view[index]!, level, { shape, measure, originals });
  /** Estimated from the parts' sizes: shortening every long text at every level just to weigh it would cost too much. */
  const weight = (level: Level, index: number): number => {
    const size = sizes[index]!;
    if (isSystem[index]) return 0;
    if (size <= level) return size;
    return size - sum(parts(index).map((tokens) => Math.max(0, tokens - level)));
  };
  const suffix = memoizeOne((level: Level) => suffixSums(view.length, (index) => weight(level, index)));
  const whole = suffixSums(view.length, (index) => (isSystem[index] ? 0 : sizes[index]!));
  const visible = suffixSums(view.length, (index) => (isSystem[index] ? 0 : 1));
  const request = (cut: Boundary): number => (cut.kind === "group" ? requestBefore(view, cut.index, shape) : -1);
  const hidesNothing = (cut: Boundary): boolean => cut.index <= first;

  return {
    first,
    sizes,
    total,
    outside,
    base,
    messages: visible[0]!,
    request,
    hidden: (cut) => whole[0]! - whole[cut]!,
    after(cut, level, summary) {
      if (hidesNothing(cut)) {
        const standing = sum(
          sizes.slice(0, first).filter((_, index) => !isSystem[index] && view[index]!.source === "summary"),
        );
        const request = view.findIndex((entry) => entry.source === "request");
        const asked = request < 0 ? 0 : weight(level, request);
        return { tokens: base + standing + asked + suffix(level)[first]!, messages: visible[0]! };
      }
      const asked = request(cut);
      const summaryTurns = format === "pair" ? 2 : format === "user" ? 1 : 0;
      return {
        tokens: base + summary + (asked < 0 ? 0 : weight(level, asked)) + suffix(level)[cut.index]!,
        messages: visible[cut.index]! + summaryTurns + (asked < 0 ? 0 : 1),
      };
    },
    clamps(cut, level) {
      const standing = hidesNothing(cut) ? view.findIndex((entry) => entry.source === "request") : request(cut);
      const from = hidesNothing(cut) ? first : cut.index;
      const indexes = [...(standing < 0 ? [] : [standing]), ...range(from, view.length)];
      const long = indexes.filter((index) => !isSystem[index] && sizes[index]! > level);
      return shorten(long, { sizes, weight: (index) => weight(level, index), clamp: (index) => clamped(level, index) });
    },
  };
}

/** Tokens of the acknowledgement, or of the line that ends a summary in a shared message. */
export function behindSummary<M>(format: Policy["summaryFormat"], shape: Shape<M>, measure: Measure<M>): number {
  if (format === "pair") return measure.message(shape.turn("assistant", ACKNOWLEDGEMENT));
  return measure.text(`\n\n${SUMMARY_END}`) + 1;
}

/** Clamps these entries for real, and says by how much that misses what they were estimated to weigh. */
function shorten(
  indexes: readonly number[],
  { sizes, weight, clamp }: { sizes: readonly number[]; weight: (i: number) => number; clamp: (i: number) => Clamped },
): { readonly entries: readonly PruneEntry[]; readonly excess: number } {
  const shorter = indexes.map((index) => ({ index, ...clamp(index) }));
  const useful = shorter.filter(({ index, tokens }) => tokens < sizes[index]!);
  const excess = shorter.map(({ index, tokens }) => Math.min(tokens, sizes[index]!) - weight(index));
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

function memoizeOne<T>(compute: (level: number) => T): (level: number) => T {
  const known = new Map<number, T>();
  return (level) => {
    const value = known.get(level) ?? compute(level);
    known.set(level, value);
    return value;
  };
}
