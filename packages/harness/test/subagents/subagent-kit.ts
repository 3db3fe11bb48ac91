/** For tests of sub-agents: a parent and its children on one scripted model, told apart by what they were asked. */
import { aiSdkShape } from "@palimpsest/core/internal/message";
import { type ScriptedCall, type ScriptedStep, scriptedModel } from "@palimpsest/testing";
import type { AgentOptions } from "../../src/agent/agent.ts";
import { createGate } from "../../src/features/subagents/delegate.ts";
import { type Delegation, delegationsOf } from "../../src/features/subagents/delegations.ts";
import { type SubagentsOptions, subagents } from "../../src/features/subagents/middleware.ts";
import type { SubagentResult } from "../../src/features/subagents/result.ts";
import { agentKit, type Kit } from "../agent/agent-kit.ts";

export interface SubagentKit extends Kit {
  /** What the `task` calls of the thread came back with, in order. */
  results(threadId?: string): Promise<TaskOutput[]>;
  delegations(threadId?: string): Promise<readonly Delegation[]>;
}

/** A result as the model reads it; of an error only the text. */
type TaskOutput = SubagentResult & { readonly error?: string };

export interface Scripts {
  /** The parent's answers, one after another. */
  readonly parent: readonly ScriptedStep[];
  /** A child's, by the words of its prompt and the turn it is at, from 1. */
  readonly child: (prompt: string, turn: number, call: ScriptedCall) => ScriptedStep | Promise<ScriptedStep>;
}

type SubagentKitOptions = Omit<Partial<SubagentsOptions>, "model"> & Pick<AgentOptions, "deps" | "store">;

export function subagentKit(scripts: Scripts, { store, deps = {}, ...options }: SubagentKitOptions = {}): SubagentKit {
  let parentTurn = 0;
  const turns = new Map<string, number>();
  const model = scriptedModel((call) => {
    if (hasTask(call)) {
      const step = scripts.parent[parentTurn++];
      if (step === undefined) throw new Error("the parent's script has ended");
      return step;
    }
    const prompt = firstUserText(call);
    const turn = (turns.get(prompt) ?? 0) + 1;
    turns.set(prompt, turn);
    return scripts.child(prompt, turn, call);
  });
  const { tools = {} } = options;
  const middleware = [subagents({ gate: createGate(), ...options, model })];
  const kit = agentKit(model, { store, deps, tools, middleware });
  return {
    ...kit,
    async results(threadId) {
      const parts = (await kit.said(threadId)).flatMap((message) =>
        message.role === "tool" ? aiSdkShape.parts(message) : [],
      );
      return parts.flatMap((part) => {
        if (part.kind !== "result") return [];
        return [(part.isError ? { error: part.text } : JSON.parse(part.text)) as TaskOutput];
      });
    },
    delegations: async (threadId = "t") => delegationsOf(await kit.agent.thread(threadId).state()),
  };
}

export function taskCall(prompt: string, more: Readonly<Record<string, unknown>> = {}) {
  return { name: "task", input: { description: `do ${prompt}`, prompt, ...more } };
}

function hasTask({ options }: ScriptedCall): boolean {
  return options.tools?.some(({ name }) => name === "task") ?? false;
}

/** Of a child that was compacted: its request, wherever it stands. */
function firstUserText({ prompt }: ScriptedCall): string {
  for (const message of prompt) {
    if (message.role !== "user") continue;
    const text = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
    if (text.length < 200) return text;
  }
  return "";
}
