/** Which acts of a thread are taken back, and which undos brought something back: an undo of an undo is a redo. Pure. */
interface UndoFacts {
  readonly seq: number | null;
  readonly of?: number;
}

export interface TakenBack {
  /** Acts that don't hold any more. */
  readonly acts: ReadonlySet<number>;
  /** By the seq of an undo that was a redo: what it brought back. */
  readonly redone: ReadonlyMap<number, number>;
}

export function takenBack(entries: readonly UndoFacts[]): TakenBack {
  const acts = new Set<number>();
  const targets = new Map<number, number>();
  const redone = new Map<number, number>();
  for (const { seq, of } of entries) {
    if (seq === null || of === undefined) continue;
    targets.set(seq, of);
    const act = targets.get(of);
    if (act === undefined) acts.add(of);
    else {
      redone.set(seq, act);
      acts.delete(act);
    }
  }
  return { acts, redone };
}
