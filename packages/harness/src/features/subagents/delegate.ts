/**
 * One delegation from the parent's side: wait for a place, note it in the parent's log, run the child, bound what it
 * says, note how it ended. What the parent's state says about a child is written here and nowhere else.
 */
import type { CountText } from "@palimpsest/core/internal/tokens";
import { messageOf } from "../../agent/errors.ts";
import type { StepEvent } from "../../agent/events.ts";
import type { Run } from "../../agent/run.ts";
import type { Answered } from "../../agent/step.ts";
import { NO_USAGE } from "../../models/facts.ts";
import { modelCounter } from "../../models/tokenizers.ts";
import { createThread, type RecordInput } from "../../thread/writer.ts";
import { type Delegation, delegationsOf, withDelegation } from "./delegations.ts";
import { bounded, NO_RESPONSE, type SubagentEvent, type SubagentResult } from "./result.ts";
import { type ChildEnd, type ChildMeter, type ChildSetup, runChild } from "./run-child.ts";
import type { KeepAnswer, SubagentLimits, SubagentModel, SubagentSpec } from "./spec.ts";

export interface Task {
  readonly callId: string;
  readonly description: string;
  readonly prompt: string;
  readonly spec: SubagentSpec;
  readonly maxTurns: number;
  /** The child's thread. */
  readonly threadId: string;
  readonly resumed: boolean;
  readonly signal: AbortSignal;
}

export interface DelegateOptions {
  readonly limits: SubagentLimits;
  readonly gate: Gate;
  readonly setup: ChildSetup;
  /** For specs without a model of their own. */
  readonly model: SubagentModel;
  readonly keepAnswer: KeepAnswer;
}

export async function delegate(run: Run, task: Task, options: DelegateOptions): Promise<SubagentResult> {
  const { limits, gate } = options;
  let leave: () => void;
  try {
    leave = await gate.enter(JSON.stringify([run.userId, run.threadId]), {
      limit: limits.maxConcurrent,
      signal: task.signal,
    });
  } catch {
    return neverStarted(task);
  }
  try {
    return await carryOut(run, task, options);
  } finally {
    leave();
  }
}

async function carryOut(run: Run, task: Task, options: DelegateOptions): Promise<SubagentResult> {
  const { limits, setup } = options;
  const { spec, threadId, callId, maxTurns } = task;
  const model = (typeof spec.model === "function" ? await spec.model() : spec.model) ?? options.model;
  const child = { threadId, callId, agent: spec.name };
  const started = run.deps.clock().getTime();
  const elapsed = (): number => run.deps.clock().getTime() - started;
  const { modelId } = model.model;
  await createThread(run.deps, { id: threadId, agentName: spec.name, ...CHILD(run) });
  await note(run, task, {
    status: "running",
    answer: null,
    event: {
      type: "subagent-start",
      ...child,
      description: task.description,
      model: modelId,
      maxTurns,
      resumed: task.resumed,
    },
  });
  const onStep = ({ calls, usage }: Answered, { turns: turn, usage: total }: ChildMeter): void => {
    const tools = calls.map(({ name }) => name);
    run.emit({
      type: "subagent-step",
      ...child,
      turn,
      maxTurns,
      tools,
      usage,
      total,
      ms: elapsed(),
    });
  };
  const order = {
    spec,
    model,
    threadId,
    maxTurns,
    onStep,
    onEvent: (event: StepEvent) => run.emit({ type: "subagent-event", ...child, event }),
    prompt: task.prompt,
    context: { runtimeContext: run.runtimeContext, toolsContext: run.toolsContext },
    signal: task.signal,
    timeoutSeconds: spec.timeoutSeconds ?? limits.timeoutSeconds,
    tokenBudget: spec.tokenBudget ?? limits.tokenBudget,
  };
  const end = await runChild(order, setup, run.deps).catch(crashed);
  const { result, answer } = await answerOf(run, task, { end, options });
  await note(run, task, {
    status: end.status,
    answer,
    artifacts: end.artifacts,
    event: {
      type: "subagent-end",
      ...child,
      status: end.status,
      reason: end.reason,
      model: modelId,
      turns: end.turns,
      usage: end.usage,
      output: result.output,
      artifacts: end.artifacts,
      ms: elapsed(),
    },
    // The parent's thread may be lost or its store failing: what the child found is still worth telling.
  }).catch(() => {});
  return result;
}

const CHILD = ({ threadId: parent }: Run) => ({ parent, kind: "subagent", memory: "off" }) as const;

interface ChildNote {
  readonly status: Delegation["status"];
  readonly answer: string | null;
  readonly artifacts?: readonly string[];
  readonly event: SubagentEvent;
}

