/**
 * A list in the thread's state that tools add to, each item once. State survives compaction, undo and fork, which
 * messages don't. Tools of one step may add at the same time: what a run has added is kept beside the state it read.
 */
import type { Run } from "./run.ts";

export interface StateList<T> {
  of(run: Run): readonly T[];
  /** The newest of the same id replaces the older. */
  add(run: Run, item: T): Promise<void>;
}

export function stateList<T>(key: string, idOf: (item: T) => string): StateList<T> {
  const known = new WeakMap<Run, Map<string, T>>();
  const listOf = (run: Run): Map<string, T> => {
    const stored = run.conversation.head().state[key];
    const list =
      known.get(run) ?? new Map((Array.isArray(stored) ? (stored as T[]) : []).map((item) => [idOf(item), item]));
    known.set(run, list);
    return list;
  };
  return {
    of: (run) => [...listOf(run).values()],
    async add(run, item) {
      const list = listOf(run);
      list.delete(idOf(item));
      list.set(idOf(item), item);
      await run.commit([{ kind: "state", patch: { [key]: [...list.values()] } }]);
    },
  };
}
