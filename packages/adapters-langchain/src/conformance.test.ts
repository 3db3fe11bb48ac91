import { randomUUID } from "node:crypto";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { threadConformance } from "@palimpsest/testing/conformance";
import { createAgent } from "langchain";
import type { Store } from "palimpsest/stores";
import { StrictModel } from "../test/strict-model.ts";
import { palimpsestMiddleware } from "./palimpsest-middleware.ts";

const ROLES: Readonly<Record<string, string>> = { human: "user", ai: "assistant" };
const NO_LIMIT = 1_000_000;

/** LangChain's own state, which outlives an agent as a database would. */
const checkpointers = new WeakMap<Store, MemorySaver>();

threadConformance("LangChain's middleware", {
  skip: {
    compact: "LangChain's agents have no act that compacts now",
    undo: "LangChain's agents have no act that compacts now",
    fork: "the fork of a thread has no state in LangChain's checkpointer",
  },
  async open({ store, threadId, window, model: play }) {
    const checkpointer = checkpointers.get(store) ?? new MemorySaver();
    checkpointers.set(store, checkpointer);
    const model = new StrictModel({
      limit: NO_LIMIT,
      stated: window,
      answer(messages) {
        const sent = messages.map((one) => ({ role: ROLES[one.getType()] ?? one.getType(), text: one.text }));
        return new AIMessage({ content: play(sent).text, id: randomUUID() });
      },
    });
    const middleware = [
      palimpsestMiddleware({ store, counter: charsPerToken(4), model: "m", waitMs: 0, recall: false }),
    ];
    const agent = createAgent({ model, tools: [], checkpointer, middleware });
    return {
      async say(words) {
        await agent.invoke({ messages: [new HumanMessage(words)] }, { configurable: { thread_id: threadId } });
      },
      compact: async () => {},
      close: async () => {},
    };
  },
});
