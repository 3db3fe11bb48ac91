/**
 * What stands verbatim in a summary: messages a person pinned, then the user's own words, newest first. Read anew from
 * the log at every compaction, so that they can't drift.
 */

import type { SummaryInput } from "@palimpsest/core/compaction";
import { quote } from "@palimpsest/core/internal/compaction";
import type { MessageRecord } from "@palimpsest/core/log";
import type { Pin } from "@palimpsest/core/summary";
import type { Store } from "../stores/store.ts";
import type { Conversation } from "../threads/conversation.ts";

/** Reads single message records of the thread by seq. */
export type QuoteSource = (seqs: readonly number[]) => Promise<readonly MessageRecord[]>;

export async function gatherPins<M>(
  covered: Pick<SummaryInput<M>, "entries" | "userTurns">,
  conversation: Conversation<M>,
  read: QuoteSource,
): Promise<readonly Pin[]> {
  const last = covered.entries.at(-1)?.seq ?? 0;
  const pinned = conversation.head().pins.filter((seq) => seq <= last);
  const wanted = [...new Set([...pinned, ...covered.userTurns.toReversed()])];
  const loaded = new Map(covered.entries.map(({ seq, message }) => [seq, message]));
  for (const record of await read(wanted.filter((seq) => !loaded.has(seq)))) {
    loaded.set(record.seq, conversation.original(record));
  }
  return wanted.flatMap((seq) => {
    const message = loaded.get(seq);
    return message === undefined ? [] : [quote(seq, message, conversation.shape)];
  });
}

/** Reads them from a store. */
export function readQuotes(store: Store, threadId: string): QuoteSource {
  return async (seqs) => {
    const found: MessageRecord[] = [];
    for (const seq of seqs)
      for await (const { record } of store.records(threadId, { range: [seq, seq], kinds: ["message"] }))
        if (record.kind === "message") found.push(record);
    return found;
  };
}
