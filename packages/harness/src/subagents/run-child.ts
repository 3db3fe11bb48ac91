/**
 * Runs one child to its end on its own thread: own log, compaction, window, budget and state. Only the prompt goes in,
 * only the answer comes out. However it ends, it ends as a value; no timer or listener outlives it.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { ToolSet } from "ai";
import { type AgentOptions, createAgent } from "../agent/agent.ts";
import { isStepEvent, type RunResult, type StepEvent, type StepUsage } from "../agent/events.ts";
import type { Middleware } from "../agent/middleware.ts";
import type { Answered } from "../agent/step.ts";
import type { RunContext } from "../agent/tools.ts";
import { LEASE_TTL_MS } from "../stores/leases.ts";
import type { ThreadDeps } from "../thread/writer.ts";
import { type Cap, type ChildMeter, childLimits, newMeter, stepLimit } from "./child-limits.ts";
import { allowedTools, withAllowedTools } from "./child-tools.ts";
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
    "retry" | "toolTimeoutMs" | "toolApproval" | "modelLimits" | "history" | "sleep" | "random"
  >;
}

export interface ChildOrder extends Cap {
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

type Judged = Pick<ChildEnd, "status" | "reason" | "text">;

function endOf({ end, text, output }: RunResult, { meter, stopped, order }: Circumstances): Judged {
  const soFar = text.trim() === "" ? meter.lastText : text;
  const because = (status: SubagentStatus, reason: string): Judged => ({
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
