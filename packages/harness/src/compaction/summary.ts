/**
 * Gets one summary written: by the writer while it is trusted, else by the extract. A failing writer is left alone for a
 * while; each failure is an event, never an exception, and never the end of the compaction.
 */
import {
  type Applied,
  applyPlan,
  applyUntilFits,
  behindSummary,
  type CompactPlan,
  type Covered,
  type Cut,
  coveredBy,
  extractState,
  type Fitted,
  type Plan,
  type PlanFeedback,
  type Policy,
  usableWindow,
  type WrittenSummary,
} from "@palimpsest/core/internal/compaction";
import type { MessageRecord, RuleList, Rung } from "@palimpsest/core/internal/log";
import { NO_RULES, readRules, recognizeRules } from "@palimpsest/core/internal/log";
import { mayBecomeRule } from "@palimpsest/core/internal/memory";
import { type Prompt, sizesOf } from "@palimpsest/core/internal/prompt";
import { standingSentences, typedSteps } from "@palimpsest/core/internal/recall";
import type { Originals, Pin } from "@palimpsest/core/internal/summary";
import { NOWHERE, ownText, quotable, quote, quoteSteps, wordRoom } from "@palimpsest/core/internal/summary";
import { errorText } from "@palimpsest/core/internal/text";
import { inTurns } from "../long-work.ts";
import type { Store } from "../stores/store.ts";
import type { ThreadLog } from "../thread/thread.ts";
import type { CompactorOptions, CompactRequest } from "./compactor.ts";
import type { DraftTable, SummaryBackground } from "./drafts.ts";
import type { OnCompactionEvent } from "./events.ts";
import { archivePath, shownRules, stateLines } from "./state-chain.ts";
import type { SummaryJob, SummaryResult, SummaryWriter } from "./summarize.ts";

interface SummaryStepOptions {
  readonly writer: SummaryWriter | null;
  readonly clock: () => Date;
  readonly on: OnCompactionEvent;
}

/** A summary that was written for a cut, and may be the beginning of one for a further cut. */
export interface EarlierSummary {
  readonly cut: Cut;
  readonly written: WrittenSummary;
}

interface Writing {
  /** `none`: only what needs no model. */
  readonly model: "writer" | "none";
  readonly signal: AbortSignal | undefined;
}

export interface SummaryStep {
  /** Always a summary, by a model or by rules. */
  write<M>(job: SummaryJob<M>, writing: Writing): Promise<WrittenSummary>;
  /** One by the writer, or none. */
  draft<M>(job: SummaryJob<M>, signal: AbortSignal): Promise<WrittenSummary | null>;
}

/** What could not be shown is not worth a call. */
const LEAST_WORDS = 16;

export function createSummaryStep({ writer, clock, on }: SummaryStepOptions): SummaryStep {
  let breaker: Breaker = FRESH_BREAKER;
  const ask = async <M>(job: SummaryJob<M>, signal: AbortSignal): Promise<SummaryResult | null> => {
    const short = job.wordTokens !== undefined && job.wordTokens < LEAST_WORDS;
    if (writer === null || short || !mayCall(breaker, clock().getTime())) return null;
    const result = await call(writer, job, signal);
    if (result.usage !== undefined) on({ type: "summary-usage", calls: result.calls, ...result.usage });
    if (result.kind === "written") {
      breaker = FRESH_BREAKER;
      const corrected = result.corrected ?? [];
      if (corrected.length > 0) on({ type: "summary-corrected", corrected });
    } else if (result.reason !== "aborted") {
      on({ type: "summary-failed", reason: result.reason, detail: result.detail });
      breaker = afterFailure(breaker, clock().getTime());
      if (breaker.closedAt > 0) {
        on({ type: "breaker-open", failures: breaker.failures, until: new Date(breaker.closedAt).toISOString() });
      }
    }
    return result;
  };
  return {
    async draft(job, signal) {
      const result = await ask(job, signal);
      return result?.kind === "written" ? byWriter(result) : null;
    },
    async write(job, { model, signal }) {
      const result =
        model === "none" || writer === null ? null : await ask(job, signal ?? new AbortController().signal);
      if (result?.kind === "written") return byWriter(result);
      const state = await inTurns(extractState(job.input, job.shape, job));
      return { rung: "extract", state, calls: result?.calls ?? 0, digested: 0 };
    },
  };
}

/** Extended to all that the job covers by rules: no model is asked again. */
async function completed<M>({ cut, written }: EarlierSummary, job: SummaryJob<M>): Promise<WrittenSummary> {
  const rest = job.input.entries.filter(({ seq }) => seq > cut.covers[1]);
  if (rest.length === 0) return written;
  const share = Math.min(1, Math.max(0.1, 1 - cut.hiddenTokens / Math.max(1, job.hiddenTokens)));
  const input = { ...job.input, prior: written.state, entries: rest };
  const maxTokens = Math.floor(job.maxTokens * share);
  return { ...written, state: await inTurns(extractState(input, job.shape, { maxTokens, count: job.count })) };
}

