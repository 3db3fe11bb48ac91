/**
 * One step's question to the model, with as many attempts as it takes: a refused prompt is made to fit and sent once
 * more, a rate limit or a lost connection is waited out. Only while nothing was shown: what a person has read stands.
 */

import type { ModelWindow } from "../thread/model-window.ts";
import { overflowOf } from "../thread/overflow.ts";
import type { CallLimits } from "./call-limits.ts";
import { modelError } from "./errors.ts";
import type { ModelRequest } from "./fixed-part.ts";
import type { Chain } from "./middleware.ts";
import { type AgentModel, settingsAt } from "./model.ts";
import type { OutputReader } from "./output/output.ts";
import { type RetryPolicy, retryDelay } from "./retry.ts";
import type { Run } from "./run.ts";
import type { RunSession } from "./session.ts";
import { callModel, type StepOutcome } from "./step.ts";

export interface Asking {
  readonly session: RunSession;
  readonly chain: Chain;
  readonly model: AgentModel;
  readonly modelWindow: ModelWindow;
  readonly retry: RetryPolicy;
  readonly callLimits: CallLimits;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly output?: OutputReader | null;
}

/** The first model of the list that answers, or has shown something; the run stays with it. */
export async function askOneOf<A extends Asking & { readonly nextModel: (() => Promise<A>) | null }>(
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

async function ask(run: Run, asking: Asking): Promise<StepOutcome> {
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
