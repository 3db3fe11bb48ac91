import assert from "node:assert/strict";
import { type OpenAiMessage, shapeOf } from "@palimpsest/core/internal/message";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { threadConformance } from "@palimpsest/testing/conformance";
import { openThread } from "./open-thread.ts";

const textOf = ({ role, content }: OpenAiMessage) => ({ role, text: typeof content === "string" ? content : "" });

threadConformance("openThread", {
  async open({ store, threadId, window, model }) {
    const opened = await openThread({
      store,
      id: threadId,
      shape: shapeOf("openai"),
      window,
      model: "m",
      counter: charsPerToken(4),
      waitMs: 0,
    });
    assert.ok(opened.kind === "open");
    const { thread } = opened;
    return {
      async say(words) {
        await thread.append([{ role: "user", content: words }]);
        await thread.call(async ({ messages }) => {
          const { text, usage } = model(messages.map(textOf));
          return { messages: [{ role: "assistant", content: text }], usage };
        });
      },
      async compact() {
        assert.equal((await thread.compact()).kind, "compacted");
      },
      close: () => thread.close(),
    };
  },
});
