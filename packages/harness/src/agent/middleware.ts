/**
 * What a middleware is, and how a list of them becomes one. `before` hooks run in the list's order, `after` hooks in
 * reverse, and the first in the list wraps all others. A middleware adds to a run; the loop itself stays as it is.
 */
import type { ToolSet } from "ai";
import type { Summarization } from "../compaction/summarization.ts";
import type { FindCorrected } from "../recall/answers.ts";
import type { SearchHit } from "../recall/search.ts";
import type { NewJob } from "../stores/outbox.ts";
import type { AgentEvent, RunEnd } from "./events.ts";
import type { ModelRequest, PromptSection } from "./fixed-part.ts";
import type { Summarizer } from "./model.ts";
import type { Run } from "./run.ts";
import type { Answered, StepOutcome } from "./step.ts";
import type { CallOutcome, ToolCall } from "./tools.ts";

export interface Middleware {
  readonly name: string;
  /** Tools it brings; as a function, made anew for each run. */
  readonly tools?: ToolSet | ((run: Run) => ToolSet | Promise<ToolSet>);
  /** Names of the tools that a function makes, so that a clash shows when the agent is made and not in its first run. */
  readonly brings?: readonly string[];
  /** Its sections of the system prompt, asked for when a run starts and after each compaction. */
  readonly prompt?: (run: Run) => readonly PromptSection[] | Promise<readonly PromptSection[]>;
  /**
   * How every compaction of this agent is done; the last one in the list holds. It is data, not a hook, since it also holds
   * where no hook runs: for a manual compaction, and for a draft that outlives its run.
   */
  readonly compaction?: CompactionSetup;
  /** Which hits of a search state something that was corrected since; it is data, like `compaction`: recall's tool asks it. */
  readonly corrected?: (hits: readonly SearchHit[], run: Run) => ReturnType<FindCorrected>;
  /** Once per run, after the user's message is in the log. */
  readonly beforeAgent?: (run: Run) => void | Promise<void>;
  /** Before every step; what it commits is in the prompt. */
  readonly beforeModel?: (run: Run) => void | Promise<void>;
  /** Around every attempt of a model call. */
  readonly wrapModel?: (request: ModelRequest, next: AskModel, run: Run) => Promise<StepOutcome>;
  /** Around every tool call that can be carried out; what it throws becomes the call's error result. */
  readonly wrapTool?: (call: ToolCall, next: CarryOut, run: Run) => Promise<CallOutcome>;
  /** After every answered step, when the answer and its results are in the log. */
  readonly afterModel?: (run: Run, answer: Answered) => void | Promise<void>;
  /** Work that the turn's last answer asks for, queued in the transaction that writes it. Must be quick: it waits. */
  readonly jobs?: (run: Run, throughSeq: number) => readonly NewJob[];
  /** Once per run, however it ended, while the thread is still held. */
  readonly afterAgent?: (run: Run, end: RunEnd) => void | Promise<void>;
  /** Hears every event of every run, from the first to the last, also of one that never got its thread. Must be quick. */
  readonly onEvent?: (event: AgentEvent, of: RunFacts) => void;
  /** When the agent is closed: ends what this one has running beside the runs. */
  readonly close?: () => void | Promise<void>;
}

/** What is known of a run before it has its thread. */
export interface RunFacts {
  readonly threadId: string;
  readonly runId: string;
  readonly userId: string;
  readonly provider: string;
  readonly modelId: string;
}

export interface CompactionSetup {
  readonly settings: Summarization;
  readonly summarizer: Summarizer;
}

export type AskModel = (request: ModelRequest) => Promise<StepOutcome>;
export type CarryOut = (call: ToolCall) => Promise<CallOutcome>;

/** All middleware of an agent as one. */
export interface Chain {
  beforeAgent(run: Run): Promise<void>;
  beforeModel(run: Run): Promise<void>;
  model(request: ModelRequest, call: AskModel, run: Run): Promise<StepOutcome>;
  tool(call: ToolCall, carryOut: CarryOut, run: Run): Promise<CallOutcome>;
  afterModel(run: Run, answer: Answered): Promise<void>;
  jobs(run: Run, throughSeq: number): readonly NewJob[];
  afterAgent(run: Run, end: RunEnd): Promise<void>;
  hear(event: AgentEvent, of: RunFacts): void;
  close(): Promise<void>;
}

export function compose(list: readonly Middleware[]): Chain {
  const inner = list.toReversed();
  return {
    async beforeAgent(run) {
      for (const one of list) await one.beforeAgent?.(run);
    },
    async beforeModel(run) {
      for (const one of list) await one.beforeModel?.(run);
    },
    model(request, call, run) {
      const whole = inner.reduce<AskModel>((next, { wrapModel }) => {
        return wrapModel === undefined ? next : (given) => wrapModel(given, next, run);
      }, call);
      return whole(request);
    },
    tool(call, carryOut, run) {
      const whole = inner.reduce<CarryOut>((next, { wrapTool }) => {
        return wrapTool === undefined ? next : (given) => wrapTool(given, next, run);
      }, carryOut);
      return whole(call);
    },
    async afterModel(run, answer) {
      for (const one of inner) await one.afterModel?.(run, answer);
    },
    jobs: (run, throughSeq) => list.flatMap((one) => one.jobs?.(run, throughSeq) ?? []),
    async afterAgent(run, end) {
      for (const one of inner) await one.afterAgent?.(run, end);
    },
    hear(event, of) {
      for (const one of list) one.onEvent?.(event, of);
    },
    async close() {
      await Promise.allSettled(list.map(async (one) => one.close?.()));
    },
  };
}
