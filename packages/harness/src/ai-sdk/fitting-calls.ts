/**
 * Calls of a model that are never longer than its window, without a thread: the caller gives the whole conversation each
 * time and knows nothing of it. What was hidden is remembered for as long as the process lives, by how the conversation begins.
 */
import { createMessageCompactor, type MessageCompactor } from "../messages/message-compactor.ts";
import type { CompactMessagesOptions } from "../messages/options.ts";
import { overflowOf } from "../thread/window.ts";

export type FittingOptions<M extends object> = Omit<CompactMessagesOptions<M>, "state" | "usage" | "signal" | "cause">;

export interface FittingCalls<M> {
  /** Asks with what fits, and again with less after a refusal for length. `begins`: what the conversation is known by. */
  call<T>(
    given: { readonly messages: readonly M[]; readonly begins: unknown; readonly signal?: AbortSignal | undefined },
    ask: (fitting: M[]) => PromiseLike<T>,
  ): Promise<FittedCall<T>>;
}

export interface FittedCall<T> {
  readonly result: T;
  /** What the provider counted for it. */
  report(usage: { readonly input: number | undefined; readonly output: number | undefined }): void;
}

interface FittedConversation<M extends object> {
  compactor: MessageCompactor<M>;
  window: number;
}

const MOST_CONVERSATIONS = 100;
/** A provider that states no limit, or one that its own count contradicts, is believed after so many smaller prompts. */
const TRIES = 4;
const SMALLER = 0.8;

export function fittingCalls<M extends object>(options: FittingOptions<M>): FittingCalls<M> {
  const conversations = new Map<string, FittedConversation<M>>();

  const conversationOf = (begins: unknown): FittedConversation<M> => {
    const key = JSON.stringify(begins) ?? "";
    const known = conversations.get(key);
    const conversation = known ?? { compactor: createMessageCompactor(options), window: options.window };
    // The newest stands last.
    conversations.delete(key);
    conversations.set(key, conversation);
    if (conversations.size > MOST_CONVERSATIONS) conversations.delete(conversations.keys().next().value!);
    return conversation;
  };

  const shrink = (conversation: FittedConversation<M>, limit: number | null): void => {
    const smaller = Math.floor(conversation.window * SMALLER);
    conversation.window = limit !== null && limit < conversation.window ? limit : smaller;
    const { state } = conversation.compactor;
    conversation.compactor = createMessageCompactor({ ...options, window: conversation.window, state });
  };

  return {
    async call({ messages, begins, signal }, ask) {
      const conversation = conversationOf(begins);
      for (let attempt = 1; ; attempt += 1) {
        const { compactor } = conversation;
        const prompt = await compactor.prompt(messages, signal);
        try {
          const result = await ask([...prompt.messages]);
          return { result, report: (usage) => reportTo(compactor, usage) };
        } catch (error) {
          const overflow = overflowOf(error);
          if (overflow === null || attempt === TRIES) throw error;
          shrink(conversation, overflow.limit);
        }
      }
    },
  };
}

function reportTo<M extends object>(
  compactor: MessageCompactor<M>,
  { input = 0, output = 0 }: { readonly input?: number | undefined; readonly output?: number | undefined },
): void {
  if (input > 0) compactor.report({ input, output });
}
