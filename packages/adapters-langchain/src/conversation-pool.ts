/** The conversations that are open, by user and thread: the most recently used ones, and each that is being used. */
import type { BaseMessage } from "@langchain/core/messages";
import type { Runtime } from "langchain";
import type { Store } from "palimpsest/stores";
import { type AdaptedConversationOptions, type LangChainConversation, openConversation } from "./conversation.ts";

export interface ConversationPoolOptions
  extends Omit<AdaptedConversationOptions, "store" | "id" | "userId" | "window"> {
  readonly store: () => Store;
  readonly threadId: (runtime: Runtime) => string | undefined;
  readonly userId: (runtime: Runtime) => string | undefined;
}

/** What a hook or a tool knows of where it is. */
export interface PooledPlace {
  readonly runtime: Runtime;
  readonly messages: readonly BaseMessage[];
  /** Null: whatever it was. */
  readonly model: string | null;
  readonly window: number | null;
}

export interface ConversationPool {
  using<T>(place: PooledPlace, work: (conversation: LangChainConversation) => Promise<T>): Promise<T>;
}

interface PoolEntry {
  readonly conversation: LangChainConversation;
  window: number;
  users: number;
}

const MOST_IDLE = 100;

export function conversationPool({
  store: storeNow,
  threadId,
  userId,
  ...thread
}: ConversationPoolOptions): ConversationPool {
  const entries = new Map<string, PoolEntry>();

  const entryAt = (place: PooledPlace): PoolEntry => {
    const store = storeNow();
    const id = threadId(place.runtime) ?? place.messages[0]?.id;
    if (id === undefined)
      throw new Error("there is no thread to keep this in: invoke the agent with { configurable: { thread_id } }");
    const user = userId(place.runtime) ?? store.userId;
    const key = JSON.stringify([user, id]);
    const entry = entries.get(key) ?? opened({ id, userId: user, store }, place);
    // The newest stands last.
    entries.delete(key);
    entries.set(key, entry);
    entry.window = place.window ?? entry.window;
    return entry;
  };

  const opened = (
    of: Pick<AdaptedConversationOptions, "id" | "userId" | "store">,
    { model, window }: PooledPlace,
  ): PoolEntry => {
    const named = model === null ? {} : { model };
    const entry: PoolEntry = {
      window: window ?? Number.MAX_SAFE_INTEGER,
      users: 0,
      conversation: openConversation({ ...named, ...thread, ...of, window: () => entry.window }),
    };
    return entry;
  };

  const closeIdle = async (): Promise<void> => {
    for (const [key, { conversation, users }] of entries) {
      if (entries.size <= MOST_IDLE) return;
      if (users > 0) continue;
      entries.delete(key);
      await conversation.close();
    }
  };

  return {
    async using(place, work) {
      const entry = entryAt(place);
      entry.users += 1;
      try {
        return await work(entry.conversation);
      } finally {
        entry.users -= 1;
        await closeIdle();
      }
    },
  };
}
