import { Agent, type AgentInputItem, Runner } from "@openai/agents-core";
import { assistantMessage, modelResponder, ScriptedModel } from "@openai/agents-core/testing";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { threadConformance } from "@palimpsest/testing/conformance";
import { PalimpsestSession } from "./palimpsest-session.ts";

const CALLS = 60;

threadConformance("a session of the OpenAI Agents SDK", {
  skip: {
    report: "a session isn't told what the provider counted; fittingModel is",
    recover: "a session isn't told of a refusal; fittingModel is",
  },
  async open({ store, threadId, window, model: play }) {
    const session = new PalimpsestSession({
      store,
      sessionId: threadId,
      window,
      counter: charsPerToken(4),
      waitMs: 0,
    });
    const respond = modelResponder(({ request }) => [
      assistantMessage(play((request.input as AgentInputItem[]).map(textOf)).text),
    ]);
    const model = new ScriptedModel(Array.from({ length: CALLS }, () => respond));
    const runner = new Runner({ tracingDisabled: true });
    const agent = new Agent({ name: "sailor", model });
    return {
      async say(words) {
        await runner.run(agent, words, { session });
      },
      async compact() {
        await session.runCompaction({ force: true });
      },
      close: async () => {},
    };
  },
});

function textOf(item: AgentInputItem) {
  if (!("role" in item)) return { role: item.type ?? "", text: "" };
  const { content } = item;
  const text =
    typeof content === "string" ? content : content.map((part) => ("text" in part ? part.text : "")).join("");
  return { role: item.role, text };
}
