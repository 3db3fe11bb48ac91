/**
 * Carries out compactions: asks the planner, gets a summary written, appends the records. Any failure before the append
 * leaves the thread exactly as it was; the part file after it is only a cache. Needs no model.
 */
import { setImmediate } from "node:timers/promises";
import {
  type CompactionOutcome,
  type CompactPlan,
  keepProblems,
  type Plan,
  type PlanInput,
  type Policy,
  type PruneRung,
  planCompaction,
  reasonText,
  type Window,
} from "@palimpsest/core/compaction";
import { NOWHERE } from "@palimpsest/core/internal/summary";
import type { Head, ViewEntry } from "@palimpsest/core/log";
import type { Originals } from "@palimpsest/core/summary";
import { SettingsError } from "../config/summarization.ts";
import type { Conversation } from "../threads/conversation.ts";
import { type Background, type BackgroundOptions, createBackground } from "./background.ts";
import type { OnCompactionEvent } from "./events.ts";
import { FloorError } from "./floor-error.ts";
import { type Gauge, type GaugeOptions, gauge } from "./gauge.ts";
import { type Known, type MakingContext, makeFitting, NOTHING_KNOWN } from "./make-records.ts";
import type { QuoteSource } from "./pins.ts";
import type { SummaryWriter } from "./summary-writer.ts";
import { type Begun, createSummaryStep } from "./write-summary.ts";

export interface CompactorOptions<M> extends GaugeOptions<M> {
  readonly conversation: Conversation<M>;
  readonly policy: Policy;
  /** How tool traffic may be pruned now (is the provider's cache still warm?); null: never. */
  readonly prune: (() => PruneRung) | null;
  readonly writer: SummaryWriter | null;
  /** Reads messages that are no longer loaded, to quote them. */
  readonly quotes: QuoteSource;
  /** Makes the part files of the live compactions; null without a workspace. */
  readonly archive: (() => Promise<unknown>) | null;
  /** How the model can read what is hidden, by the tools it has now; when absent, nothing is said about it. */
  readonly originals?: () => Originals;
  readonly clock: () => Date;
  readonly on: OnCompactionEvent;
  /** Drafts the next summary ahead of the trigger; without it every summary is written when it is needed. */
  readonly background?: BackgroundOptions | null;
}

export interface CompactRequest {
  readonly cause: PlanInput<unknown>["cause"];
  readonly focus?: string;
  readonly keep?: Policy["keep"];
  /** Everything but the append, without a model. */
  readonly dryRun?: boolean;
  /** Another window than the model's: a limit the provider stated, or one a person asks about. */
  readonly window?: Window;
  /** `none`: only what needs no model. */
  readonly model?: "writer" | "none";
  readonly signal?: AbortSignal;
}

export interface Compactor<M> {
  plan(request: CompactRequest): Plan;
  compact(request: CompactRequest): Promise<CompactionOutcome<M>>;
  /** Resolves when no draft is being written. */
  settled(): Promise<void>;
  /** Stops a draft being written; its finished parts are kept for the next time. */
  close(): Promise<void>;
}

export function createCompactor<M>(options: CompactorOptions<M>): Compactor<M> {
  const { conversation, on } = options;
  const summarise = createSummaryStep(options);
  const background =
    options.background == null || options.writer === null
      ? null
      : createBackground({ ...options, background: options.background }, summarise);
  /** Where the log stood when an attempt changed nothing: the next one waits for growth. */
  let attempted = 0;
  const plan = (request: CompactRequest, measured: Gauge<M>, known: Known = NOTHING_KNOWN): Plan =>
    planCompaction({
      view: measured.view,
      shape: conversation.shape,
      measure: measured.measure,
      fixed: measured.fixed + known.unforeseen,
      summaryTokens: known.summaryTokens,
      window: request.window ?? measured.window,
      policy: request.keep === undefined ? options.policy : { ...options.policy, keep: request.keep },
      cause: request.cause,
      grown: measured.grownSince(Math.max(attempted, lastAct(conversation))),
      prune: options.prune?.() ?? null,
      originals: options.originals?.() ?? NOWHERE,
    });
  return {
    plan: (request) => plan(request, gauge(conversation, options)),
    async compact(request) {
      const problems = request.keep === undefined ? [] : keepProblems(request.keep);
      if (problems.length > 0) throw new SettingsError(problems);
      const measured = gauge(conversation, options);
      on({ type: "compaction-check", tokens: measured.tokens, source: measured.source, window: measured.window.size });
      const planned = plan(request, measured);
      const replan = (known: Known): Plan => plan(request, measured, known);
      const outcome = await carryOut(planned, request, { options, measured, summarise, background, replan });
      // Whoever only waited has not tried: the wait must not begin anew with every check.
      const checked = planned.kind === "none" && planned.reason !== "nothing-to-cut";
      if (outcome.kind === "unchanged" && !checked) attempted = conversation.head().version;
      if (outcome.kind === "unchanged" && outcome.reason === "below-trigger" && request.cause === "automatic")
        background?.consider(measured);
      on({ type: "compaction-end", outcome, messages: outcome.kind === "compacted" ? outcome.messages.length : 0 });
      return outcome;
    },
    settled: async () => background?.settled(),
    close: async () => background?.close(),
  };
}

