/**
 * Gives an agent the `task` tool and looks after its children: marks those a crash left behind, prunes old ones, and does
 * not let a run end while one of its children still does.
 */

import type { Head, ThreadName } from "@palimpsest/core/internal/log";
import { describeTool } from "@palimpsest/core/internal/message";
import { type Tool, type ToolSet, tool } from "ai";
import { z } from "zod/v4";
import { AgentError } from "../../agent/errors.ts";
import type { Middleware, Run } from "../../agent/run.ts";
import { summarization } from "../../compaction/middleware.ts";
import { everyThread } from "../../stores/driver-rules.ts";
import { withWriter } from "../../thread/acts.ts";
import { commit, type RecordInput, type ThreadDeps } from "../../thread/writer.ts";
import { type DelegateOptions, delegate, type Gate, processGate, type Task } from "./delegate.ts";
import { delegationsOf, type HeldThread, pruneSubagents, running, withDelegation } from "./delegations.ts";
import type { SubagentEvent, SubagentResult } from "./result.ts";
import type { ChildSetup } from "./run-child.ts";
import {
  createRegistry,
  DEFAULT_SUBAGENT,
  type KeepAnswer,
  type Registry,
  SUBAGENT_LIMITS,
  type SubagentLimits,
  type SubagentModel,
  type SubagentSpec,
} from "./spec.ts";

declare module "../../agent/features.ts" {
  interface FeatureEvents {
    readonly subagents: SubagentEvent;
  }
}

export interface SubagentsOptions extends Partial<SubagentLimits>, SubagentModel {
  /** Beside the built-ins `general-purpose` and `bash`. */
  readonly agents?: readonly SubagentSpec[];
  /** What children may use. */
  readonly tools?: ToolSet;
  /** Of each child; without it: compaction alone. */
  readonly childMiddleware?: ChildSetup["middleware"];
  readonly child?: ChildSetup["options"];
  /** Where whole answers are kept; without it only the child's thread has them. */
  readonly keepAnswer?: KeepAnswer;
  /** Removes what a pruned thread has on the disk. */
  readonly forget?: (thread: ThreadName) => Promise<void>;
  /** By default the one of this process. */
  readonly gate?: Gate;
}

export function subagents(options: SubagentsOptions): Middleware {
  const limits = limitsOf(options);
  const registry = createRegistry(options.agents);
  const delegation: DelegateOptions = {
    limits,
    gate: options.gate ?? processGate,
    setup: {
      tools: options.tools ?? {},
      middleware: options.childMiddleware ?? (() => [summarization()]),
      options: options.child ?? {},
    },
    model: modelOf(options),
    keepAnswer: options.keepAnswer ?? (async () => null),
  };
  const children = new WeakMap<Run, RunChildren>();
  const childrenOf = (run: Run): RunChildren => {
    const own = children.get(run) ?? { started: 0, running: new Map() };
    children.set(run, own);
    return own;
  };
  const tidyDaily = daily((run: Run) => tidy(run, limits, options.forget));
  return {
    name: "subagents",
    brings: ["task"],
    tools: (run) => ({
      task: taskTool(run, {
        registry,
        limits,
        admit: (threadId) => admit(childrenOf(run), { threadId, most: limits.maxPerRun }),
        delegate(task) {
          const { running } = childrenOf(run);
          const child = delegate(run, task, delegation).finally(() => running.delete(task.threadId));
          running.set(task.threadId, child);
          return child;
        },
      }),
    }),
    async beforeAgent(run) {
      const records = interruptedRecords(run.thread.head());
      if (records.length > 0) await run.commit(records);
      await tidyDaily(run);
    },
    writesLast: (run) => childrenOf(run).running.size > 0,
    afterAgent: (run) => settled([...childrenOf(run).running.values()]),
  };
}

/** What one run has started, and which of it is under way. */
interface RunChildren {
  started: number;
  readonly running: Map<string, Promise<unknown>>;
}

function admit(own: RunChildren, { threadId, most }: { readonly threadId: string; readonly most: number }): void {
  if (own.running.has(threadId)) throw new AgentError("busy", `${threadId} is running already: wait for its answer`);
  if (own.started >= most) {
    throw new AgentError(
      "failed",
      `this run has delegated ${most} tasks already, the most it may: do the rest yourself`,
    );
  }
  own.started++;
}

const DAY_MS = 86_400_000;

/** At a user's first run of a program, and in one that lives on at their first run of each further day. */
function daily(work: (run: Run) => Promise<unknown>): (run: Run) => Promise<unknown> {
  const last = new Map<string, { readonly at: number; readonly done: Promise<unknown> }>();
  return (run) => {
    const now = run.deps.clock().getTime();
    const known = last.get(run.userId);
    if (known !== undefined && now - known.at < DAY_MS) return known.done;
    const done = work(run);
    last.set(run.userId, { at: now, done });
    return done;
  };
}

