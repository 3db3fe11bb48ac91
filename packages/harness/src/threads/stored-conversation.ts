/** A conversation that starts as a stored thread stands and goes on in memory only. */

import { liveRecords } from "@palimpsest/core/internal/log";
import type { MessageRecord } from "@palimpsest/core/log";
import type { Shape } from "@palimpsest/core/message";
import type { Store, ThreadLoad } from "../stores/store.ts";
import { type Conversation, readBody } from "./conversation.ts";
import { inMemoryConversation } from "./in-memory.ts";
import { stateChainOf } from "./state-chain.ts";

export function storedConversation<M>(
  store: Store,
  { header, head, records }: ThreadLoad,
  shape: Shape<M>,
): Conversation<M> {
  const messages = new Map<number, M>();
  const original = (record: MessageRecord): M => {
    const message = messages.get(record.seq) ?? readBody(record, shape);
    messages.set(record.seq, message);
    return message;
  };
  const live = liveRecords(
    head,
    records.map(({ record }) => record),
  );
  const state = async () => (await stateChainOf(store, header.id, live.compaction))?.state ?? null;
  return inMemoryConversation({ header, shape, head, live, original, state });
}