interface Context<M> extends MakingContext<M> {
  readonly options: CompactorOptions<M>;
  readonly background: Background<M> | null;
}

async function carryOut<M>(plan: Plan, request: CompactRequest, context: Context<M>): Promise<CompactionOutcome<M>> {
  const { options, measured } = context;
  const { conversation, clock, on } = options;
  const started = clock().getTime();
  if (plan.kind === "impossible") throw new FloorError(plan.floor);
  if (plan.kind === "none") return unchanged(plan.reason, measured.tokens);
  on({ type: "compaction-trigger", reason: plan.reason });

  const made = await makeFitting(plan, request, context, await fromDraft(plan, request, context));
  if (request.signal?.aborted) return unchanged("aborted", measured.tokens);
  const { after, tokensAfter, cut } = made;
  if (tokensAfter >= measured.tokens) {
    return unchanged("no-shrink", measured.tokens);
  }
  if (!request.dryRun) {
    // A long extract keeps the process busy: whoever asked to stop meanwhile is heard before anything is written.
    await setImmediate();
    if (request.signal?.aborted) return unchanged("aborted", measured.tokens);
    const committed = await conversation.commit(
      made.drafts.map((draft) => ({ ...draft, tokensBefore: measured.tokens, tokensAfter })),
    );
    if (committed.kind !== "committed") return unchanged("conflict", measured.tokens);
    if (cut !== null) await context.background?.clear();
    // The parts are a cache of the log; whatever is missing is made before the next model call.
    await options.archive?.().catch(() => undefined);
  }
  const { messages, sources } = measured.render(after);
  return {
    kind: "compacted",
    rung: made.rung,
    reason: reasonText(plan.reason),
    tokensBefore: measured.tokens,
    tokensAfter,
    hidden: cut === null ? null : [1, cut.covers[1]],
    standing: cut === null ? [] : standing(after, cut.covers[1]),
    archivePath: made.archive,
    messages,
    sources,
    calls: made.calls,
    digested: made.digested,
    ms: clock().getTime() - started,
    shortfall: made.reaches === "low-water" ? null : SHORTFALL[made.reaches],
  };
}

function standing<M>(view: readonly ViewEntry<M>[], last: number): number[] {
  return view.flatMap(({ source, seq }) => (source !== "message" && seq !== null && seq <= last ? [seq] : []));
}

/** With a draft that covers most of it no model is asked and nobody waits: the rest is added by rules. */
async function fromDraft<M>(plan: CompactPlan, request: CompactRequest, context: Context<M>): Promise<Begun | null> {
  const { background, options, measured } = context;
  if (background === null || plan.cut === null || request.cause === "manual" || request.dryRun) return null;
  const draft = await background.ready(plan.cut, measured, {
    wait: request.model === "none" || request.cause === "overflow" ? "no" : "yes",
    signal: request.signal ?? new AbortController().signal,
  });
  if (draft !== null) options.on({ type: "draft-used", covers: draft.cut.covers });
  return draft;
}

/** Seq of the last thing that changed the view's size on purpose; 0 when nothing has. */
function lastAct<M>(conversation: Conversation<M>): number {
  const head: Head = conversation.head();
  const clamps = conversation.live().prunes.filter(({ entries }) => entries.some(({ reason }) => reason === "clamped"));
  return Math.max(head.compaction ?? 0, head.undone?.seq ?? 0, clamps.at(-1)?.seq ?? 0);
}

type Unchanged = Extract<CompactionOutcome, { kind: "unchanged" }>;

function unchanged(reason: Unchanged["reason"], tokens: number): Unchanged {
  return { kind: "unchanged", reason, tokens, detail: WHY[reason] };
}

const WHY: Readonly<Record<Unchanged["reason"], string>> = {
  "below-trigger": "no threshold is reached and the view fits the window",
  waiting: "the view has not grown by the minimum gain since the last attempt, and it fits",
  "nothing-to-cut": "everything that could be hidden is already hidden or must be kept",
  "no-shrink": "the result would not be smaller than what it replaces",
  aborted: "it was stopped before anything was written",
  busy: "another run holds the thread",
  conflict: "somebody else wrote to the thread first",
  "no-history": "there is no stored history to compact",
};

const SHORTFALL = {
  keep: "what keep asks for is more than the low-water mark leaves; the view is below the trigger",
  less: "there is no room below the trigger for all that keep promises: less of it was kept, or long messages were shortened",
  window: "the view fits the window, but what must stand is above the low-water mark",
} as const;
