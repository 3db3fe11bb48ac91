/**
 * The middleware: around each model call it brings the thread in step with the state, shows the model what fits its window,
 * reports what the provider counted, and asks again with less when the provider finds it too long. The state is never changed.
 */
import type { AIMessage } from "@langchain/core/messages";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import type { LangChainMessage } from "@palimpsest/core/internal/message";
import { type AgentMiddleware, createMiddleware, type Runtime } from "langchain";
import type { OpenThreadOptions } from "palimpsest/session";
import { openSqlite, type Store } from "palimpsest/stores";
import { conversationPool } from "./conversation-pool.ts";
import { givenMessage, shownMessages } from "./messages.ts";
import { modelFacts } from "./model-facts.ts";
import { recallTools } from "./recall-tools.ts";
import { type GivenSummarizer, summarizerOf } from "./summarizer.ts";

type TakenMessages = "store" | "id" | "userId" | "shape" | "hold" | "window" | "summarizer" | "originals";

/** Beside these, those of a thread. */
export interface PalimpsestMiddlewareOptions extends Omit<OpenThreadOptions<LangChainMessage>, TakenMessages> {
  /** Where threads are kept; without one in memory, made anew from the state after a restart. */
  readonly store?: Store | undefined;
  /** The model's input window in tokens; by default what its profile says. */
  readonly window?: number | undefined;
  /** By default `configurable.thread_id`, and for a run without one the id of its first message. */
  readonly threadId?: ((runtime: Runtime) => string | undefined) | undefined;
  /** Whose thread it is; by default the store's user. */
  readonly userId?: string | ((runtime: Runtime) => string | undefined) | undefined;
  /** A chat model, or a function, that writes the summaries; without one they are extracted by rules. */
  readonly summarizer?: GivenSummarizer | undefined;
  /** Whether the model gets the tools `recall` and `recall_read`. `false` leaves them out. */
  readonly recall?: boolean | undefined;
}

export function palimpsestMiddleware(options: PalimpsestMiddlewareOptions = {}): AgentMiddleware {
  const { threadId, userId, recall = true, window, store, summarizer, ...thread } = options;
  let own: Store | null = null;
  const pool = conversationPool({
    ...thread,
    store: () => {
      own ??= store ?? openSqlite({ path: ":memory:" });
      return own;
    },
    summarizer: summarizerOf(summarizer),
    originals: recall ? "recall" : null,
    threadId: threadId ?? (({ configurable }) => configurable?.thread_id),
    userId: typeof userId === "function" ? userId : () => userId,
  });
  return createMiddleware({
    name: "palimpsest",
    tools: recall ? recallTools(pool) : [],
    wrapModelCall: (request, handler) => {
      const { model, state, runtime, systemMessage, tools } = request;
      const facts = modelFacts(model);
      const given = state.messages.map(givenMessage);
      const place = { runtime, messages: state.messages, model: facts.name, window: window ?? facts.window };
      return pool.using(place, async (conversation) => {
        const opened = await conversation.inStep(given);
        const fixed = { system: systemMessage.text, tools: tools.map(toolSchema) };
        for (;;) {
          const { messages } = await opened.prompt({ fixed, signal: runtime.signal });
          try {
            const answer = await handler({ ...request, messages: shownMessages(messages, given) });
            // Written with the answer, once the state has it.
            await opened.report((answer as AIMessage).usage_metadata);
            return answer;
          } catch (error) {
            if (!(await opened.recover(error, { signal: runtime.signal }))) throw error;
          }
        }
      });
    },
    // Before the tools run: what was answered is in the log, whatever becomes of them.
    afterModel: async ({ messages }, runtime) => {
      const place = { runtime, messages, model: null, window: window ?? null };
      await pool.using(place, (conversation) => conversation.inStep(messages.map(givenMessage)));
    },
  });
}

/** As it is sent; what a provider runs itself is stated by its own description. */
function toolSchema(tool: unknown): unknown {
  try {
    return convertToOpenAITool(tool as Parameters<typeof convertToOpenAITool>[0]);
  } catch {
    return tool;
  }
}
