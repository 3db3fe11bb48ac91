/**
 * An agent as the one who would ask next in a stored thread: its model, its counter, and what it would send beside the
 * messages. That is rendered on a copy of the thread in memory, so that showing a context writes nothing.
 */
import { type AiSdkMessage, rulesOf, shapeOf } from "@palimpsest/core/message";
import { createSizer } from "@palimpsest/core/prompt";
import type { Meter } from "@palimpsest/core/tokens";
import type { ThreadLoad } from "../stores/store.ts";
import { livePrompt } from "../thread/live-prompt.ts";
import { logInMemory } from "../thread/open-log.ts";
import type { Asker } from "../thread/sized-thread.ts";
import { storedConversation } from "../thread/sized-thread.ts";
import { fixedSizes, renderFixed } from "./fixed-part.ts";
import { startRun } from "./run.ts";
import { type AgentSetup, depsOf } from "./session.ts";

export async function askerOf(setup: AgentSetup): Promise<Asker> {
  const { counter, meter } = await setup.counting();
  return {
    model: setup.model.settings.languageModel.modelId,
    counter,
    beside: (load) => besideMessages(setup, load, meter),
  };
}

async function besideMessages(setup: AgentSetup, load: ThreadLoad, meter: Meter<AiSdkMessage>) {
  const deps = depsOf(setup, load.header.user);
  const shape = shapeOf("ai-sdk");
  const conversation = storedConversation(deps.store, load, shape);
  const run = startRun({
    runId: setup.deps.ids(),
    deps,
    log: logInMemory(deps, conversation),
    signal: setup.lifetime.closing,
    emit: () => {},
    window: () => setup.modelWindow.window().size,
    bindsReasoning: setup.model.bindsReasoning,
    prompt: livePrompt(conversation, createSizer({ shape, rules: rulesOf("ai-sdk"), meter })),
    compact: () => Promise.reject(new Error("a context is only shown: nothing is compacted for it")),
  });
  const part = await renderFixed(run, setup);
  return { system: part.prompt.text, tools: part.schemas, parts: fixedSizes(part, meter) };
}
