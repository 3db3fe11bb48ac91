/**
 * From a plan to the records that carry it out: gets the summary written or completed and applies the plan with it,
 * until the result is within what its plan may come to. Appends nothing.
 */
import type { CompactPlan, Plan, Policy } from "@palimpsest/core/compaction";
import {
  type Applied,
  applyPlan,
  applyUntilFits,
  type Fitted,
  type PlanFeedback,
  usableWindow,
} from "@palimpsest/core/internal/compaction";
import { NO_RULES, readRules, recognizeRules } from "@palimpsest/core/internal/log";
import { mayBecomeRule } from "@palimpsest/core/internal/memory";
import { typedInstructions } from "@palimpsest/core/internal/recall";
import type { RuleList, Rung } from "@palimpsest/core/log";
import type { Prompt } from "@palimpsest/core/prompt";
import { archivePath } from "../history-parts.ts";
import type { Conversation } from "../thread/conversation.ts";
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
  if (isRollover(request, options)) return null;
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
  const { viewOf } = conversation;
  const thread = { live: conversation.live(), version: conversation.head().version, viewOf, rules: newRules(options) };
  const applying = { thread, format: policy.summaryFormat };
  const { cut } = plan;
  if (cut === null) {
    const applied = applyPlan(prompt, plan, null, applying);
    return { ...applied, earlier, rung: rungOf(plan, "extract"), calls: 0, digested: 0, archive: null };
  }
  on({ type: "compaction-start", hide: cut.hidden, keep: cut.kept });
  const job = await summaryJob(cut, options, prompt, request.focus ?? null);
  const useful = earlier !== null && earlier.cut.covers[1] <= cut.covers[1];
  const rollover = isRollover(request, options);
  const model = request.dryRun || rollover ? "none" : (request.model ?? "writer");
  const summary = useful
    ? await completed(earlier, job)
    : await summaryStep.write(job, { model, signal: request.signal });
  // A fresh window has no prose: notes, typed state and the ledger stand in it.
  const fresh = { rung: "rollover", state: { ...summary.state, prose: null } } as const;
  const written = rollover ? { ...summary, ...fresh } : summary;
  const archive = options.archive === null ? null : archivePath(cut.covers);
  const { input, maxTokens } = job;
  const applied = applyPlan(prompt, plan, { input, written, maxTokens, archive }, applying);
  on({ type: "summary-written", by: written.rung, tokens: applied.summaryTokens });
  const { calls, digested } = written;
  return { ...applied, earlier: { cut, written }, rung: rungOf(plan, written.rung), calls, digested, archive };
}

function isRollover<M>(request: CompactRequest, { policy }: CompactorOptions<M>): boolean {
  return (request.style ?? policy.style) === "rollover";
}

/** The thread's rules with those that its visible messages state; null if they are as they were. */
function newRules<M>({ conversation, clock }: CompactorOptions<M>): RuleList | null {
  const { state } = conversation.head();
  const rules = state["rules"] == null ? NO_RULES : readRules(state);
  const now = statedRules(conversation, rules, clock().toISOString());
  return now === rules ? null : now;
}

/** The list with what a person typed in the visible messages and what may bind later turns. The same list if nothing is new. */
export function statedRules<M>(
  { shape, original, live }: Pick<Conversation<M>, "shape" | "original" | "live">,
  rules: RuleList,
  at: string,
): RuleList {
  const stated = live().tail.flatMap((record) =>
    typedInstructions(original(record), shape, record.origin).map(({ text }) => ({ text, source: record.seq })),
  );
  const binding = stated.filter(({ text }) => mayBecomeRule(text));
  return binding.length === 0 ? rules : recognizeRules(rules, binding, at);
}

/** The records of a plan with the figures of its result. */
export function withFigures<M>(
  records: Applied<M>["records"],
  figures: { readonly tokensBefore: number; readonly tokensAfter: number },
): Applied<M>["records"] {
  return records.map((record) => (record.kind === "state" ? record : { ...record, ...figures }));
}

export function requestedPolicy(policy: Policy, { keep, style }: CompactRequest): Policy {
  return { ...policy, ...(keep !== undefined && { keep }), ...(style !== undefined && { style }) };
}

function rungOf(plan: CompactPlan, written: Rung): Rung {
  return plan.rung === "hide" ? written : plan.rung;
}