function byWriter({ state, calls, digested }: Extract<SummaryResult, { kind: "written" }>): WrittenSummary {
  return { rung: "summarize", state, calls, digested };
}

async function call<M>(writer: SummaryWriter, job: SummaryJob<M>, signal: AbortSignal): Promise<SummaryResult> {
  try {
    return await writer(job, signal);
  } catch (error) {
    const detail = errorText(error);
    return { kind: "failed", reason: signal.aborted ? "aborted" : "error", detail, calls: 1 };
  }
}

/** Stops calling a writer that keeps failing: after a few failures in a row it is left alone for a while, each time longer. */
interface Breaker {
  readonly failures: number;
  /** Milliseconds since the epoch before which the summarizer is left alone. */
  readonly closedAt: number;
}

const FRESH_BREAKER: Breaker = { failures: 0, closedAt: 0 };

const TOLERATED = 2;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 3_600_000;

function mayCall(breaker: Breaker, now: number): boolean {
  return now >= breaker.closedAt;
}

function afterFailure(breaker: Breaker, now: number): Breaker {
  const failures = breaker.failures + 1;
  if (failures < TOLERATED) return { failures, closedAt: 0 };
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(20, failures - TOLERATED));
  return { failures, closedAt: now + pause };
}

/*
 * The job of writing a summary for one cut: the hidden messages as they were given, the summary so far, what is quoted,
 * the state that is frozen into it, and how long it may be. The same at the trigger and for a draft ahead of it.
 */

export interface SummaryJobOptions<M> {
  readonly thread: ThreadLog<M>;
  readonly policy: Policy;
  readonly quotes: QuoteSource;
  readonly originals?: () => Originals;
  readonly background?: { readonly table: DraftTable } | null;
  readonly on: OnCompactionEvent;
}

export async function summaryJob<M>(
  cut: Cut,
  { thread, policy, quotes, originals, background, on }: SummaryJobOptions<M>,
  prompt: Prompt<M>,
  focus: string | null,
): Promise<SummaryJob<M>> {
  const { shape, original } = thread;
  const sizes = sizesOf(prompt);
  const state = await thread.summaryState();
  const covered = await inTurns(coveredBy(thread.live(), cut, { shape, original, state }));
  const count = sizes.text;
  const loaded = await quotedMessages(covered, thread, quotes);
  const pins = gatherPins(covered, thread, loaded);
  const text = ({ seq, part }: { readonly seq: number; readonly part: number }): string | null => {
    const message = loaded.get(seq);
    const written = message === undefined ? null : ownText(shape.parts(message)[part]);
    return written === null || covered.own.shown.includes(written) ? null : written;
  };
  const work = await inTurns(quoteSteps(covered.own.hidden, { maxTokens: cut.quoteTokens, count, text }));
  const lines = stateLines(thread.head().state);
  const input = { ...covered, pins, quotes: work, lines, originals: originals?.() ?? NOWHERE };
  const format = policy.summaryFormat;
  const behind = behindSummary(format, shape, sizes);
  const maxTokens = roomFor(cut, behind, work.tokens) - sizes.message(shape.turn("user", ""));
  return {
    input,
    shape,
    maxTokens,
    count,
    focus,
    hiddenTokens: cut.hiddenTokens,
    drafts: background?.table ?? null,
    wordTokens: wordRoom({ maxTokens, count, through: cut.covers[1], originals: input.originals, format }),
    onProgress: (done, of) => on({ type: "summary-progress", done, of }),
  };
}

/** As much as the plan allows, and less than what it stands for: a summary that saves nothing is thrown away. */
function roomFor({ summaryTokens, quoteTokens, hiddenTokens }: Cut, behind: number, quoted: number): number {
  return Math.min(summaryTokens - quoteTokens, hiddenTokens - behind - quoted - 1);
}

/** Reads single message records of the thread by seq. */
export type QuoteSource = (seqs: readonly number[]) => Promise<readonly MessageRecord[]>;

/**
 * The messages that a summary may quote: those it hides, and of earlier ones those that were pinned, that the user said and
 * that hold what the model wrote. Read anew from the log at every compaction, so that quotes can't drift.
 */
async function quotedMessages<M>(
  covered: Covered<M>,
  thread: ThreadLog<M>,
  read: QuoteSource,
): Promise<ReadonlyMap<number, M>> {
  const loaded = new Map(covered.entries.map(({ seq, message }) => [seq, message]));
  const written = quotable(covered.own.hidden).map(({ seq }) => seq);
  const wanted = new Set([...pinnedTurns(covered, thread), ...written]);
  for (const record of await read([...wanted].filter((seq) => !loaded.has(seq)))) {
    loaded.set(record.seq, thread.original(record));
  }
  return loaded;
}

/** What stands verbatim in a summary: messages a person pinned, then the user's own words, newest first. */
function gatherPins<M>(covered: Covered<M>, thread: ThreadLog<M>, loaded: ReadonlyMap<number, M>): readonly Pin[] {
  return pinnedTurns(covered, thread).flatMap((seq) => {
    const message = loaded.get(seq);
    return message === undefined ? [] : [quote(seq, message, thread.shape)];
  });
}

