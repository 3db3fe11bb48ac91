/**
 * What a plan comes to: the records that carry it out and the prompt they would give. A plan promises what its summary's
 * upper bound allows, and what repairs add is known only when the result is there: so a result over what its plan may
 * come to is planned again, here and nowhere else. Appends nothing.
 */
import { liveAfter } from "../log/live.ts";
import { FORMAT_VERSION, type LogRecord } from "../log/record.ts";
import type { LiveRecords, ViewEntry } from "../log/view.ts";
import { sizesOf } from "../prompt/parts.ts";
import { considerPrompt, type Prompt } from "../prompt/prompt.ts";
import type { Floor } from "./collapse.ts";
import type { CompactPlan, Plan } from "./plan.ts";
import type { Policy, Window } from "./policy.ts";
import { plannedRecords, renderState, type SummaryInput, type WrittenSummary } from "./records.ts";

/** The thread a plan was made for: its live records, the seq of its last one, and how they are folded. */
export interface PlannedThread<M> {
  readonly live: LiveRecords;
  readonly version: number;
  viewOf(live: LiveRecords): readonly ViewEntry<M>[];
}

/** A summary for a plan's cut, and what it was written from. */
export interface CutSummary<M> {
  readonly input: SummaryInput<M>;
  readonly written: WrittenSummary;
  /** The most it may count. */
  readonly maxTokens: number;
  /** Where the hidden messages can be read. */
  readonly archive: string | null;
}

export interface Applied<M> {
  readonly records: ReturnType<typeof plannedRecords<M>>;
  /** What the summary came to, as it was rendered; 0 without one. */
  readonly summaryTokens: number;
  readonly prompt: Prompt<M>;
}

/** `summary` is null for a plan that hides nothing. */
export function applyPlan<M>(
  prompt: Prompt<M>,
  plan: CompactPlan,
  summary: CutSummary<M> | null,
  { thread, format }: { readonly thread: PlannedThread<M>; readonly format: Policy["summaryFormat"] },
): Applied<M> {
  const { live, version } = thread;
  const count = sizesOf(prompt).text;
  const { text, tokens } =
    summary === null
      ? { text: "", tokens: 0 }
      : renderState(summary.written.state, summary.input, { maxTokens: summary.maxTokens, count, format });
  const records = plannedRecords(plan, {
    live,
    shape: prompt.sizer.shape,
    count,
    format,
    text,
    input: summary?.input ?? null,
    written: summary?.written ?? null,
    archive: summary?.archive ?? null,
  });
  const stamp = { v: FORMAT_VERSION, at: "", runId: null } as const;
  const after = records.reduce(
    (folded, record, index) =>
      liveAfter(folded, { ...stamp, ...record, seq: version + 1 + index } as Exclude<LogRecord, { kind: "undo" }>),
    live,
  );
  return { records, summaryTokens: tokens, prompt: considerPrompt(thread.viewOf(after), prompt) };
}

/** What only a result can tell: the tokens no entry accounts for, and what the summary came to. */
export interface PlanFeedback {
  readonly overshoot: number;
  readonly summaryTokens: number;
}

export const NO_FEEDBACK: PlanFeedback = { overshoot: 0, summaryTokens: 0 };

export interface Fitting<M, A extends Applied<M>> {
  readonly window: Window;
  /** Carries the plan out; `before` is the result that did not fit. */
  apply(plan: CompactPlan, before: A | null): Promise<A>;
  /** The plan once more, with what its result came to. */
  replan(feedback: PlanFeedback): Plan;
}

const TRIES = 6;

export interface Fitted<M, A extends Applied<M>> {
  readonly plan: CompactPlan;
  readonly applied: A;
  /** Set when the result is over the window and no plan comes to less. */
  readonly floor: Floor | null;
}

/** The first result that is within what its plan may come to; after so many tries the last one. */
export async function applyUntilFits<M, A extends Applied<M>>(
  first: CompactPlan,
  { window, apply, replan }: Fitting<M, A>,
): Promise<Fitted<M, A>> {
  let plan = first;
  let feedback = NO_FEEDBACK;
  let applied = await apply(first, null);
  for (let tries = 1; tries < TRIES && tokensIn(applied) > plan.maxTokens; tries += 1) {
    const miss = tokensIn(applied) - plan.tokensAfter;
    const over = tokensIn(applied) > window.size - window.reserve;
    // A summary that came out too long is no surprise of the view: charged twice, a thread that fits would be refused.
    const excess = plan.cut === null ? 0 : Math.max(0, applied.summaryTokens - plan.cut.summaryTokens);
    feedback = {
      overshoot: feedback.overshoot + (over ? Math.max(1, miss - excess) : 0),
      summaryTokens: plan.cut === null ? feedback.summaryTokens : plan.cut.summaryTokens + miss,
    };
    const same = replan(feedback);
    // With a summary as long as this one nothing fits; a shorter one may.
    const next = same.kind !== "compact" && excess > 0 ? replan({ ...feedback, summaryTokens: 0 }) : same;
    if (next.kind !== "compact")
      return { plan, applied, floor: over && next.kind === "impossible" ? next.floor : null };
    plan = next;
    applied = await apply(next, applied);
  }
  return { plan, applied, floor: null };
}

function tokensIn<M>({ prompt }: Applied<M>): number {
  return prompt.count.tokens;
}
