/**
 * Carries out compactions: asks the planner, gets a summary written, appends the records. Any failure before the append
 * leaves the thread exactly as it was; the part file after it is only a cache. Needs no model.
 */
import {
  type CompactionOutcome,
  grownSince,
  type Keep,
  keepProblems,
  lastAct,
  leastSaved,
  NO_FEEDBACK,
  type Plan,
  type PlanFeedback,
  type PlanOptions,
  type Policy,
  type PruneRung,
  planCompaction,
  reasonText,
  shortenedRequest,
  usableWindow,
  type Window,
} from "@palimpsest/core/internal/compaction";
import type { Prompt, SizedEntry } from "@palimpsest/core/internal/prompt";
import { NOWHERE, type Originals } from "@palimpsest/core/internal/summary";
import { nextTask } from "../long-work.ts";
import type { ThreadLog } from "../thread/thread.ts";
import type { OpenBackground } from "./drafts.ts";
import type { OnCompactionEvent } from "./events.ts";
import { FloorError, SettingsError, shortfallOf, unchanged } from "./summarization.ts";
import type { SummaryWriter } from "./summarize.ts";
import { type CarryOutContext, carryOutFitting, createSummaryStep, type QuoteSource, withFigures } from "./summary.ts";

export interface CompactorOptions<M> {
  readonly thread: ThreadLog<M>;
  /** What would be sent now: see `livePrompt`. */
  readonly prompt: () => Prompt<M>;
  readonly window: () => Window;
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
  readonly background?: OpenBackground | null;
}

export interface CompactRequest {
  readonly cause: PlanOptions["cause"];
  readonly focus?: string | undefined;
  readonly keep?: Keep | undefined;
  /** `rollover`: a fresh window, whatever the policy says. */
  readonly style?: Policy["style"] | undefined;
  /** Everything but the append, without a model; `quiet`: without events, too. */
  readonly dryRun?: boolean | "quiet" | undefined;
  /** Another window than the model's: a limit the provider stated, or one a person asks about. */
  readonly window?: Window | undefined;
  /** `none`: only what needs no model. */
  readonly model?: "writer" | "none" | undefined;
  readonly signal?: AbortSignal | undefined;
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
  const { thread, policy } = options;
  const summaryStep = createSummaryStep(options);
  const background =
    options.background == null || options.writer === null ? null : options.background.open(options, summaryStep);
  /** Where the log stood when an attempt changed nothing: the next one waits for growth. */
  let attempted = 0;
  const plan = (request: CompactRequest, prompt: Prompt<M>, feedback: PlanFeedback = NO_FEEDBACK): Plan =>
    planCompaction(prompt, {
      ...feedback,
      window: request.window ?? usableWindow(options.window(), prompt.count),
      policy: { ...policy, keep: request.keep ?? policy.keep, style: request.style ?? policy.style },
      cause: request.cause,
      grown: grownSince(prompt, Math.max(attempted, lastAct(thread.head(), thread.live().prunes))),
      prune: options.prune?.() ?? null,
      originals: options.originals?.() ?? NOWHERE,
    });
  return {
    plan: (request) => plan(request, options.prompt()),
    async compact(request) {
      const on = request.dryRun === "quiet" ? () => {} : options.on;
      const problems = request.keep === undefined ? [] : keepProblems(request.keep);
      if (problems.length > 0) throw new SettingsError(problems);
      const prompt = options.prompt();
      on({ type: "compaction-check", ...prompt.count, window: options.window().size });
      const planned = plan(request, prompt);
      const replan = (feedback: PlanFeedback): Plan => plan(request, prompt, feedback);
      const context = { options: { ...options, on }, prompt, summaryStep, background, replan };
      const outcome = await carryOut(planned, request, context);
      // Waiting is not an attempt: the wait must not start again with every check.
      const checked = planned.kind === "none" && (planned.reason === "below-trigger" || planned.reason === "waiting");
      if (outcome.kind === "unchanged" && !checked && !request.dryRun) attempted = thread.head().version;
      if (outcome.kind === "unchanged" && outcome.reason === "below-trigger" && request.cause === "automatic")
        background?.consider(prompt);
      on({ type: "compaction-end", outcome, messages: outcome.kind === "compacted" ? outcome.messages.length : 0 });
      return outcome;
    },
    settled: async () => background?.settled(),
    close: async () => background?.close(),
  };
}

async function carryOut<M>(
  plan: Plan,
  request: CompactRequest,
  context: CarryOutContext<M>,
): Promise<CompactionOutcome<M>> {
  const { options, prompt } = context;
  const { thread, clock, on } = options;
  const { tokens } = prompt.count;
  const started = clock().getTime();
  const { configured } = request.window ?? options.window();
  if (plan.kind === "impossible") throw new FloorError(plan.floor, configured);
  if (plan.kind === "none") return unchanged(plan.reason, tokens);
  on({ type: "compaction-trigger", reason: plan.reason });
  // Reading a long thread kept the process busy, and so will writing its extract.
  if (request.signal !== undefined) await nextTask();
  if (request.signal?.aborted) return unchanged("aborted", tokens);
  const { plan: planned, applied, floor } = await carryOutFitting(plan, request, context);
  if (floor !== null) throw new FloorError(floor, configured);
  if (request.signal?.aborted) return unchanged("aborted", tokens);
  const { entries, messages, sources, count } = applied.prompt;
  const tokensAfter = count.tokens;
  if (tokens - tokensAfter < leastSaved(request, tokens)) return unchanged("no-shrink", tokens);
  const { cut } = planned;
  if (!request.dryRun) {
    if (request.signal !== undefined) await nextTask();
    if (request.signal?.aborted) return unchanged("aborted", tokens);
    const committed = await thread.commit(withFigures(applied.records, { tokensBefore: tokens, tokensAfter }));
    if (committed.kind !== "committed") return unchanged("conflict", tokens);
    if (cut !== null) await context.background?.clear();
    // The parts are a cache of the log; whatever is missing is made before the next model call.
    await options.archive?.().catch(() => undefined);
  }
  return {
    kind: "compacted",
    rung: applied.rung,
    reason: reasonText(plan.reason),
    tokensBefore: tokens,
    tokensAfter,
    hidden: cut === null ? null : [1, cut.covers[1]],
    standing: cut === null ? [] : standing(entries, cut.covers[1]),
    archivePath: applied.archive,
    messages,
    sources,
    calls: applied.calls,
    digested: applied.digested,
    ms: clock().getTime() - started,
    shortfall: shortfallOf(planned.goal),
    shortened: shortenedRequest(prompt, planned.entries),
  };
}

function standing<M>(entries: readonly SizedEntry<M>[], last: number): number[] {
  return entries.flatMap(({ source, seq }) => (source !== "message" && seq !== null && seq <= last ? [seq] : []));
}