/** Of the run's user alone: what others have left is their next run's business. Tidying is no reason for a run to fail. */
async function tidy(run: Run, { retentionDays: days }: SubagentLimits, forget: SubagentsOptions["forget"]) {
  const { deps, threadId } = run;
  const held: HeldThread = { threadId, write: (inputsOf) => run.commit(() => inputsOf(run.thread.head())) };
  await settleInterrupted(deps).catch(() => []);
  await pruneSubagents(deps, { days, held, forget }).catch(() => null);
}

/** A stopped child ends at once; one that does not is left to its own thread's lease. */
const PATIENCE_MS = 10_000;

async function settled(running: readonly Promise<unknown>[]): Promise<void> {
  if (running.length === 0) return;
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, PATIENCE_MS);
  await Promise.race([Promise.allSettled(running), enough]);
  clearTimeout(timer);
}

function limitsOf(options: SubagentsOptions): SubagentLimits {
  const keys = Object.keys(SUBAGENT_LIMITS) as (keyof SubagentLimits)[];
  const limits = Object.fromEntries(keys.map((key) => [key, options[key] ?? SUBAGENT_LIMITS[key]]));
  for (const [key, value] of Object.entries(limits)) {
    if (!(value > 0)) throw new RangeError(`subagents: ${key} must be above 0, it is ${value}`);
  }
  return limits as unknown as SubagentLimits;
}

function modelOf({ model, ...options }: SubagentsOptions): SubagentModel {
  const { window, baseUrl, temperature, maxOutputTokens, providerOptions, counter } = options;
  return {
    model,
    ...(window !== undefined && { window }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(providerOptions !== undefined && { providerOptions }),
    ...(counter !== undefined && { counter }),
  };
}

/*
 * The `task` tool: checks what the model asks for and delegates it. What can't be done is a tool error that says
 * what can; the run goes on.
 */

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

interface TaskToolOptions {
  readonly registry: Registry;
  readonly limits: SubagentLimits;
  /** Counts the call in, or throws: the run has had its share, or that child is running already. */
  readonly admit: (threadId: string) => void;
  readonly delegate: (task: Task) => Promise<SubagentResult>;
}

function taskTool(run: Run, options: TaskToolOptions): Tool<TaskInput, SubagentResult> {
  const { registry, limits } = options;
  return tool({
    description: describe(registry, limits),
    metadata: describeTool({ act: "none", timeLimit: "own", children: "none" }),
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

type ChildCall = Pick<Task, "spec" | "threadId" | "prompt" | "description" | "resumed">;

function fresh({ deps }: Run, input: TaskInput, registry: Registry): ChildCall {
  const { prompt, description, subagent_type: name } = input;
  if (prompt.trim() === "") throw new Error("the prompt is empty: say what the sub-agent should do");
  const spec = specOf(name, registry);
  return { spec, prompt, description: description.trim() || firstWords(prompt), ...newThread(deps.ids()) };
}

const newThread = (id: string) => ({ threadId: `subagent-${id}`, resumed: false });

const GO_ON = "You were interrupted. Go on from where you stand and finish the task.";

/** Only a child of this very thread: another's conversation is none of its business. */
async function known(run: Run, input: TaskInput, registry: Registry): Promise<ChildCall> {
  const { store } = run.deps;
  const threadId = input.resume!;
  const mine = delegationsOf(run.thread.head().state);
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

/*
 * After a crash: children that a parent's state still calls running can't be, because a child runs only inside a run of
 * its parent, and the holder of the parent's thread knows there is none. They are marked interrupted; each can be continued.
 */

/** Nothing when none was left running. Call it only while holding the thread, before any child is started. */
function interruptedRecords({ state }: Head): RecordInput[] {
  const list = delegationsOf(state);
  const left = running(list);
  if (left.length === 0) return [];
  const delegations = left.reduce((all, one) => withDelegation(all, { ...one, status: "interrupted" }), list);
  const receipts = left.map(({ threadId, id: callId, agent }): RecordInput => {
    const reason = "the run that asked for it ended without an end: the process was killed or lost the thread";
    return {
      kind: "event",
      event: { type: "subagent-end", threadId, callId, agent, status: "interrupted", reason },
    };
  });
  return [{ kind: "state", patch: { delegations } }, ...receipts];
}

/** For the start of a program: every parent of a child of this user, as far as no run holds it. Returns the children marked. */
export async function settleInterrupted(deps: ThreadDeps): Promise<readonly string[]> {
  const marked: string[] = [];
  for (const parent of await parents(deps)) {
    const head = await deps.store.head(parent);
    if (head === undefined || interruptedRecords(head).length === 0) continue;
    const settled = await withWriter(deps, parent, async (writer) => {
      const now = await deps.store.head(parent);
      const inputs = now === undefined ? [] : interruptedRecords(now);
      const left = now === undefined ? [] : running(delegationsOf(now.state));
      const done = inputs.length > 0 && (await commit(writer, inputs)).kind === "committed";
      return done ? left.map(({ threadId }) => threadId) : [];
    });
    if (settled.kind === "done") marked.push(...settled.value);
  }
  return marked;
}

async function parents({ store }: ThreadDeps): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for await (const { header } of everyThread(store, { kind: "subagent" }))
    if (header.parent !== null) found.add(header.parent);
  return found;
}
