/**
 * Where a view may be cut, and a cut as a plan states it: what is hidden, what is shown all the same, and how long its
 * summary may be. A cut at index i hides everything before i, so no tool call may stand before it whose result stands
 * after it, and the tail may not begin with a result. Says nothing about how much to keep.
 */

import { SUMMARY_END } from "../log/apply-prune.ts";
import type { PruneEntry } from "../log/record.ts";
import { ACKNOWLEDGEMENT, type ViewEntry } from "../log/view.ts";
import type { Shape } from "../message/shape.ts";
import type { Prompt, SizedEntry } from "../prompt/prompt.ts";
import { entryTokens, fixedTokens, type PromptSizes, sizesOf } from "../prompt/sizer.ts";
import { NOWHERE, type Originals } from "../summary/render-lines.ts";
import { extendWork, NO_WORK, ownText, quotable, WORK_HEADING } from "../summary/work.ts";
import { type Clamped, clampableTokens, clampEntry } from "./clamp.ts";
import type { Policy } from "./policy.ts";

export interface Cut {
  /** Index in the view where the tail begins. */
  readonly tail: number;
  /** Seqs of the newly hidden messages, first and last. */
  readonly covers: readonly [number, number];
  readonly hidden: number;
  readonly kept: number;
  /** Tokens the summary replaces, the folded one included. */
  readonly hiddenTokens: number;
  readonly request: number | null;
  readonly systems: readonly number[];
  /** The most the summary's turn may count, and how much of that is for quotes of what the model wrote. */
  readonly summaryTokens: number;
  readonly quoteTokens: number;
  /** Set when the open tool group is hidden too: the most its digest may count. */
  readonly digestTokens: number | null;
}

export function makeCut<M>(
  { entries: view }: Prompt<M>,
  sizes: CutSizes,
  cut: Boundary,
  budget: { summary: number; quotes: number; digest: number | null },
): Cut {
  const hidden = view.slice(0, cut.index).filter(isHideable);
  const seqs = hidden.flatMap(({ seq, folded = [seq ?? 0, seq ?? 0] }) => folded);
  const requestIndex = sizes.request(cut);
  const systems = view.slice(0, cut.index).filter(({ seq, role }) => seq !== null && role === "system");
  return {
    tail: cut.index,
    covers: [seqs[0] ?? 0, seqs.reduce((last, seq) => Math.max(last, seq), 0)],
    hidden: hidden.length,
    kept: view.length - cut.index,
    hiddenTokens: sizes.hidden(cut.index),
    request: requestIndex < 0 ? null : view[requestIndex]!.seq,
    systems: systems.map(({ seq }) => seq!),
    summaryTokens: budget.summary + budget.quotes,
    quoteTokens: budget.quotes,
    digestTokens: budget.digest,
  };
}

/** What a cut may hide: messages, and folds of messages. */
function isHideable({ source }: Pick<ViewEntry<unknown>, "source">): boolean {
  return source === "message" || source === "fold";
}

export interface Boundary {
  readonly index: number;
  /** A user turn is the natural place; a group boundary lies inside a turn, whose request must then stand verbatim. */
  readonly kind: "user-turn" | "group" | "end";
}

/** All valid cuts in order. `end` (an empty tail) is one only when nothing in the view still waits for an answer. */
export function boundaries<M>(entries: readonly ViewEntry<M>[], shape: Shape<M>): Boundary[] {
  const parted = partedCalls(entries, shape);
  const cuts: Boundary[] = [];
  entries.forEach((entry, index) => {
    if (!isHideable(entry) || parted[index] !== 0) return;
    const role = entry.source === "fold" ? "assistant" : shape.role(entry.message);
    if (role === "user") cuts.push({ index, kind: "user-turn" });
    if (role === "assistant") cuts.push({ index, kind: "group" });
  });
  const last = entries.findLast((entry) => shape.role(entry.message) !== "system");
  const isAnswer = (entry: ViewEntry<M>): boolean =>
    shape.role(entry.message) === "assistant" && shape.calls(entry.message).length === 0;
  if (last?.source === "fold" || (last?.source === "message" && isAnswer(last))) {
    cuts.push({ index: entries.length, kind: "end" });
  }
  return cuts;
}

/** By the index of a cut: that of the user turn that is being worked on there; -1 when there is none. */
function requestsBefore<M>(entries: readonly ViewEntry<M>[], shape: Shape<M>): readonly number[] {
  let request = -1;
  const asked = entries.map(({ seq, source, message }, index) => {
    if (seq !== null && (source === "request" || shape.role(message) === "user")) request = index;
    return request;
  });
  return [-1, ...asked];
}

/** For each index, how many calls stand before it whose results stand at or after it. Reused ids pair with the nearest. */
function partedCalls<M>(entries: readonly ViewEntry<M>[], shape: Shape<M>): number[] {
  const change = new Array<number>(entries.length + 1).fill(0);
  const open = new Map<string, number>();
  entries.forEach(({ message }, index) => {
    for (const id of shape.answers(message)) {
      const from = open.get(id);
      if (from === undefined) continue;
      change[from + 1]! += 1;
      change[index + 1]! -= 1;
    }
    for (const id of shape.calls(message)) open.set(id, index);
  });
  let parted = 0;
  return change.map((step) => {
    parted += step;
    return parted;
  });
}

