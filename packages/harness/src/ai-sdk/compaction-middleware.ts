/**
 * A model that is never sent more than its window takes, without a thread: whoever calls it gives the whole conversation each
 * time and knows nothing of it. What was hidden is remembered for as long as the process lives, by how the conversation begins.
 */
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { LanguageModelMiddleware } from "ai";
import { createMessageCompactor, type MessageCompactor } from "../messages/message-compactor.ts";
import type { CompactMessagesOptions } from "../messages/options.ts";
import { overflowOf } from "../session/overflow.ts";

type Message = LanguageModelV4Prompt[number];

export type CompactionMiddlewareOptions = Omit<CompactMessagesOptions<Message>, "state" | "usage" | "signal" | "cause">;

interface Conversation {
  compactor: MessageCompactor<Message>;
  window: number;
}

const MOST_CONVERSATIONS = 100;
/** A provider that states no limit, or one that its own count contradicts, is believed after so many smaller prompts. */
const TRIES = 4;
const SMALLER = 0.8;

/** For `wrapLanguageModel({ model, middleware })`. */
export function compactionMiddleware(options: CompactionMiddlewareOptions): LanguageModelMiddleware {
  const conversations = new Map<string, Conversation>();

  const conversationOf = (prompt: LanguageModelV4Prompt): Conversation => {
    const key = JSON.stringify(prompt.find(({ role }) => role !== "system") ?? null);
    const known = conversations.get(key);
    const conversation = known ?? { compactor: createMessageCompactor(options), window: options.window };
    // The newest stands last.
    conversations.delete(key);
    conversations.set(key, conversation);
    if (conversations.size > MOST_CONVERSATIONS) conversations.delete(conversations.keys().next().value!);
    return conversation;
  };

  const shrink = (conversation: Conversation, limit: number | null): void => {
    const smaller = Math.floor(conversation.window * SMALLER);
    conversation.window = limit === null ? smaller : Math.min(limit, conversation.window === limit ? smaller : limit);
    const { state } = conversation.compactor;
    conversation.compactor = createMessageCompactor({ ...options, window: conversation.window, state });
  };

  const asking = async <T>(
    params: LanguageModelV4CallOptions,
    ask: (fitting: LanguageModelV4CallOptions) => PromiseLike<T>,
  ): Promise<{ readonly result: T; readonly compactor: MessageCompactor<Message> }> => {
    const conversation = conversationOf(params.prompt);
    for (let attempt = 1; ; attempt += 1) {
      const { compactor } = conversation;
      const { messages } = await compactor.prompt(params.prompt, params.abortSignal);
      try {
        return { result: await ask({ ...params, prompt: [...messages] }), compactor };
      } catch (error) {
        const overflow = overflowOf(error);
        if (overflow === null || attempt === TRIES) throw error;
        shrink(conversation, overflow.limit);
      }
    }
  };

  return {
    specificationVersion: "v4",
    async wrapGenerate({ params, model }) {
      const { result, compactor } = await asking(params, (fitting) => model.doGenerate(fitting));
      report(compactor, result.usage);
      return result;
    },
    async wrapStream({ params, model }) {
      const { result, compactor } = await asking(params, (fitting) => model.doStream(fitting));
      return { ...result, stream: reporting(result.stream, compactor) };
    },
  };
}

type Usage = Awaited<ReturnType<LanguageModelV4["doGenerate"]>>["usage"];
type Parts = Awaited<ReturnType<LanguageModelV4["doStream"]>>["stream"];

function report(compactor: MessageCompactor<Message>, { inputTokens, outputTokens }: Usage): void {
  if (inputTokens.total !== undefined && inputTokens.total > 0)
    compactor.report({ input: inputTokens.total, output: outputTokens.total ?? 0 });
}

function reporting(parts: Parts, compactor: MessageCompactor<Message>): Parts {
  return parts.pipeThrough(
    new TransformStream({
      transform(part, controller) {
        if (part.type === "finish") report(compactor, part.usage);
        controller.enqueue(part);
      },
    }),
  );
}
