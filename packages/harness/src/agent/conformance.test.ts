import assert from "node:assert/strict";
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { type ScriptedStep, scriptedModel } from "@palimpsest/testing";
import { threadConformance } from "@palimpsest/testing/conformance";
import { summarization } from "../compaction/middleware.ts";
import { createAgent } from "./agent.ts";

const textOf = ({ role, content }: LanguageModelV4Message) => ({
  role,
  text: typeof content === "string" ? content : content.map((part) => ("text" in part ? part.text : "")).join("\n"),
});

threadConformance("an agent", {
  async open({ store, threadId, window, model }) {
    const played = scriptedModel(({ prompt }): ScriptedStep => {
      try {
        const { text, usage } = model(prompt.map(textOf));
        const input = { total: usage.input, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
        return {
          text,
          usage: { inputTokens: input, outputTokens: { total: usage.output, text: undefined, reasoning: undefined } },
        };
      } catch (error) {
        return { error };
      }
    });
    const agent = createAgent({
      model: played,
      store,
      window,
      counter: charsPerToken(4),
      middleware: [summarization({ summarizer: null })],
    });
    return {
      say: async (words) => void (await agent.generate({ threadId, prompt: words })),
      async compact() {
        assert.equal((await agent.compact(threadId)).kind, "compacted");
      },
      close: () => agent.close(),
    };
  },
});
