/** Where a fork stands after answers: in its own records, and in those that it shares with the threads it was forked from. */
import type { MatchRow, Store } from "palimpsest/stores";

/** Of these rows those that hold for the thread, as its own. */
export async function rowsOfThread(
  store: Store,
  threadId: string,
  rows: readonly MatchRow[],
): Promise<readonly MatchRow[]> {
  const own = rows.filter((row) => row.threadId === threadId);
  const head = own.length > 0 || rows.length === 0 ? undefined : await store.head(threadId);
  if (head === undefined) return own;
  const shared = await sharedBy(store, threadId);
  return rows
    .filter((row) => row.seq <= (shared.get(row.threadId) ?? 0))
    .map((row) => ({ ...row, threadId, version: head.version }));
}

/** By the threads it was forked from, the last record of each that it shares. */
async function sharedBy(store: Store, threadId: string): Promise<ReadonlyMap<string, number>> {
  const shared = new Map<string, number>();
  let through = Number.MAX_SAFE_INTEGER;
  let header = await store.header(threadId);
  while (header !== undefined && header.parent !== null && header.forkedAt !== null) {
    through = Math.min(through, header.forkedAt);
    shared.set(header.parent, through);
    header = await store.header(header.parent);
  }
  return shared;
}
