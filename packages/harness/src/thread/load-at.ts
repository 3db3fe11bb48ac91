/** A thread as it was when its log ended at some record: what a load brings, put together from the log. */
import { hiddenButShown } from "../stores/driver-rules.ts";
import type { Store, StoredRecord, ThreadLoad } from "../stores/store.ts";
import { headAt } from "./acts.ts";

export async function loadAt(store: Store, threadId: string, seq: number): Promise<ThreadLoad | undefined> {
  const header = await store.header(threadId);
  if (header === undefined) return undefined;
  const head = await headAt({ store }, threadId, seq);
  const tail: StoredRecord[] = [];
  const range = [head.hiddenThrough + 1, head.version] as const;
  for await (const one of store.records(threadId, { range })) tail.push(one);
  const seqs = hiddenButShown(head, tail);
  const hidden: StoredRecord[] = [];
  if (seqs.length > 0) for await (const one of store.records(threadId, { seqs })) hidden.push(one);
  return { header, head, records: [...hidden, ...tail] };
}
