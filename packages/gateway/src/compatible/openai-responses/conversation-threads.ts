/** Conversations of OpenAI's API as threads: the id is the thread's, unguessable, and only its user's. */

import { currentThread } from "palimpsest/internal/threads";
import type { Store } from "palimpsest/stores";
import type { HeldPlace } from "../held.ts";
import { keyed, type Secret } from "../matching/chain.ts";

const PREFIX = "conv_pal";

export const conversationId = (unique: string): string => `${PREFIX}${unique.replaceAll("-", "")}`;

/** Of ours, as far as one can see. */
export const isConversationId = (id: string): boolean => /^conv_pal[0-9a-z]{16,64}$/i.test(id);

/** Its end: a conversation is one line, and never forked. Null: there is none of this id. */
export async function conversationPlace(
  store: Store,
  id: string,
  { secret, locked }: { readonly secret: Secret; readonly locked: Error },
): Promise<HeldPlace | null> {
  if ((await store.header(id)) === undefined) return null;
  const threadId = await currentThread(store, id);
  const seq = await lastAnswered(store, threadId);
  const hash = keyed(secret, `conversation\n${threadId}\n${seq}`);
  return { threadId, seq, state: { hash, pending: [], calls: [] }, otherwise: locked };
}

/** Words behind it were asked and never answered: asked again they are the same question. */
async function lastAnswered(store: Store, threadId: string): Promise<number> {
  const query = { kinds: ["message"], order: "descending" } as const;
  for await (const { record } of store.records(threadId, query))
    if (record.kind === "message" && record.origin !== "user" && record.origin !== "tool") return record.seq;
  return 0;
}
