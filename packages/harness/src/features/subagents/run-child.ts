/**
 * Runs one child to its end on its own thread: own log, compaction, window, budget and state. Only the prompt goes in,
 * only the answer comes out. However it ends, it ends as a value; no timer or listener outlives it.
 */
import { setTimeout as wait } from "node:timers/promises";
import { factsOfTool } from "@palimpsest/core/internal/message";
import type { ToolSet } from "ai";
import { type AgentOptions, createAgent } from "../../agent/agent.ts";
import { isStepEvent, type RunResult, type StepEvent, type StepUsage } from "../../agent/events.ts";
import type { ModelRequest } from "../../agent/fixed-part.ts";
import type { Middleware } from "../../agent/run.ts";
import type { Answered } from "../../agent/step.ts";
import type { RunContext } from "../../agent/tools.ts";
import { addUsage, NO_USAGE } from "../../models/facts.ts";
import { LEASE_TTL_MS } from "../../stores/leases.ts";
import type { ThreadDeps } from "../../thread/writer.ts";
import { NO_RESPONSE, type SubagentStatus } from "./result.ts";
import { instructionsOf, type SubagentModel, type SubagentSpec } from "./spec.ts";

/** How children are made, whatever their task. */
export interface ChildSetup {
  /** What children may use; each spec narrows it. */
  readonly tools: ToolSet;
  /** Beside the limits: workspace, compaction and so on. No memory. */
  readonly middleware: (spec: SubagentSpec) => readonly Middleware[];
  readonly options: Pick<
    AgentOptions,
    "retry" | "toolTimeoutMs" | "toolApproval" | "modelLimits" | "history" | "limits" | "sleep" | "random"
  >;
}

interface ChildOrder extends Cap {
  readonly spec: SubagentSpec;
  readonly model: SubagentModel;
  readonly threadId: string;
  readonly prompt: string;
  readonly timeoutSeconds: number;
  /** The parent's, so that its tools have what they need in a child as well. */
  readonly context: RunContext;
  /** The parent's: it ends the child. */
  readonly signal: AbortSignal;
  readonly onStep: (answer: Answered, meter: ChildMeter) => void;
  readonly onEvent: (event: StepEvent) => void;
}

export interface ChildEnd {
  readonly status: SubagentStatus;
  readonly reason: string | null;
  readonly text: string;
  readonly turns: number;
  readonly usage: StepUsage;
  readonly artifacts: readonly string[];
}

export async function runChild(
  order: ChildOrder,
  setup: ChildSetup,
  { store, ...deps }: ThreadDeps,
): Promise<ChildEnd> {
  const { spec, model, threadId, prompt, signal } = order;
  const meter = newMeter();
  const limits = childLimits(order, meter, (answer) => order.onStep(answer, meter));
  const own = [...setup.middleware(spec), ...(spec.middleware ?? [])];
  const agent = createAgent({
    ...setup.options,
    ...model,
    store,
    deps,
    instructions: instructionsOf(spec),
    tools: allowedTools(setup.tools, spec),
    middleware: [limits, ...own.map((one) => withAllowedTools(one, spec))],
    maxSteps: stepLimit(order),
    onEvent(event) {
      if (event.type === "summary-usage") meter.spent += event.input + event.output;
      if (isStepEvent(event)) order.onEvent(event);
    },
  });
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), Math.min(order.timeoutSeconds * 1000, LONGEST_TIMER));
  try {
    const both = AbortSignal.any([signal, timeout.signal]);
    const result = await runWhenFree(
      () => agent.stream({ ...order.context, threadId, prompt, output: spec.output, signal: both }).result,
      both,
    );
    const { artifacts } = (await store.head(threadId).catch(() => undefined))?.state ?? {};
    const stopped = signal.aborted ? "cancelled" : timeout.signal.aborted ? "timed-out" : null;
    return {
      ...endOf(result, { meter, stopped, order }),
      turns: meter.turns,
      usage: meter.usage,
      artifacts: Array.isArray(artifacts) ? artifacts.map(String) : [],
    };
  } finally {
    clearTimeout(timer);
  }
}

/** A child that is continued soon after a crash is still held by its dead run, for half a minute at most. */
async function runWhenFree(start: () => Promise<RunResult>, signal: AbortSignal): Promise<RunResult> {
  for (let attempt = 1; ; attempt++) {
    const result = await start();
    if (result.end.kind !== "busy" || attempt === ATTEMPTS || signal.aborted) return result;
    await wait(LEASE_TTL_MS / (ATTEMPTS - 2), undefined, { signal }).catch(() => {});
  }
}

const ATTEMPTS = 8;

