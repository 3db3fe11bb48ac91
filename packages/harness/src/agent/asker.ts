/**
 * An agent as the one who would ask next in a stored thread: its model, its counter, and what it would send beside the
 * messages. That is rendered on a copy of the thread in memory, so that showing a context writes nothing.
 */
import { type AiSdkMessage, shapeOf } from "@palimpsest/core/message";
import type { Meter } from "@palimpsest/core/tokens";
import type { ThreadLoad } from "../stores/store.ts";
import { imagineConversation } from "../threads/imagined.ts";
import type { Asker } from "../threads/thread-scale.ts";
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
  const run = startRun({
    runId: setup.deps.ids(),
    deps,
    conversation: imagineConversation(deps.store, load, shapeOf("ai-sdk")),
    signal: setup.lifetime.closing,
    emit: () => {},
    window: () => setup.book.window().size,
    bindsReasoning: setup.model.bindsReasoning,
    compact: () => Promise.reject(new Error("a context is only shown: nothing is compacted for it")),
  });
  const part = await renderFixed(run, setup);
  return { system: part.prompt.text, tools: part.schemas, parts: fixedSizes(part, meter) };
}
