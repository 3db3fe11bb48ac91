/**
 * The structure of a log: the few records that decide what the prompt shows, stripped of their texts. Owns which of them
 * are live after any undo and redo, and what may be undone next. A pure fold; callers ask `planUndo` before they append.
 */
import type { PruneRecord, Range, RecordHeader } from "./record.ts";

export type Structural =
  | { readonly kind: "compaction"; readonly seq: number; readonly covers: Range; readonly folds: number | null }
  /** `reach` is the last message it touches: past the hidden range the prune still shows. */
  | { readonly kind: "prune"; readonly seq: number; readonly reach: number }
  | { readonly kind: "undo"; readonly seq: number; readonly of: number }
  | { readonly kind: "evidence"; readonly seq: number };

export const STRUCTURAL_KINDS = ["compaction", "prune", "undo", "evidence"] as const;

/** What a record adds to the structure; null when it adds nothing. Only of a prune is the body needed. */
export function structural(record: Exclude<RecordHeader, { kind: "prune" }> | PruneRecord): Structural | null {
  switch (record.kind) {
    case "compaction":
      return { kind: "compaction", seq: record.seq, covers: record.covers, folds: record.folds };
    case "prune":
      return { kind: "prune", seq: record.seq, reach: pruneReach(record.entries) };
    case "undo":
      return { kind: "undo", seq: record.seq, of: record.of };
    case "evidence":
      return { kind: "evidence", seq: record.seq };
    default:
      return null;
  }
}

export function pruneReach(entries: readonly { readonly target: number }[]): number {
  return entries.reduce((last, entry) => Math.max(last, entry.target), 0);
}

export interface LiveStructure {
  readonly compaction: number | null;
  readonly hiddenThrough: number;
  readonly prunes: readonly number[];
  readonly reach: readonly number[];
  readonly evidence: readonly number[];
  readonly undone: { readonly seq: number } | null;
}

/** What stands after every undo and redo, in order of seq. */
export function liveStructure(structure: readonly Structural[]): LiveStructure {
  const live = liveActs(structure);
  const compaction = newest(live.filter((act) => act.kind === "compaction"));
  const hiddenThrough = compaction?.covers[1] ?? 0;
  const prunes = live.filter((act) => act.kind === "prune").filter((act) => act.reach > hiddenThrough);
  const lastBatch = newest(live.filter((act) => act.kind === "prune" || act.kind === "compaction"))?.seq ?? 0;
  const evidence = live.filter((act) => act.kind === "evidence" && act.seq > lastBatch);
  const undo = newest(takenBack(live, structure));
  return {
    compaction: compaction?.seq ?? null,
    hiddenThrough,
    prunes: prunes.map((act) => act.seq),
    reach: prunes.map((act) => act.reach),
    evidence: evidence.map((act) => act.seq),
    undone: undo && undo.seq > lastBatch ? { seq: undo.seq } : null,
  };
}

export type UndoPlan =
  | { readonly kind: "undo"; readonly of: number; readonly restores: "prune" | "compaction" | "undo" }
  | { readonly kind: "refused"; readonly reason: "nothing-to-undo" | "nothing-to-redo" }
  | { readonly kind: "refused"; readonly reason: "not-undoable" | "already-undone"; readonly target: number }
  /** A newer live compaction stands on the one asked for: take that back first. */
  | { readonly kind: "refused"; readonly reason: "folded-by"; readonly target: number; readonly by: number };

/** Without a target: the newest live prune or compaction. An undo as target is a redo. */
export function planUndo(structure: readonly Structural[], target?: number): UndoPlan {
  const live = liveActs(structure);
  if (target === undefined) {
    const act = newest(live.filter((one) => one.kind === "prune" || one.kind === "compaction"));
    return act
      ? { kind: "undo", of: act.seq, restores: act.kind as "prune" | "compaction" }
      : { kind: "refused", reason: "nothing-to-undo" };
  }
  const act = structure.find((one) => one.seq === target);
  if (!act || act.kind === "evidence") return { kind: "refused", reason: "not-undoable", target };
  if (!live.includes(act)) return { kind: "refused", reason: "already-undone", target };
  if (act.kind === "prune") return { kind: "undo", of: target, restores: "prune" };
  return act.kind === "compaction" ? planCompactionUndo(act, live) : planRedoOf(act, structure, live);
}

/** Takes back the newest undo that still stands. */
export function planRedo(structure: readonly Structural[]): UndoPlan {
  const undo = newest(takenBack(liveActs(structure), structure));
  return undo ? planUndo(structure, undo.seq) : { kind: "refused", reason: "nothing-to-redo" };
}

type Act<K extends Structural["kind"]> = Extract<Structural, { kind: K }>;

function planCompactionUndo(act: Act<"compaction">, live: readonly Structural[]): UndoPlan {
  const by = live.find((one) => one.kind === "compaction" && one.seq > act.seq);
  if (by) return { kind: "refused", reason: "folded-by", target: act.seq, by: by.seq };
  return { kind: "undo", of: act.seq, restores: "compaction" };
}

/** A compaction may come back only onto the one it folded, or two summaries would claim the same range. */
function planRedoOf(undo: Act<"undo">, structure: readonly Structural[], live: readonly Structural[]): UndoPlan {
  const target = structure.find((one) => one.seq === undo.of);
  // A redo is taken back by undoing what it brought back, so that each act has one way to be reversed.
  if (!target || target.kind === "undo") return { kind: "refused", reason: "not-undoable", target: undo.seq };
  if (target.kind === "compaction") {
    const current = newest(live.filter((one) => one.kind === "compaction"));
    if (current && current.seq !== target.folds)
      return { kind: "refused", reason: "folded-by", target: undo.seq, by: current.seq };
    if ((current?.seq ?? null) !== target.folds) return { kind: "refused", reason: "not-undoable", target: undo.seq };
  }
  return { kind: "undo", of: undo.seq, restores: "undo" };
}

function liveActs(structure: readonly Structural[]): Structural[] {
  const bySeq = new Map(structure.map((act) => [act.seq, act]));
  const dead = new Set<number>();
  for (const act of structure) if (act.kind === "undo") flip(act.of, bySeq, dead);
  return structure.filter((act) => !dead.has(act.seq));
}

/** Takes an act back or brings it back; where it is itself an undo, its own target flips with it. */
function flip(seq: number, bySeq: ReadonlyMap<number, Structural>, dead: Set<number>): void {
  for (let next = bySeq.get(seq); next; next = next.kind === "undo" ? bySeq.get(next.of) : undefined) {
    if (!dead.delete(next.seq)) dead.add(next.seq);
  }
}

/** Live undos of a prune or a compaction: what a redo can bring back. What was taken back may be left out of a structure. */
function takenBack(live: readonly Structural[], structure: readonly Structural[]): Act<"undo">[] {
  const undos = new Set(structure.filter((act) => act.kind === "undo").map((act) => act.seq));
  return live.filter((act) => act.kind === "undo").filter((act) => !undos.has(act.of));
}

function newest<A extends Structural>(acts: readonly A[]): A | undefined {
  return acts.reduce<A | undefined>((best, act) => (best && best.seq > act.seq ? best : act), undefined);
}
