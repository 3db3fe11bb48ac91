/**
 * The threads that the runs of this process have left open, by their store: the next run on one of them, of whichever
 * agent, reads only what was written since. What is kept is never trusted: whoever opens a thread compares it with the
 * log's head and its chain.
 */
import type { AiSdkMessage } from "@palimpsest/core/message";
import type { OpenSizer } from "../session/prompting.ts";
import type { Store } from "../stores/store.ts";
import type { Conversation } from "../threads/conversation.ts";

interface LeftOpen {
  readonly conversation: Conversation<AiSdkMessage>;
  readonly sized: OpenSizer<AiSdkMessage>;
}

/** By keys that name a user and a thread. */
export interface OpenThreads {
  /** It is in one run's hands at a time. */
  take(key: string): LeftOpen | null;
  leave(key: string, thread: LeftOpen): void;
}

/** Of the very same store object: another one may be on another file, or belong to somebody else. */
export function openThreads(store: Store): OpenThreads {
  const threads = tables.get(store) ?? new Map<string, LeftOpen>();
  tables.set(store, threads);
  return {
    take(key) {
      const thread = threads.get(key) ?? null;
      threads.delete(key);
      return thread;
    },
    leave(key, thread) {
      threads.delete(key);
      threads.set(key, thread);
      const [oldest] = threads.keys();
      if (threads.size > MOST_OPEN && oldest !== undefined) threads.delete(oldest);
    },
  };
}

const tables = new WeakMap<Store, Map<string, LeftOpen>>();

/** Whatever the number of threads and agents, only so many stay in memory. */
const MOST_OPEN = 16;
