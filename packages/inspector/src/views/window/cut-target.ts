/** Which messages are meant by the rows that are chosen, and what can be done with them. Pure. */
import type { ShownEntry } from "./entry-list.tsx";

export interface CutTarget {
  /** The first and the last record. */
  readonly from: number;
  readonly until: number;
  readonly messages: number;
  readonly tokens: number;
  /** `shown`: as it was said. `hidden` by hand or by a fold: it can be shown again. `summarized`: behind the summary. */
  readonly state: "shown" | "hidden" | "summarized";
  readonly isPinned: boolean;
}

/**
 * Of the rows that are chosen; null: nothing in them can be cut. What the summary stands for already can't be cut again, though
 * a request that is still worked on stays in sight.
 */
export function targetOf(chosen: readonly ShownEntry[], pins: readonly number[], through: number): CutTarget | null {
  const newer = chosen.filter(({ seq, folded = [] }) => (seq ?? folded[0] ?? 0) > through);
  const rows = newer.length === 0 ? chosen : newer;
  const seqs = rows.flatMap(({ seq, folded }) => (seq === null ? (folded ?? []) : [seq]));
  const [from, until] = [Math.min(...seqs), Math.max(...seqs)];
  if (seqs.length === 0) return null;
  const isHidden = rows.length === 1 && rows.some(({ isCut }) => isCut);
  return {
    from,
    until,
    messages: rows.filter(({ seq, folded }) => seq !== null || folded !== undefined).length,
    tokens: rows.reduce((sum, { tokens }) => sum + tokens, 0),
    state: isHidden ? "hidden" : until <= through ? "summarized" : "shown",
    isPinned: from === until && pins.includes(from),
  };
}
