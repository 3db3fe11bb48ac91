/** The summary that stands for what is hidden in a thread now. */
import type { Store } from "palimpsest/stores";

/** Null: nothing is hidden. */
export async function summaryText(store: Store, threadId: string): Promise<string | null> {
  const seq = (await store.head(threadId))?.compaction ?? null;
  if (seq === null) return null;
  for await (const { record } of store.records(threadId, { range: [seq, seq] }))
    if (record.kind === "compaction") return record.summary.text;
  return null;
}
