/** Single records of a thread that its open view does not hold: messages to quote, usage reports to count on. */
import type { Head, MessageRecord, UsageRecord } from "@palimpsest/core/log";
import type { Store } from "../stores/store.ts";

export async function readMessages(store: Store, thread: string, seqs: readonly number[]): Promise<MessageRecord[]> {
  const found: MessageRecord[] = [];
  for (const seq of seqs) {
    for await (const { record } of store.records(thread, { range: [seq, seq], kinds: ["message"] })) {
      if (record.kind === "message") found.push(record);
    }
  }
  return found;
}

/** Enough to learn a model's factor from; more would only cost time on a long tail. */
const REPORTS = 64;

/** The newest reports on what is visible now, oldest first. */
export async function readUsages(store: Store, thread: string, head: Head): Promise<UsageRecord[]> {
  const range = [head.hiddenThrough + 1, head.version] as const;
  const found: UsageRecord[] = [];
  if (head.usage === null || range[0] > range[1]) return found;
  for await (const { record } of store.records(thread, { range, kinds: ["usage"], order: "descending" })) {
    if (record.kind === "usage" && record.flaw == null) found.push(record);
    if (found.length >= REPORTS) break;
  }
  return found.toReversed();
}
