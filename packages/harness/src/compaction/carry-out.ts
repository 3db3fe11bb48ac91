/**
 * From a plan to the records that carry it out: gets the summary written or completed and applies the plan with it,
 * until the result is within what its plan may come to. Appends nothing.
 */
import type { CompactPlan, Plan } from "@palimpsest/core/compaction";
import {
  type Applied,
  applyPlan,
  applyUntilFits,
  type Fitted,
  type PlanFeedback,
  usableWindow,
} from "@palimpsest/core/internal/compaction";
import type { Rung } from "@palimpsest/core/log";
import type { Prompt } from "@palimpsest/core/prompt";
import { archivePath } from "../history-parts.ts";
import type { Background } from "./background.ts";
import type { CompactorOptions, CompactRequest } from "./compactor.ts";
import { summaryJob } from "./summary-job.ts";
import { completed, type EarlierSummary, type SummaryStep } from "./write-summary.ts";

export interface CarryOutContext<M> {
  readonly options: CompactorOptions<M>;
  /** Null: nothing is drafted ahead. */
  readonly background: Background<M> | null;
  readonly prompt: Prompt<M>;
  readonly summaryStep: SummaryStep;
  /** The plan with what is known now. */
  readonly replan: (feedback: PlanFeedback) => Plan;
}

/** A plan as it was carried out, and the summary that a further plan may begin with. */
export interface CarriedOut<M> extends Applied<M> {
  readonly rung: Rung;
  readonly earlier: EarlierSummary | null;
  readonly archive: string | null;
  readonly calls: number;
  readonly digested: number;
}

/** A summary that was paid for is completed by rules when its plan is made again. */
export async function carryOutFitting<M>(
  plan: CompactPlan,
  request: CompactRequest,
  context: CarryOutContext<M>,
): Promise<Fitted<M, CarriedOut<M>>> {
  const draft = await fromDraft(plan, request, context);
  return applyUntilFits<M, CarriedOut<M>>(plan, {
    window: request.window ?? usableWindow(context.options.window(), context.prompt.count),
    replan: context.replan,
    apply: (planned, before) => carryOutPlan(planned, request, context, before === null ? draft : before.earlier),
  });
}

/** With a draft that covers most of it no model is asked and nobody waits: the rest is added by rules. */
async function fromDraft<M>(
  plan: CompactPlan,
  request: CompactRequest,
  context: CarryOutContext<M>,
): Promise<EarlierSummary | null> {
  const { background, options, prompt } = context;
  if (background === null || plan.cut === null || request.cause === "manual" || request.dryRun) return null;
  const draft = await background.ready(plan.cut, prompt, {
    wait: request.model === "none" || request.cause === "overflow" ? "no" : "yes",
    signal: request.signal ?? new AbortController().signal,
  });
  if (draft !== null) options.on({ type: "draft-used", covers: draft.cut.covers });
  return draft;
}

async function carryOutPlan<M>(
  plan: CompactPlan,
  request: CompactRequest,
  { options, prompt, summaryStep }: CarryOutContext<M>,
  earlier: EarlierSummary | null,
): Promise<CarriedOut<M>> {
  const { conversation, policy, on } = options;
  const format = policy.summaryFormat;
  const { viewOf } = conversation;
  const thread = { live: conversation.live(), version: conversation.head().version, viewOf };
  const { cut } = plan;
  if (cut === null) {
    const applied = applyPlan(prompt, plan, null, { thread, format });
    return { ...applied, earlier, rung: rungOf(plan, "extract"), calls: 0, digested: 0, archive: null };
  }
  on({ type: "compaction-start", hide: cut.hidden, keep: cut.kept });
  const job = await summaryJob(cut, options, prompt, request.focus ?? null);
  const useful = earlier !== null && earlier.cut.covers[1] <= cut.covers[1];
  const model = request.dryRun ? "none" : (request.model ?? "writer");
  const written = useful
    ? await completed(earlier, job)
    : await summaryStep.write(job, { model, signal: request.signal });
  const archive = options.archive === null ? null : archivePath(cut.covers);
  const { input, maxTokens } = job;
  const applied = applyPlan(prompt, plan, { input, written, maxTokens, archive }, { thread, format });
  on({ type: "summary-written", by: written.rung, tokens: applied.summaryTokens });
  const { calls, digested } = written;
  return { ...applied, earlier: { cut, written }, rung: rungOf(plan, written.rung), calls, digested, archive };
}

function rungOf(plan: CompactPlan, written: Rung): Rung {
  return plan.rung === "hide" ? written : plan.rung;
}