/** What a timer can hold; longer ones would fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

interface Circumstances {
  readonly meter: ChildMeter;
  readonly stopped: "cancelled" | "timed-out" | null;
  readonly order: ChildOrder;
}

type JudgedAnswer = Pick<ChildEnd, "status" | "reason" | "text">;

function endOf({ end, text, output }: RunResult, { meter, stopped, order }: Circumstances): JudgedAnswer {
  const soFar = text.trim() === "" ? meter.lastText : text;
  const because = (status: SubagentStatus, reason: string): JudgedAnswer => ({
    status,
    reason,
    text: soFar === "" ? NO_RESPONSE : soFar,
  });
  // An answer that came in time stands, also when the stop came right after it.
  if (end.kind === "answered" && meter.capped === null) {
    if (text.trim() === "") return { status: "failed", reason: "it answered without any text", text: NO_RESPONSE };
    return { status: "completed", reason: null, text: output === null ? text : JSON.stringify(output) };
  }
  if (stopped === "cancelled") return because("cancelled", "the run that asked for it was stopped");
  if (stopped === "timed-out") return because("timed-out", `it did not end within ${order.timeoutSeconds} seconds`);
  if (meter.capped === "token-capped") {
    return because(
      "token-capped",
      `its budget of ${order.tokenBudget} tokens has no room for another call (${Math.ceil(meter.spent)} used)`,
    );
  }
  if (meter.capped === "turn-capped" || end.kind === "step-limit") {
    return because("turn-capped", `it used all ${order.maxTurns} turns`);
  }
  switch (end.kind) {
    case "busy":
      return because("failed", "another run holds its thread: try again when that has ended");
    case "failed":
      return because(end.code === "lease-lost" ? "interrupted" : "failed", end.message);
    case "asked":
      return because("failed", `it asked a question instead of answering: ${end.question}`);
    case "client-calls":
      return because(
        "failed",
        `it called ${end.calls.map(({ name }) => name).join(", ")}, which only a client can run`,
      );
    case "answered":
    case "aborted":
      return because("interrupted", "it was stopped before it had answered");
    default:
      return because("failed", `it ended as ${(end as RunResult["end"]).kind}, without an answer`);
  }
}

/*
 * Keeps a child inside its turns and its token budget. `max_turns` counts model calls; at the cap, or while the budget
 * still holds for one call, the child is asked once more, without tools, for its answer so far. Works from inside the
 * child's run, so that every way out leaves a whole log.
 */

interface Cap {
  readonly maxTurns: number;
  readonly tokenBudget: number;
}

/** Where a child stands. */
export interface ChildMeter {
  turns: number;
  usage: StepUsage;
  /** Tokens counted against the budget; the summarizer's are among them. */
  spent: number;
  /** The newest words it has said, for when it has to be stopped. */
  lastText: string;
  capped: "turn-capped" | "token-capped" | null;
}

function newMeter(): ChildMeter {
  return {
    turns: 0,
    usage: NO_USAGE,
    spent: 0,
    lastText: "",
    capped: null,
  };
}

/** The agent's own step limit must leave room for the last question. */
function stepLimit({ maxTurns }: Cap): number {
  return maxTurns + 1;
}

/** Internal: only children have it. */
function childLimits(cap: Cap, meter: ChildMeter, onStep: (answer: Answered) => void): Middleware {
  let closing = false;
  const size = requestSize();
  return {
    name: "child-limits",
    writesLast: () => false,
    async beforeModel(run) {
      if (closing) await run.say({ role: "user", content: LAST_QUESTION }, "injected");
    },
    async wrapModel(request, next) {
      const asked = closing ? { ...request, tools: {} } : request;
      if (meter.spent + size.estimate(asked) <= cap.tokenBudget) return next(asked);
      meter.capped ??= "token-capped";
      return { kind: "aborted", text: "" };
    },
    afterModel(run, answer) {
      const took = size.settle(answer);
      note(meter, answer, took);
      onStep(answer);
      if (answer.calls.length === 0) return;
      if (closing) return run.finish({ kind: "step-limit", limit: run.step });
      // Where the budget holds for one more call but not for two, that one is for the answer.
      const nearlySpent = meter.spent + 2.2 * took > cap.tokenBudget;
      closing = nearlySpent || run.step >= cap.maxTurns;
      if (closing) meter.capped = run.step >= cap.maxTurns ? "turn-capped" : "token-capped";
    },
  };
}

const LAST_QUESTION =
  "This is your last turn, and there are no tools any more. Answer the task now with what you have found so far, and say what is missing.";

/** A request's tokens by its characters, corrected by what the provider last reported for one. */
function requestSize() {
  let characters = 0;
  let perToken = 4;
  return {
    estimate({ instructions, messages, tools }: ModelRequest): number {
      const schemas = Object.values(tools).map(({ description }) => description);
      characters = JSON.stringify([instructions, messages, schemas]).length;
      return characters / perToken;
    },
    /** What the last one took. A provider that reports nothing is estimated: a budget must hold for it too. */
    settle({ usage }: Answered): number {
      if (usage === null || usage.input <= 0) return characters / perToken;
      perToken = characters / usage.input;
      return usage.input;
    },
  };
}

function note(meter: ChildMeter, { text, usage }: Answered, took: number): void {
  meter.turns++;
  if (text.trim() !== "") meter.lastText = text;
  meter.spent += took + (usage?.output ?? text.length / 4);
  meter.usage = addUsage(meter.usage, usage);
}

/* Which tools a child has: those its spec allows out of what children may have, and never one that says it is not for them. */

function allowedTools(tools: ToolSet, { tools: only, disallowedTools = [] }: SubagentSpec): ToolSet {
  const allowed = Object.entries(tools).filter(
    ([name, tool]) =>
      factsOfTool(tool)?.children !== "none" &&
      !disallowedTools.includes(name) &&
      (only == null || only.includes(name)),
  );
  return Object.fromEntries(allowed);
}

/** Internal: a child's middleware with the tools it brings held to the spec. */
function withAllowedTools(middleware: Middleware, spec: SubagentSpec): Middleware {
  const { tools } = middleware;
  if (tools === undefined) return middleware;
  return {
    ...middleware,
    // Which of them are left is known in a run only.
    brings: [],
    tools: async (run) => allowedTools(typeof tools === "function" ? await tools(run) : tools, spec),
  };
}
