/**
 * Finds the messages a summary item came from by its rarest terms, so that what a model cites can be checked and what it
 * doesn't cite can be found. Built once per covered range.
 */
import type { Shape } from "../../message/shape.ts";
import { termsIn } from "../../text/terms.ts";
import type { NumberedMessage } from "../ledger/ledger.ts";
import { MAX_ITEM_SEQS } from "../state/state.ts";

export type Locate = (text: string, claimed: readonly number[]) => number[];

/** Claimed messages that hold a rare term of the text; else the messages that hold most of its rarest ones; else none. */
export function createLocator<M>(entries: readonly NumberedMessage<M>[], shape: Shape<M>): Locate {
  const places = new Map<string, number[]>();
  for (const { seq, message } of entries) {
    const here = new Set<string>();
    for (const part of shape.parts(message)) {
      const text = part.kind === "call" ? part.input : "text" in part ? part.text : "";
      for (const term of termsIn(text)) here.add(term);
    }
    for (const term of here) {
      const seqs = places.get(term);
      if (seqs === undefined) places.set(term, [seq]);
      else seqs.push(seq);
    }
  }
  const rareEnough = Math.max(5, entries.length / 5);
  return (text, claimed) => {
    const terms = [...termsIn(text)]
      .map((term) => places.get(term) ?? [])
      .filter((seqs) => seqs.length > 0 && seqs.length <= rareEnough)
      .sort((a, b) => a.length - b.length)
      .slice(0, 12);
    const score = new Map<number, number>();
    for (const seqs of terms) for (const seq of seqs) score.set(seq, (score.get(seq) ?? 0) + 1 / seqs.length);
    const holding = claimed.filter((seq) => score.has(seq));
    if (holding.length > 0) return holding.slice(0, MAX_ITEM_SEQS);
    const best = [...score].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 3);
    return best.map(([seq]) => seq).sort((a, b) => a - b);
  };
}