/** The state and its receipt in one commit, and the event to its listeners. */
async function note(run: Run, task: Task, { status, answer, artifacts = [], event }: ChildNote): Promise<void> {
  const { callId: id, description, threadId, spec } = task;
  const committed = run.commit(() => {
    const list = delegationsOf(run.thread.head().state);
    const delegations = withDelegation(list, { id, agent: spec.name, description, status, threadId, answer });
    const patch = { delegations, ...(artifacts.length > 0 && { artifacts }) };
    return [{ kind: "state", patch }, receipt(event)];
  });
  // Emit the end even if it can't be written, so that no listener waits for a child that has ended.
  if (event.type === "subagent-end") await committed.finally(() => run.emit(event));
  else await committed.then(() => run.emit(event));
}

/** The output is in the child's log and in the answer; the receipt says what a person asks for later. */
function receipt(event: SubagentEvent): RecordInput {
  if (event.type !== "subagent-end") return { kind: "event", event: { ...event } };
  const { output: _, ...kept } = event;
  return { kind: "event", event: kept };
}

interface ChildEnding {
  readonly end: ChildEnd;
  readonly options: DelegateOptions;
}

async function answerOf(run: Run, task: Task, { end, options }: ChildEnding) {
  const { threadId } = task;
  const { keepAnswer, limits, model } = options;
  const kept =
    end.text === NO_RESPONSE ? null : await keepAnswer(run.thread.header, threadId, end.text).catch(() => null);
  const whole: SubagentResult = {
    status: end.status,
    output: end.text,
    artifacts: end.artifacts,
    usage: end.usage,
    threadId,
    ...(end.reason !== null && { reason: end.reason }),
  };
  const count = await counterOf(model);
  const pointer = kept ?? `thread ${threadId}`;
  return { result: bounded(whole, { tokens: limits.resultTokens, count, pointer }), answer: kept };
}

/** By the parent's tokenizer: it is the parent's window that must hold. */
async function counterOf({ model: { provider, modelId }, counter }: SubagentModel): Promise<CountText> {
  return (await modelCounter(counter, { provider, model: modelId })).count;
}

function crashed(error: unknown): ChildEnd {
  return { status: "failed", reason: messageOf(error), text: NO_RESPONSE, turns: 0, usage: NO_USAGE, artifacts: [] };
}

function neverStarted({ threadId }: Task): SubagentResult {
  const reason = "the run was stopped while this was waiting for its turn; it was never started";
  return { status: "cancelled", output: NO_RESPONSE, artifacts: [], usage: NO_USAGE, threadId, reason };
}

/**
 * Who may run now: a semaphore that is fair between parents. Each parent's children wait in the order they were asked
 * for, and a free place goes to the parents in turn, so that one with fifty children doesn't keep another's one waiting.
 */

export interface Gate {
  /** Resolves to the way out, once there is room; rejects when the signal aborts first. */
  enter(parent: string, options: { readonly limit: number; readonly signal: AbortSignal }): Promise<Leave>;
  readonly running: number;
  readonly waiting: number;
}

type Leave = () => void;

export function createGate(): Gate {
  const line = new WaitingLine();
  return {
    enter(parent, { limit, signal }) {
      if (signal.aborted) return Promise.reject(signal.reason);
      const { promise, resolve, reject } = Promise.withResolvers<Leave>();
      const stop = (): void => {
        line.drop(parent, waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        limit,
        admit(leave) {
          signal.removeEventListener("abort", stop);
          resolve(leave);
        },
      };
      signal.addEventListener("abort", stop, { once: true });
      line.join(parent, waiter);
      return promise;
    },
    get running() {
      return line.running;
    },
    get waiting() {
      return line.waiting;
    },
  };
}

interface Waiter {
  readonly limit: number;
  admit(leave: Leave): void;
}

class WaitingLine {
  running = 0;
  /** The map's order is the parents' turn. */
  readonly #queues = new Map<string, Waiter[]>();

  get waiting(): number {
    return [...this.#queues.values()].reduce((sum, queue) => sum + queue.length, 0);
  }

  join(parent: string, waiter: Waiter): void {
    const queue = this.#queues.get(parent);
    if (queue === undefined) this.#queues.set(parent, [waiter]);
    else queue.push(waiter);
    this.#admit();
  }

  drop(parent: string, waiter: Waiter): void {
    const left = (this.#queues.get(parent) ?? []).filter((other) => other !== waiter);
    if (left.length === 0) this.#queues.delete(parent);
    else this.#queues.set(parent, left);
    this.#admit();
  }

  #admit(): void {
    for (const [parent, [first, ...rest]] of this.#queues) {
      if (first === undefined || this.running >= first.limit) return;
      this.#queues.delete(parent);
      // To the end of the line; this loop comes to it again.
      if (rest.length > 0) this.#queues.set(parent, rest);
      this.running++;
      first.admit(this.#leaveOnce());
    }
  }

  #leaveOnce(): Leave {
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      this.running--;
      this.#admit();
    };
  }
}

/** The one of this process: what it bounds is the machine's and the provider's load, whatever agent asks. */
export const processGate: Gate = createGate();
