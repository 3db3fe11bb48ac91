/** A conversation of the caller's: what it is, and the thread in which it stands. */
import { currentThread } from "palimpsest/internal/threads";
import type { Fields } from "../vendor.ts";
import { isConversationId } from "./conversation-threads.ts";
import type { HeldCall } from "./held-call.ts";
import { noConversation } from "./refusals.ts";

/** Throws where the caller has none of this id. */
export async function conversationOf({ call }: HeldCall, id: string): Promise<Fields> {
  const { store } = call.threads;
  const header = isConversationId(id) ? await store.header(id) : undefined;
  const state = header === undefined ? undefined : (await store.head(id))?.state;
  if (header === undefined || state === undefined) throw noConversation(id);
  const created = Math.floor(Date.parse(header.createdAt) / 1000);
  return { id, object: "conversation", created_at: created, metadata: state[METADATA] ?? {} };
}

/** Where the state of its first thread has what its client says of it. */
export const METADATA = "conversationMetadata";

/** The thread in which it stands now. */
export async function threadOf(
  held: HeldCall,
  id: string,
): Promise<{ readonly threadId: string; readonly to: number }> {
  await conversationOf(held, id);
  const { store } = held.call.threads;
  const threadId = await currentThread(store, id);
  return { threadId, to: (await store.head(threadId))?.version ?? 0 };
}
