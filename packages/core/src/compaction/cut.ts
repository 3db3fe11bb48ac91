/** A cut as a plan states it: what is hidden, what is shown all the same, and how long its summary may be. */
import type { Prompt } from "../prompt/prompt.ts";
import type { Boundary } from "./boundaries.ts";
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
  /** The most the summary's turn may count. */
  readonly summaryTokens: number;
  /** Set when the open tool group is hidden too: the most its digest may count. */
  readonly digestTokens: number | null;
}

export function makeCut<M>(
  { entries: view }: Prompt<M>,
  sizes: CutSizes,
  cut: Boundary,
  budget: { summary: number; digest: number | null },
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
    summaryTokens: budget.summary,
    digestTokens: budget.digest,
  };
}