/*
 * What a prompt would count under a cut and a clamp level, without building it. Sizes are remembered, so that trying many
 * cuts costs one pass over the tail per level.
 */

interface CutOptions {
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
  /** Of the largest message that the model hasn't answered yet: the current request, the results of its last calls. */
  readonly unseen: number;
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
  const clampable = remember((index) => clampableTokens(view[index]!, shape, promptSizes));
  /** Estimated from the parts' sizes: shortening every long text at every level just to size it would cost too much. */
  const sizeAt = (level: Level, index: number): number => {
    const size = sizes[index]!;
    if (isSystem(view[index]!)) return 0;
    if (size <= level) return size;
    return size - sum(clampable(index).map((tokens) => Math.max(0, tokens - level)));
  };
  const suffix = remember((level: Level) => suffixSums(view.length, (index) => sizeAt(level, index)));
  const visible = remember(() => suffixSums(view.length, (index) => (isSystem(view[index]!) ? 0 : 1)));
  const requests = remember(() => requestsBefore(view, shape));
  const request = (cut: Boundary): number => (cut.kind === "group" ? (requests(0)[cut.index] ?? -1) : -1);
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
    unseen: unseenFrom(view).reduce((most, index) => Math.max(most, sizes[index]!), 0),
    quotes: (cut) => (hidesNothing(cut) ? 0 : quotes(0)(cut.index)),
    hidden: (cut) => (suffix(Number.POSITIVE_INFINITY)[0] ?? 0) - (suffix(Number.POSITIVE_INFINITY)[cut] ?? 0),
    after(cut, level, summary) {
      if (hidesNothing(cut)) {
        const standing = sum(
          sizes.slice(0, first).filter((_, index) => !isSystem(view[index]!) && view[index]!.source === "summary"),
        );
        const requestIndex = standingRequest();
        const tokens =
          base + standing + (requestIndex < 0 ? 0 : sizeAt(level, requestIndex)) + (suffix(level)[first] ?? 0);
        return { tokens, messages };
      }
      const requestAt = request(cut);
      const summaryTurns = format === "pair" ? 2 : format === "user" ? 1 : 0;
      return {
        tokens: base + summary + (requestAt < 0 ? 0 : sizeAt(level, requestAt)) + (suffix(level)[cut.index] ?? 0),
        messages: (visible(0)[cut.index] ?? 0) + summaryTurns + (requestAt < 0 ? 0 : 1),
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

/** What no cut removes: system messages and standing rules. A summary in `system` format is conversation all the same. */
function isSystem<M>({ role, source }: Pick<SizedEntry<M>, "role" | "source">): boolean {
  return source === "rules" || (role === "system" && source !== "summary");
}

/** Indexes of the current request and of what came after the model's last message. */
function unseenFrom<M>(view: readonly Pick<SizedEntry<M>, "role" | "seq" | "source">[]): readonly number[] {
  const answered = view.findLastIndex(({ role }) => role === "assistant");
  const request = view.findLastIndex(({ role, seq }) => role === "user" && seq !== null);
  const after = range(answered + 1, view.length).filter((index) => !isSystem(view[index]!));
  return request < 0 || request > answered ? after : [request, ...after];
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
      if (isHideable(entry) && index < first) first = index;
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

function remember<T>(compute: (key: number) => T): (key: number) => T {
  const cache = new Map<number, T>();
  return (key) => {
    const value = cache.get(key) ?? compute(key);
    cache.set(key, value);
    return value;
  };
}

/*
 * How many tokens of quotes each cut of a prompt could have beside its summary: what the hidden part would hold of the
 * model's own writes, edits and commands that nothing later replaces. An estimate: which of them are quoted is decided when
 * the summary is written.
 */

/** Number, kind, path and fence. */
const FRAME_TOKENS = 16;

/** By the index at which the tail begins. */
function quoteSizes<M>(prompt: Prompt<M>): (cut: number) => number {
  const { entries, sizer } = prompt;
  const { shape } = sizer;
  const { parts: partsOf, text: count } = sizesOf(prompt);
  const places = new Map<number, number>();
  const said = entries.flatMap(({ source, seq, message, role }, index) => {
    if (source !== "message" || seq === null || role === "system") return [];
    places.set(seq, index);
    return [{ seq, message }];
  });
  const sizes = new Array<number>(entries.length + 1).fill(0);
  for (const { seq, part } of quotable(extendWork(NO_WORK, said, shape))) {
    const index = places.get(seq) ?? 0;
    const { message } = entries[index]!;
    const own = shape.parts(message)[part];
    const written = ownText(own)?.length ?? 0;
    // By its share of the part, which is counted: the model may have written megabytes.
    const whole = own?.kind === "call" ? own.input.length : written;
    if (written > 0)
      sizes[index + 1]! += Math.ceil(((partsOf(message)[part]?.text ?? 0) * written) / whole) + FRAME_TOKENS;
  }
  for (const { source, message } of entries)
    if (source === "summary")
      for (const part of shape.parts(message))
        if (part.kind === "text" && part.text.includes(WORK_HEADING))
          sizes[0]! += count(part.text.slice(part.text.indexOf(WORK_HEADING)));
  for (let index = 1; index < sizes.length; index += 1) sizes[index]! += sizes[index - 1]!;
  return (cut) => sizes[cut] ?? 0;
}
