/**
 * Where a view may be cut, and a cut as a plan states it: what is hidden, what is shown all the same, and how long its
 * summary may be. A cut at index i hides everything before i, so no tool call may stand before it whose result stands
 * after it, and the tail may not begin with a result. Says nothing about how much to keep.
 */

import type { ViewEntry } from "../log/view.ts";
import type { Shape } from "../message/shape.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { CutSizes } from "./cut-sizes.ts";

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
  const hidden = view.slice(0, cut.index).filter(({ source }) => source === "message");
  const seqs = hidden.map((entry) => entry.seq ?? 0);
  const requestIndex = sizes.request(cut);
  const systems = view.slice(0, cut.index).filter(({ seq, role }) => seq !== null && role === "system");
  return {
    tail: cut.index,
    covers: [seqs[0] ?? 0, seqs.at(-1) ?? 0],
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
    if (entry.source !== "message" || parted[index] !== 0) return;
    const role = shape.role(entry.message);
    if (role === "user") cuts.push({ index, kind: "user-turn" });
    if (role === "assistant") cuts.push({ index, kind: "group" });
  });
  const last = entries.findLast((entry) => shape.role(entry.message) !== "system");
  if (
    last?.source === "message" &&
    shape.role(last.message) === "assistant" &&
    shape.calls(last.message).length === 0
  ) {
    cuts.push({ index: entries.length, kind: "end" });
  }
  return cuts;
}

/** Index of the user turn that is being worked on when the view is cut at `cut`; -1 when there is none. */
export function requestBefore<M>(entries: readonly ViewEntry<M>[], cut: number, shape: Shape<M>): number {
  for (let index = Math.min(cut, entries.length) - 1; index >= 0; index--) {
    const entry = entries[index];
    if (entry?.seq == null) continue;
    if (entry.source === "request" || shape.role(entry.message) === "user") return index;
  }
  return -1;
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
