/**
 * The whole state of a stored compaction. A record may hold only what changed since the one it folds, so its checkpoint
 * and the few records between are read as well; nothing older, whatever the thread's age.
 */

import { chainAfter, storedState } from "@palimpsest/core/internal/log";
import { type CompactionRecord, parseHeader, type Range, type StateChain } from "@palimpsest/core/log";
import type { Store } from "../stores/store.ts";

const chains = new WeakMap<CompactionRecord, StateChain | null>();

/** Read when it is first asked for, and then kept as long as the record is. */
export async function stateChainOf(
  store: Store,
  threadId: string,
  compaction: CompactionRecord | null,
): Promise<StateChain | null> {
  if (compaction === null) return null;
  const chain = chains.get(compaction) ?? (await readStateChain(store, threadId, compaction));
  chains.set(compaction, chain);
  return chain;
}

/** `before` is the chain of the compaction that the record folds. */
export function rememberStateChain(before: StateChain | null, record: CompactionRecord): void {
  chains.set(record, chainAfter(before, record));
}

/** A compaction is written as what it changes. */
export function withChanges<D extends Pick<CompactionRecord, "summary">>(record: D, chain: StateChain | null): D {
  const { checkpoint, state } = storedState(chain, record.summary);
  return { ...record, checkpoint, summary: { ...record.summary, state } };
}

async function readStateChain(
  store: Store,
  threadId: string,
  compaction: CompactionRecord,
): Promise<StateChain | null> {
  const { seq, checkpoint = null } = compaction;
  if (checkpoint === null) return chainAfter(null, compaction);
  const seqs = await foldedFrom(store, threadId, [checkpoint, seq]);
  let chain: StateChain | null = null;
  for await (const { record } of store.records(threadId, { kinds: ["compaction"], seqs, range: [checkpoint, seq] }))
    if (record.kind === "compaction") chain = chainAfter(chain, record);
  return chain;
}

/** The compactions in a range that its last one folds, and itself. Others were taken back and stand in between. */
async function foldedFrom(store: Store, threadId: string, range: Range): Promise<readonly number[]> {
  const folds = new Map<number, number | null>();
  for await (const { chained } of store.records(threadId, { kinds: ["compaction"], range, bodies: "none" })) {
    const header = parseHeader(chained);
    if (header.kind === "compaction") folds.set(header.seq, header.folds);
  }
  const seqs: number[] = [];
  for (let next: number | null = range[1]; next !== null && folds.has(next); next = folds.get(next) ?? null)
    seqs.unshift(next);
  return seqs;
}
