/**
 * The agent's loop: ask the model, log the answer, run its tools, log their results, again, until it has answered. Every
 * step is in the log before the next one starts, so that a crash at any point loses nothing and leaves a thread that can
 * go on. How a run ends is a value; only what makes it fail is thrown.
 */
import { addUsage } from "../models/facts.ts";
import { overflowOf } from "../thread/window.ts";
import { type Approving, approvalEnd, keepPending, sortCalls } from "./approval.ts";
import { AgentError, factsOf, modelError } from "./errors.ts";
import type { RunEnd, StepUsage } from "./events.ts";
import type { openBudget } from "./execute.ts";
import type { OutputReader } from "./input.ts";
import { type ActiveRun, type AskingModel, askOneOf, type Run } from "./run.ts";
import type { Answered, StepOutcome } from "./step.ts";
import { announceCall, clientCalls, runCalls } from "./tools.ts";

export interface LoopOptions extends AskingModel {
  readonly maxSteps: number;
  readonly toolTimeoutMs: number | null;
  readonly toolApproval: Approving["toolApproval"];
  readonly output: OutputReader | null;
  readonly budget: ReturnType<typeof openBudget> | null;
  /** The same run with the next model of the agent's list; null: there is none. */
  readonly nextModel: (() => Promise<LoopOptions>) | null;
}

/** What a run has come to so far, for its result. */
export interface Progress {
  text: string;
  output: unknown;
  steps: number;
  error: AgentError | null;
  usage: StepUsage;
}

export async function runLoop(run: ActiveRun, given: LoopOptions, progress: Progress): Promise<RunEnd> {
  const { chain, maxSteps, output, budget } = given;
  let options = given;
  let shownAt = run.thread.head().compaction;
  for (run.step = 1; run.step <= maxSteps; run.step++) {
    if (run.signal.aborted) return { kind: "aborted" };
    run.emit({ type: "step-start", step: run.step });
    await chain.beforeModel(run);
    shownAt = await refreshAfterCompaction(run, shownAt);
    if (run.signal.aborted) return { kind: "aborted" };
    const spent = budget?.endBefore(run.thread.sizedPrompt().count.tokens) ?? null;
    if (spent !== null) return spent;

    const asked = await askOneOf(run, options);
    const { outcome } = asked;
    options = asked.options;
    if (outcome.kind !== "answered") return giveUp(run, outcome, progress);
    const seq = await logAnswer(run, options, outcome);
    note(progress, outcome);
    budget?.spend(outcome.usage);

    const tools = run.tools();
    const { ours, client, asking } = await sortCalls(outcome.calls, run, { ...options, tools });
    if (asking.length > 0) await keepPending(run, asking, seq);
    if (ours.length > 0) {
      await run.say(await runCalls(ours, run, { tools, chain, timeoutMs: options.toolTimeoutMs }), "tool");
    }
    for (const call of client) announceCall(call, run);
    await chain.afterModel(run, outcome);
    run.emit({ type: "step-end", step: run.step, finish: outcome.finish, usage: outcome.usage });
    if (run.ending !== null) return run.ending;
    if (asking.length > 0) return approvalEnd(asking, client);
    if (client.length > 0) return clientCalls(client);
    if (outcome.calls.length > 0) continue;
    const read = output === null ? { value: null } : await output.read(outcome, run);
    if (read === null) continue;
    progress.output = read.value;
    return { kind: "answered", finish: outcome.finish };
  }
  return run.signal.aborted ? { kind: "aborted" } : { kind: "step-limit", limit: maxSteps };
}

/** Returns the answer's seq. With it, in one commit: what the provider reported and, for the last, what it asks of the queue. */
async function logAnswer(run: ActiveRun, { chain, output }: LoopOptions, answer: Answered): Promise<number> {
  const { message, usage, finish, calls, prefix = null } = answer;
  if (message === null) {
    run.emit({ type: "answer-empty", step: run.step, finish });
    return run.thread.head().version;
  }
  return run.say(message, "model", {
    prefix,
    inputs: (seq) => (usage === null ? [] : [run.thread.usageRecord(usage, seq)]),
    jobs: (seq) => (calls.length === 0 ? chain.jobs(run, seq) : []),
    leaseAfter: calls.length === 0 && output === null && !chain.writesLast(run) ? "released" : "kept",
  });
}

/** What was shown of an answer that did not end stays, marked as such; calls in it were never complete and are dropped. */
async function giveUp(run: Run, outcome: Exclude<StepOutcome, Answered>, progress: Progress): Promise<RunEnd> {
  if (outcome.text.trim() !== "") {
    progress.text = outcome.text;
    await run.say({ role: "assistant", content: [{ type: "text", text: outcome.text }] }, "aborted");
  }
  if (outcome.kind === "aborted") return { kind: "aborted" };
  const error = modelError(outcome.error, run.deps.clock().getTime());
  if (overflowOf(outcome.error) === null) throw error;
  throw new AgentError("too-long", error.message, { ...factsOf(error), cause: error.cause });
}

/** The system prompt is the same from one compaction to the next, and may change with one. */
async function refreshAfterCompaction(run: ActiveRun, shownAt: number | null): Promise<number | null> {
  const { compaction } = run.thread.head();
  if (compaction === shownAt) return shownAt;
  await run.refresh();
  return compaction;
}

function note(progress: Progress, { text, usage }: Answered): void {
  progress.steps++;
  progress.text = text;
  progress.usage = addUsage(progress.usage, usage);
}
