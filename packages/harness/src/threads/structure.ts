/**
 * Reads the structure of a stored log: the few records that decide what the prompt shows, without the texts of summaries.
 * An undo or redo needs only what stands after the range that is hidden once it is done, so its cost is the tail it brings
 * back and not the thread's age.
 */
import { type Head, parseHeader, type RecordHeader, type Structural, structural } from "@palimpsest/core/log";
import type { RecordQuery, Store } from "../stores/store.ts";

/** Every structural record after `since`, and what the undos among them took back, however old. */
export async function readStructure(store: Store, thread: string, since = 0): Promise<Structural[]> {
  const range = [since + 1, Number.MAX_SAFE_INTEGER] as const;
  const acts = new Map<number, Structural>();
  await collectActs(store, thread, { range }, acts);
  for (;;) {
    // An undo is written only of what stands, so nothing from before needs to be known of its target.
    const seqs = [...acts.values()].flatMap((act) => (act.kind === "undo" && !acts.has(act.of) ? [act.of] : []));
    const known = acts.size;
    if (seqs.length > 0) await collectActs(store, thread, { seqs }, acts);
    if (acts.size === known) break;
  }
  return [...acts.values()].sort((a, b) => a.seq - b.seq);
}

/** What an undo of the newest prune or compaction has to know. */
export async function structureForUndo(store: Store, thread: string, { compaction }: Head): Promise<Structural[]> {
  const live = await compactionHeader(store, thread, compaction);
  const folded = await compactionHeader(store, thread, live?.folds ?? null);
  return readStructure(store, thread, folded?.covers[1] ?? 0);
}

/** What a redo has to know: behind a newer prune or compaction it may reach anywhere. */
export async function structureForRedo(store: Store, thread: string, head: Head): Promise<Structural[]> {
  return readStructure(store, thread, head.undone === null ? 0 : head.hiddenThrough);
}

async function collectActs(store: Store, thread: string, query: RecordQuery, acts: Map<number, Structural>) {
  const kinds = ["compaction", "undo", "evidence"] as const;
  for await (const { chained } of store.records(thread, { ...query, kinds, bodies: "none" })) {
    const header = parseHeader(chained);
    const act = header.kind === "prune" ? null : structural(header);
    if (act) acts.set(act.seq, act);
  }
  // How far a prune reaches stands in its body.
  for await (const { record } of store.records(thread, { ...query, kinds: ["prune"] })) {
    const act = structural(record);
    if (act) acts.set(act.seq, act);
  }
}

async function compactionHeader(
  store: Store,
  thread: string,
  seq: number | null,
): Promise<Extract<RecordHeader, { kind: "compaction" }> | null> {
  if (seq === null) return null;
  for await (const { chained } of store.records(thread, { range: [seq, seq], kinds: ["compaction"], bodies: "none" })) {
    const header = parseHeader(chained);
    if (header.kind === "compaction") return header;
  }
  return null;
}
