/** For tests of agents: an agent on a scripted model and a store in memory, its events, and its thread read back. */
import type { MessageRecord } from "@palimpsest/core/internal/log";
import { type AiSdkMessage, aiSdkShape } from "@palimpsest/core/internal/message";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { type Script, type ScriptedModel, type ScriptedModelOptions, scriptedModel } from "@palimpsest/testing";
import { type Agent, type AgentOptions, createAgent } from "../../src/agent/agent.ts";
import type { AgentEvent } from "../../src/agent/events.ts";
import { createDeepAgent, type DeepAgentOptions } from "../../src/home/create-deep-agent.ts";
import type { ModelCounter } from "../../src/models/tokenizers.ts";
import { openSqlite } from "../../src/stores/sqlite.ts";
import type { Store } from "../../src/stores/store.ts";

/** Counts as the scripted model reports, so that a test can say what fits. */
export const plainCounter: ModelCounter = {
  name: "chars/4",
  count: charsPerToken(4),
  prior: 1,
  imageRule: "anthropic",
  frame: { message: 4, call: 8, argument: 0, result: 6, inputs: "json" },
};

export interface Kit {
  readonly agent: Agent;
  readonly model: ScriptedModel;
  readonly store: Store;
  readonly events: AgentEvent[];
  of<T extends AgentEvent["type"]>(type: T): Extract<AgentEvent, { type: T }>[];
  /** Every message of the thread, in order, as it was said. */
  said(threadId?: string): Promise<AiSdkMessage[]>;
  origins(threadId?: string): Promise<string[]>;
}

type AgentKitOptions = Omit<Partial<DeepAgentOptions>, "model" | "store"> & {
  readonly store?: Store | undefined;
  readonly scripted?: ScriptedModelOptions;
};

/** `script`: or a model that has one already. */
export function agentKit(script: Script | ScriptedModel, options: AgentKitOptions = {}): Kit {
  return kitOf(createAgent, script, options);
}

/** Its summaries are extracted unless a test names a summarizer. */
export function deepAgentKit(script: Script, options: AgentKitOptions = {}): Kit {
  return kitOf(createDeepAgent, script, { summarizer: null, ...options });
}

function kitOf(
  create: (options: AgentOptions) => Agent,
  script: Script | ScriptedModel,
  { scripted, ...given }: AgentKitOptions,
): Kit {
  const events: AgentEvent[] = [];
  const model = "calls" in script ? script : scriptedModel(script, scripted);
  const store = given.store ?? openSqlite({ path: ":memory:" });
  const agent = create({ counter: plainCounter, ...given, store, model, onEvent: (event) => events.push(event) });
  const records = async (threadId: string): Promise<MessageRecord[]> => {
    const found: MessageRecord[] = [];
    for await (const record of agent.thread(threadId).replay()) found.push(record);
    return found;
  };
  return {
    agent,
    model,
    store,
    events,
    of: (type) => events.filter((event) => event.type === type) as never,
    said: async (threadId = "t") => (await records(threadId)).map(({ body }) => JSON.parse(body)),
    origins: async (threadId = "t") => (await records(threadId)).map(({ origin }) => origin),
  };
}

/** The plain text of a message, results included. */
export function textOf(message: AiSdkMessage): string {
  return aiSdkShape
    .parts(message)
    .map((part) => ("text" in part ? part.text : ""))
    .join("\n");
}
