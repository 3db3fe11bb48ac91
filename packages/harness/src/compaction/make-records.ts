/**
 * From a plan to the records that carry it out and the view they would give: gets the summary written or completed, weighs
 * the result as it really is, and plans again where it came to more than it may. Appends nothing.
 */
import type { CompactPlan, Plan } from "@palimpsest/core/compaction";
import { draftsOf, renderState } from "@palimpsest/core/internal/compaction";
import { liveAfter } from "@palimpsest/core/internal/log";
import { FORMAT_VERSION, type LogRecord } from "@palimpsest/core/log";
import type { Conversation } from "../threads/conversation.ts";
import type { CompactorOptions, CompactRequest } from "./compactor.ts";
import type { Gauge } from "./gauge.ts";
import { archivePath } from "./part-files.ts";
import { orderFor } from "./summary-order.ts";
import { type Begun, completed, type SummaryStep } from "./write-summary.ts";

/** What only a result can tell. */
export interface Known {
  /** Tokens of the request that no message of the view accounts for: what repairs add. */
  readonly unforeseen: number;
  /** What the summary came to. */
  readonly summaryTokens: number;
}

export const NOTHING_KNOWN: Known = { unforeseen: 0, summaryTokens: 0 };

export interface MakingContext<M> {
  readonly options: Pick<
    CompactorOptions<M>,
    "conversation" | "policy" | "quotes" | "archive" | "originals" | "background" | "on"
  >;
  readonly measured: Gauge<M>;
  readonly summarise: SummaryStep;
  /** The plan with what is known now. */
  readonly replan: (known: Known) => Plan;
}

const TRIES = 4;

/**
 * A plan promises what its summary's upper bound allows, and what repairs add to a view is known only when it is made. So
 * a result that is over what the plan may come to is planned again; a summary that was paid for is completed by rules.
 */
export async function makeFitting<M>(
  plan: CompactPlan,
  request: CompactRequest,
  context: MakingContext<M>,
  begun: Begun | null,
) {
  const { size, reserve } = request.window ?? context.measured.window;
  let planned = plan;
  let known = NOTHING_KNOWN;
  let made = await make(plan, request, context, begun);
  for (let tries = 1; tries < TRIES && made.tokensAfter > planned.most; tries++) {
    const miss = made.tokensAfter - planned.tokensAfter;
    known = {
      unforeseen: known.unforeseen + (made.tokensAfter > size - reserve ? Math.max(1, miss) : 0),
      summaryTokens: planned.cut === null ? known.summaryTokens : planned.cut.summaryTokens + miss,
    };
    const next = context.replan(known);
    if (next.kind !== "compact") break;
    planned = next;
    made = await make(next, request, context, made.begun);
  }
  return made;
}

/** The records of a plan and the view they would give. */
async function make<M>(plan: CompactPlan, request: CompactRequest, context: MakingContext<M>, begun: Begun | null) {
  const { conversation } = context.options;
  const made = await makeDrafts(plan, request, context, begun);
  const after = conversation.viewOf(withDrafts(conversation, made.drafts));
  const rung = plan.rung === "hide" ? made.rung : plan.rung;
  return { ...made, rung, after, tokensAfter: context.measured.tokensOf(after), cut: plan.cut, reaches: plan.reaches };
}

async function makeDrafts<M>(
  plan: CompactPlan,
  request: CompactRequest,
  { options, measured, summarise }: MakingContext<M>,
  begun: Begun | null,
) {
  const { conversation, policy, on } = options;
  const { shape } = conversation;
  const count = measured.measure.text;
  const common = { live: conversation.live(), shape, count, format: policy.summaryFormat };
  const { cut } = plan;
  if (cut === null) {
    const drafts = draftsOf(plan, { ...common, input: null, written: null, archive: null });
    return { drafts, begun, rung: "extract" as const, calls: 0, digested: 0, archive: null };
  }
  on({ type: "compaction-start", hide: cut.hidden, keep: cut.kept });
  const order = await orderFor(cut, options, measured, {
    focus: request.focus ?? null,
    model: request.dryRun ? "none" : (request.model ?? "writer"),
    signal: request.signal ?? new AbortController().signal,
  });
  const { input, maxTokens } = order;
  const useful = begun !== null && begun.cut.covers[1] <= cut.covers[1];
  const summarised = useful ? completed(begun, order) : await summarise.write(order);
  const { text, tokens } = renderState(summarised.state, input, { maxTokens, count, format: policy.summaryFormat });
  on({ type: "summary-written", by: summarised.rung, tokens });
  const archive = options.archive === null ? null : archivePath(cut.covers);
  const drafts = draftsOf(plan, { ...common, input, written: { ...summarised, text }, archive });
  return { drafts, archive, begun: { cut, summarised }, ...summarised };
}

/** The live records as they would be with these drafts appended; nothing is written. */
function withDrafts<M>(conversation: Conversation<M>, drafts: ReturnType<typeof draftsOf<M>>) {
  const stamp = { v: FORMAT_VERSION, at: "", runId: null } as const;
  let seq = conversation.head().version;
  return drafts.reduce(
    (live, draft) => liveAfter(live, { ...stamp, ...draft, seq: ++seq } as Exclude<LogRecord, { kind: "undo" }>),
    conversation.live(),
  );
}
