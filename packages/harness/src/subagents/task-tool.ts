/**
 * The `task` tool: checks what the model asks for and delegates it. What can't be done is a tool error that says
 * what can; the run goes on.
 */
import { type Tool, tool } from "ai";
import { z } from "zod/v4";
import type { Run } from "../agent/run.ts";
import { toolFacts } from "../tool-facts.ts";
import type { Task } from "./delegate.ts";
import { delegationsOf } from "./delegations.ts";
import type { Registry } from "./registry.ts";
import type { SubagentResult } from "./result.ts";
import { DEFAULT_SUBAGENT, type SubagentLimits, type SubagentSpec } from "./spec.ts";

const inputSchema = z.object({
  description: z.string().describe("What it is about, in 3 to 8 words, for people and for your own record"),
  prompt: z
    .string()
    .describe("The whole task: it sees nothing of this conversation. With resume: what to do next, or empty to go on"),
  subagent_type: z.string().default(DEFAULT_SUBAGENT),
  max_turns: z.int().min(1).max(1000).optional().describe("Model calls it may make"),
  resume: z.string().optional().describe("Thread id of one you delegated before, to go on where it stands"),
});

type TaskInput = z.output<typeof inputSchema>;

export interface TaskToolOptions {
  readonly registry: Registry;
  readonly limits: SubagentLimits;
  /** Counts the call in, or throws: the run has had its share, or that child is running already. */
  readonly admit: (threadId: string) => void;
  readonly delegate: (task: Task) => Promise<SubagentResult>;
}

export function taskTool(run: Run, options: TaskToolOptions): Tool<TaskInput, SubagentResult> {
  const { registry, limits } = options;
  return tool({
    description: describe(registry, limits),
    metadata: toolFacts({ act: "none", timeLimit: "own", children: "none" }),
    inputSchema,
    async execute(input, { abortSignal, toolCallId }) {
      const child = input.resume === undefined ? fresh(run, input, registry) : await known(run, input, registry);
      options.admit(child.threadId);
      return options.delegate({
        ...child,
        callId: toolCallId,
        maxTurns: input.max_turns ?? child.spec.maxTurns ?? limits.maxTurns,
        signal: abortSignal ?? run.signal,
      });
    },
  });
}

function describe(registry: Registry, { maxTurns, maxConcurrent }: SubagentLimits): string {
  return `Delegate a task to a sub-agent. It works in a conversation of its own, on the same files, and you get only its answer. Use it for work of many steps whose details you don't need; do short things yourself. Calls made together run side by side, ${maxConcurrent} at a time. max_turns is ${maxTurns} unless given.

subagent_type is one of:
${registry.describe()}

Returns {status, output, artifacts, usage, threadId}. A status other than completed has a reason; such a task can be continued with resume and its threadId.`;
}

type Child = Pick<Task, "spec" | "threadId" | "prompt" | "description" | "resumed">;

function fresh({ deps }: Run, input: TaskInput, registry: Registry): Child {
  const { prompt, description, subagent_type: name } = input;
  if (prompt.trim() === "") throw new Error("the prompt is empty: say what the sub-agent should do");
  const spec = specOf(name, registry);
  return { spec, prompt, description: description.trim() || firstWords(prompt), ...newThread(deps.ids()) };
}

const newThread = (id: string) => ({ threadId: `subagent-${id}`, resumed: false });

const GO_ON = "You were interrupted. Go on from where you stand and finish the task.";

/** Only a child of this very thread: another's conversation is none of its business. */
async function known(run: Run, input: TaskInput, registry: Registry): Promise<Child> {
  const { store } = run.deps;
  const threadId = input.resume!;
  const mine = delegationsOf(run.conversation.head().state);
  const header = await store.header(threadId);
  const before = mine.find((one) => one.threadId === threadId);
  if (header === undefined && before?.deletedAt !== undefined) {
    throw new Error(
      `the thread of ${threadId} was deleted on ${before.deletedAt.slice(0, 10)}, because nothing had happened in it for long: delegate the task again`,
    );
  }
  if (header?.kind !== "subagent" || header.parent !== run.threadId) {
    const threads = mine.map((one) => `${one.threadId} (${one.status}: ${one.description})`).join(", ") || "none";
    throw new Error(`${threadId} is no sub-agent of this conversation; there are: ${threads}`);
  }
  const empty = (await store.head(threadId))?.messages === 0;
  const prompt = input.prompt.trim();
  if (empty && prompt === "") throw new Error(`${threadId} has not been told anything yet: give the whole prompt`);
  const description = input.description.trim() || before?.description || firstWords(prompt);
  return { spec: specOf(header.agent, registry), threadId, prompt: prompt || GO_ON, description, resumed: true };
}

function specOf(name: string, registry: Registry): SubagentSpec {
  const spec = registry.find(name);
  if (spec === undefined) {
    throw new Error(
      `there is no sub-agent ${JSON.stringify(name)}; subagent_type is one of: ${registry.names.join(", ")}`,
    );
  }
  return spec;
}

function firstWords(prompt: string): string {
  return prompt.replace(/\s+/g, " ").trim().split(" ").slice(0, 8).join(" ");
}
