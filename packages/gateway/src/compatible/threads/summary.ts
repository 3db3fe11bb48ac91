/** The summary that stands for what is hidden in a thread now. */
import type { Store } from "palimpsest/stores";

export interface ShownSummary {
  /** The record of its compaction. */
  readonly record: number;
  readonly text: string;
}

/** Null: nothing is hidden. */
export async function shownSummary(store: Store, threadId: string): Promise<ShownSummary | null> {
  const record = (await store.head(threadId))?.compaction ?? null;
  return record === null ? null : summaryIn(store, threadId, record);
}

export async function summaryText(store: Store, threadId: string): Promise<string | null> {
  return (await shownSummary(store, threadId))?.text ?? null;
}

export async function summaryIn(store: Store, threadId: string, seq: number): Promise<ShownSummary | null> {
  for await (const { record } of store.records(threadId, { range: [seq, seq] }))
    if (record.kind === "compaction") return { record: seq, text: record.summary.text };
  return null;
}
