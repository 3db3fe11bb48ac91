/**
 * Gives an agent the `task` tool and looks after its children: marks those a crash left behind, prunes old ones, and does
 * not let a run end while one of its children still does.
 */

import type { ThreadName } from "@palimpsest/core/log";
import type { ToolSet } from "ai";
import { AgentError } from "../agent/errors.ts";
import type { Middleware } from "../agent/middleware.ts";
import type { Run } from "../agent/run.ts";
import { summarization } from "../compaction/middleware.ts";
import type { KeepAnswer } from "./answer-files.ts";
import { type DelegateOptions, delegate } from "./delegate.ts";
import type { SubagentEvent } from "./events.ts";
import { type Gate, processGate } from "./gate.ts";
import { interruptedRecords, settleInterrupted } from "./interrupted.ts";
import { type HeldThread, pruneSubagents } from "./prune.ts";
import { createRegistry } from "./registry.ts";
import type { ChildSetup } from "./run-child.ts";
import { SUBAGENT_LIMITS, type SubagentLimits, type SubagentModel, type SubagentSpec } from "./spec.ts";
import { taskTool } from "./task-tool.ts";

declare module "../agent/features.ts" {
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
      const records = interruptedRecords(run.conversation.head());
      if (records.length > 0) await run.commit(records);
      await tidyDaily(run);
    },
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
  const held: HeldThread = { threadId, write: (inputsOf) => run.commit(() => inputsOf(run.conversation.head())) };
  await settleInterrupted(deps).catch(() => []);
  await pruneSubagents(deps, { days, held, ...(forget && { forget }) }).catch(() => null);
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
  const { contextWindow, baseUrl, temperature, maxOutputTokens, providerOptions, counter } = options;
  return {
    model,
    ...(contextWindow !== undefined && { contextWindow }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(providerOptions !== undefined && { providerOptions }),
    ...(counter !== undefined && { counter }),
  };
}
