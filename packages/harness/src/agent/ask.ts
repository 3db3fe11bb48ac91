/**
 * One step's question to the model, with as many attempts as it takes: a refused prompt is made to fit and sent once
 * more, a rate limit or a lost connection is waited out. Only while nothing was shown: what a person has read stands.
 */
import type { CallLimits } from "./call-limits.ts";
import { messageOf, modelError } from "./errors.ts";
import type { Chain } from "./middleware.ts";
import { type AgentModel, settingsAt, type WindowBook } from "./model.ts";
import type { OutputReader } from "./output/output.ts";
import { type Overflow, overflowOf } from "./overflow.ts";
import type { ModelRequest, RequestBuilder } from "./request.ts";
import { type RetryPolicy, retryDelay } from "./retry.ts";
import type { Run } from "./run.ts";
import { callModel, type StepOutcome } from "./step.ts";

export interface Asking {
  readonly requests: RequestBuilder;
  readonly chain: Chain;
  readonly model: AgentModel;
  readonly book: WindowBook;
  readonly retry: RetryPolicy;
  readonly callLimits: CallLimits;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly output?: OutputReader | null;
}

export async function ask(run: Run, asking: Asking): Promise<StepOutcome> {
  const { requests, chain, model, callLimits: limits } = asking;
  const settings = settingsAt(model.settings, run.step);
  const context = { step: run.step, signal: run.signal, emit: run.emit, limits, format: asking.output?.format };
  let recovered = false;
  for (let attempt = 1; ; ) {
    const call = (given: ModelRequest): Promise<StepOutcome> => {
      const { request, prefix } = requests.bind(given);
      return callModel(request, { ...context, settings, prefix });
    };
    const outcome = await chain.model(requests.request(), call, run);
    if (outcome.kind !== "failed" || outcome.shown || run.signal.aborted) return outcome;
    const overflow = overflowOf(outcome.error);
    if (overflow !== null) {
      if (recovered || !(await recover(run, asking, { overflow, reason: messageOf(outcome.error) }))) return outcome;
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

/** Shrinks the prompt without a model, to what the provider said it takes; false when nothing could be shed. */
async function recover(
  run: Run,
  { requests, book }: Asking,
  { overflow, reason }: { readonly overflow: Overflow; readonly reason: string },
): Promise<boolean> {
  const counted = requests.prompt().count.tokens;
  if (overflow.kind === "tokens") book.learn(overflow.limit ?? counted, overflow.limit === null ? "guessed" : "stated");
  const { size, reserve } = book.window();
  const window = Math.min(fittingSize(overflow, { counted, size }), Math.floor(counted * SHRINK) + reserve);
  run.emit({ type: "overflow-recover", reason, stated: overflow.limit, window });
  const request = { cause: "overflow", model: "none", signal: run.signal } as const;
  const outcome = await run.compact({ ...request, window: { size: window, reserve: Math.min(reserve, window / 2) } });
  return outcome.kind === "compacted";
}

/** What was refused is sent again this much smaller at least. */
const SHRINK = 0.9;

/** In our own count: where the provider counted the same prompt differently, its limit is scaled to ours. */
function fittingSize({ kind, requested }: Overflow, { counted, size }: { counted: number; size: number }): number {
  if (kind === "bytes") return Math.floor(Math.min(size, counted) / 2);
  return Math.floor(requested !== null && requested > counted ? (size * counted) / requested : size);
}
