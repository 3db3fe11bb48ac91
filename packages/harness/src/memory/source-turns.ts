/**
 * Keeps what memory says of its source turns true: names that mean another message by now are dropped before anything is
 * done in their name, and a thread that is deleted takes its names along.
 */

import { namedRefs, staleRefs, withoutStale, withoutThread } from "@palimpsest/core/internal/memory";
import type { MessageRecord } from "@palimpsest/core/log";
import { refOf } from "../recall/messages.ts";
import type { Store } from "../stores/store.ts";
import type { Repository } from "./repository.ts";
import type { MemoryScope } from "./scope.ts";

/** Of one document. The store is the user's. */
export async function dropStaleTurns(store: Store, repository: Repository, scope: MemoryScope): Promise<void> {
  const document = await repository.storage.reload(scope);
  if (document === null) return;
  const stale = staleRefs(document, await messagesUnder(store, namedRefs(document)));
  if (stale.size === 0) return;
  await repository.change(scope, () => ({ changes: [], also: (next) => withoutStale(next, stale) }), "manual");
}

/** In every document of the user. What was learned there stays. */
export async function forgetThread(repository: Repository, userId: string, threadId: string): Promise<void> {
  const scopes = (await repository.storage.scopes?.(userId)) ?? [{ userId, agentName: null }];
  for (const scope of scopes) {
    const document = await repository.storage.reload(scope);
    if (document === null) continue;
    const knows = document.watermarks?.[threadId] !== undefined || [...namedRefs(document)].some(isOf(threadId));
    if (!knows) continue;
    await repository.change(scope, () => ({ changes: [], also: (next) => withoutThread(next, threadId) }), "manual");
  }
}

function isOf(threadId: string): (ref: string) => boolean {
  return (ref) => ref.startsWith(`${threadId}#`);
}

/** Also those that were erased: their ids are left. */
async function messagesUnder(
  store: Store,
  refs: Iterable<string>,
): Promise<Map<string, Pick<MessageRecord, "id" | "at">>> {
  const places = [...refs].flatMap((ref) => {
    const [, threadId, seq] = /^([^#]+)#(\d{1,15})$/.exec(ref) ?? [];
    return threadId === undefined ? [] : [{ thread: threadId, seq: Number(seq) }];
  });
  const records = new Map<string, Pick<MessageRecord, "id" | "at">>();
  for (const [threadId, own] of Map.groupBy(places, (place) => place.thread)) {
    const seqs = own.map(({ seq }) => seq);
    for await (const { record } of store.records(threadId, { seqs, kinds: ["message"] }))
      if (record.kind === "message")
        records.set(refOf({ threadId, seq: record.seq }), { id: record.id, at: record.at });
  }
  return records;
}
