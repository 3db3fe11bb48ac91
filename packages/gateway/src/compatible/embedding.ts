/**
 * The configured embedder for conversations of these endpoints: it orders what is looked up for a question, and what was
 * said gets its vectors behind the answer. A request waits for it as a search does, two seconds at most.
 */
import { keepEmbedded, untilEmbedded } from "palimpsest/internal/recall";
import type { ThreadDeps } from "palimpsest/threads";
import { type Caller, isProviderUser } from "../access/admit.ts";

type Embedding = Pick<ThreadDeps, "embedder" | "onEmbedding">;

export interface ConversationEmbedding {
  /** For a search; nothing for who has shown only a provider's key: the operator doesn't pay for them. */
  of(caller: Caller): Promise<Embedding>;
  /** Nobody waits for it, and it never throws. */
  behind(deps: Pick<ThreadDeps, "store" | "tools">, threadId: string, caller: Caller): Promise<void>;
  /** Waits for what was said last, ten seconds at most. */
  close(): Promise<void>;
}

/** What is left then is made behind the thread's next answer. */
const CLOSING_MS = 10_000;

export function conversationEmbedding(configured: () => Promise<Embedding>): ConversationEmbedding {
  const [closing, over] = [new AbortController(), new AbortController()];
  const time = { closing: closing.signal, over: over.signal };
  const of = async (caller: Caller): Promise<Embedding> =>
    isProviderUser(caller) ? {} : configured().catch(() => ({}));
  return {
    of,
    behind: async ({ store, tools }, threadId, caller) =>
      keepEmbedded({ store, ...(tools && { tools }), ...(await of(caller)) }, threadId, time),
    async close() {
      closing.abort();
      const { embedder } = await configured().catch((): Embedding => ({}));
      if (embedder !== undefined) await untilEmbedded(embedder, CLOSING_MS);
      over.abort();
    },
  };
}