function pinnedTurns<M>({ entries, userTurns }: Covered<M>, thread: ThreadLog<M>): readonly number[] {
  const last = entries.at(-1)?.seq ?? 0;
  const pinned = thread.head().pins.filter((seq) => seq <= last);
  return [...new Set([...pinned, ...userTurns.toReversed()])];
}

/** Reads them from a store. */
export function readQuotes(store: Store, threadId: string): QuoteSource {
  return async (seqs) => {
    const messages: MessageRecord[] = [];
    for (const seq of seqs)
      for await (const { record } of store.records(threadId, { range: [seq, seq], kinds: ["message"] }))
        if (record.kind === "message") messages.push(record);
    return messages;
  };
}

/*
 * From a plan to the records that carry it out: gets the summary written or completed and applies the plan with it,
 * until the result is within what its plan may come to. Appends nothing.
 */

export interface CarryOutContext<M> {
  readonly options: CompactorOptions<M>;
  /** Null: nothing is drafted ahead. */
  readonly background: SummaryBackground<M> | null;
  readonly prompt: Prompt<M>;
  readonly summaryStep: SummaryStep;
  /** The plan with what is known now. */
  readonly replan: (feedback: PlanFeedback) => Plan;
}

/** A plan as it was carried out, and the summary that a further plan may begin with. */
interface CarriedOut<M> extends Applied<M> {
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

/** With a draft that covers most of it no model is asked and no run waits: the rest is added by rules. */
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
  const { policy, on } = options;
  const { view, live, head } = options.thread;
  const thread = { live: live(), version: head().version, viewOf: view };
  const [format, cut] = [policy.summaryFormat, plan.cut];
  if (cut === null) {
    const rules = await newRules(options, []);
    const applied = applyPlan(prompt, plan, null, { thread: { ...thread, rules }, format });
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
  const rules = await newRules(options, proposals(written, job.input));
  const input = { ...job.input, lines: { ...job.input.lines, rules: shownRules(rules, head().state) } };
  const applying = { thread: { ...thread, rules }, format };
  const applied = applyPlan(prompt, plan, { input, written, archive, maxTokens: job.maxTokens }, applying);
  const { calls, digested, rung } = written;
  on({ type: "summary-written", by: rung, tokens: applied.summaryTokens });
  return { ...applied, earlier: { cut, written }, rung: rungOf(plan, rung), calls, digested, archive };
}

function isRollover<M>(request: CompactRequest, { policy }: CompactorOptions<M>): boolean {
  return (request.style ?? policy.style) === "rollover";
}

type StatedRule = Parameters<typeof recognizeRules>[1][number];

/** Goals that a model wrote into this summary and that read as standing instructions. They wait for a person. */
function proposals<M>({ rung, state }: WrittenSummary, { prior }: Covered<M>): StatedRule[] {
  const known = new Set(prior?.sections.goals.map(({ id }) => id));
  const goals = rung === "summarize" ? state.sections.goals.filter(({ id }) => !known.has(id)) : [];
  const binding = goals.filter(({ text }) => standingSentences(text).length > 0 && mayBecomeRule(text));
  return binding.map(({ text, seqs: [source = 0] }) => ({ text, source, by: "model" }));
}

/** The thread's rules with those that its visible messages state; null if they are as they were. */
async function newRules<M>(options: CompactorOptions<M>, proposed: readonly StatedRule[]): Promise<RuleList | null> {
  const { thread, clock } = options;
  const { state } = thread.head();
  const rules = state["rules"] == null ? NO_RULES : readRules(state);
  const at = clock().toISOString();
  const stated = await inTurns(statedRules(thread, rules, at));
  const now = proposed.length === 0 ? stated : recognizeRules(stated, proposed, at);
  return now === rules ? null : now;
}

/** The list with what a person typed in the visible messages and may bind later turns. A sub-agent's prompts are a model's words. */
export function* statedRules<M>(
  { shape, original, live, header }: Pick<ThreadLog<M>, "shape" | "original" | "live" | "header">,
  rules: RuleList,
  at: string,
): Generator<void, RuleList> {
  if (header.kind === "subagent") return rules;
  const typed = yield* typedSteps(live().tail, original, shape);
  const binding = typed.filter(({ text, liftsAt }) => liftsAt !== undefined || mayBecomeRule(text));
  return binding.length === 0 ? rules : recognizeRules(rules, binding, at);
}

/** The records of a plan with the figures of its result. */
export function withFigures<M>(
  records: Applied<M>["records"],
  figures: { readonly tokensBefore: number; readonly tokensAfter: number },
): Applied<M>["records"] {
  return records.map((record) => (record.kind === "state" ? record : { ...record, ...figures }));
}

function rungOf(plan: CompactPlan, written: Rung): Rung {
  return plan.rung === "hide" ? written : plan.rung;
}
