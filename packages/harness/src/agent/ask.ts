/**
 * One step's question to the model, with as many attempts as it takes: a refused prompt is made to fit and sent once more,
 * a rate limit or a lost connection is waited out. Only while nothing was shown: what a person has read stands.
 */
import { retryAfterMs, worthAnotherTry } from "../models/call-error.ts";
import type { LearnedWindow } from "../thread/window.ts";
import { overflowOf } from "../thread/window.ts";
import { AgentError, modelError } from "./errors.ts";
import type { ModelRequest } from "./fixed-part.ts";
import type { OutputReader } from "./input.ts";
import type { AgentModel } from "./model.ts";
import { settingsAt } from "./model.ts";
import type { Chain, Run } from "./run.ts";

import type { RunSession } from "./session.ts";
import type { CallLimits, StepOutcome } from "./step.ts";
import { callModel } from "./step.ts";

export interface AskingModel {
  readonly session: RunSession;
  readonly chain: Chain;
  readonly model: AgentModel;
  readonly modelWindow: LearnedWindow;
  readonly retry: RetryPolicy;
  readonly callLimits: CallLimits;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly output?: OutputReader | null;
}

/** The first model of the list that answers, or has shown something; the run stays with it. */
export async function askOneOf<A extends AskingModel & { readonly nextModel: (() => Promise<A>) | null }>(
  run: Run,
  given: A,
): Promise<{ readonly outcome: StepOutcome; readonly options: A }> {
  let options = given;
  for (;;) {
    const outcome = await ask(run, options);
    const failed = outcome.kind === "failed" && !outcome.shown && !run.signal.aborted;
    if (!failed || options.nextModel === null) return { outcome, options };
    const from = options.model.settings.languageModel.modelId;
    options = await options.nextModel();
    const to = options.model.settings.languageModel.modelId;
    const { message: reason } = modelError(outcome.error, run.deps.clock().getTime());
    run.emit({ type: "model-fallback", from, to, reason });
    // Its window may be smaller.
    await options.chain.beforeModel(run);
  }
}

async function ask(run: Run, asking: AskingModel): Promise<StepOutcome> {
  const { session, chain, model, callLimits: limits } = asking;
  const settings = settingsAt(model.settings, run.step);
  const { step, signal, emit, deps } = run;
  const context = { step, signal, emit, limits, clock: deps.clock, format: asking.output?.format };
  let recovered = false;
  for (let attempt = 1; ; ) {
    const call = (given: ModelRequest): Promise<StepOutcome> => {
      const { request, prefix } = session.bind(given);
      return callModel(request, { ...context, settings, prefix });
    };
    const outcome = await chain.model(session.request(), call, run);
    if (outcome.kind !== "failed" || outcome.shown || run.signal.aborted) return outcome;
    if (overflowOf(outcome.error) !== null) {
      if (recovered || !(await session.thread.recover(outcome.error, run.signal))) return outcome;
      recovered = true;
      continue;
    }
    const now = run.deps.clock().getTime();
    const delayMs = retryDelay(outcome.error, attempt, { policy: asking.retry, now, random: asking.random() });
    if (delayMs === null) return outcome;
    run.emit({ type: "model-retry", attempt, delayMs, reason: modelError(outcome.error, now).message });
    await asking.sleep(delayMs, run.signal).catch(() => {});
    if (run.signal.aborted) return { kind: "aborted", text: "" };
    attempt++;
  }
}

// Which failed model calls are worth another try, and after how long: rate limits, overload and lost connections,
// with growing pauses, or the one the provider asks for. Pure; who waits is the caller, so that every wait is an
// event.

export interface RetryPolicy {
  /** Attempts after the first. */
  readonly maxRetries: number;
  readonly firstDelayMs: number;
  /** A provider that asks for a longer pause than this gets no second try: the run fails and says so. */
  readonly longestDelayMs: number;
}

export const RETRY_DEFAULTS: RetryPolicy = { maxRetries: 4, firstDelayMs: 1_000, longestDelayMs: 60_000 };

/** Null: not worth a try, or no tries left. `attempt` counts from 1; `random` in [0, 1) spreads callers apart. */
export function retryDelay(
  thrown: unknown,
  attempt: number,
  { policy, now, random }: { readonly policy: RetryPolicy; readonly now: number; readonly random: number },
): number | null {
  if (attempt > policy.maxRetries) return null;
  // It has cost minutes: once more at once, and no third time.
  if (thrown instanceof AgentError && thrown.code === "timed-out") return attempt === 1 ? 0 : null;
  if (!worthAnotherTry(thrown)) return null;
  const asked = retryAfterMs(thrown, now);
  if (asked !== null) return asked > policy.longestDelayMs ? null : asked;
  const delay = Math.min(policy.longestDelayMs, policy.firstDelayMs * 2 ** (attempt - 1));
  return Math.round(delay * (0.75 + 0.5 * random));
}
