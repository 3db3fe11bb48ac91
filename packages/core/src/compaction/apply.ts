/**
 * What a plan comes to: the records that carry it out and the prompt they would give. A plan promises what its summary's
 * upper bound allows, and what repairs add is known only when the result is there: so a result over what its plan may
 * come to is planned again, here and nowhere else. Appends nothing.
 */

import { chosenTail, summaryEdits } from "../log/apply-prune.ts";
import { extendReports, type FoldReport, renderReports } from "../log/folds.ts";
import { type Note, renderNotes } from "../log/notes.ts";
import {
  type CompactionRecord,
  FORMAT_VERSION,
  type LogRecord,
  type MessageRecord,
  type PruneRecord,
  type Rung,
  type StateRecord,
  type StoredSummary,
  type SummaryFormat,
} from "../log/record.ts";
import type { RuleList } from "../log/rules.ts";
import { liveAfter } from "../log/structure.ts";
import type { LiveRecords, ViewEntry } from "../log/view.ts";
import type { Shape } from "../message/shape.ts";
import { considerPrompt, type Prompt } from "../prompt/prompt.ts";
import { sizesOf } from "../prompt/sizer.ts";
import { extractSteps } from "../summary/extract.ts";
import { messageText } from "../summary/gather.ts";
import {
  type NumberedMessage,
  type Originals,
  type Pin,
  readState,
  renderSummary,
  type SummaryState,
} from "../summary/internal.ts";
import { whereMore } from "../summary/render-lines.ts";
import { withEdits } from "../summary/state.ts";
import {
  byUse,
  extendNames,
  extendWork,
  NO_WORK,
  namesOfAll,
  type QuotedWork,
  readNames,
  readWork,
  type UsedName,
  type Work,
} from "../summary/work.ts";
import { type Floor, openGroupDigest } from "./collapse.ts";
import type { Cut } from "./cut.ts";
import type { CompactPlan, Plan } from "./plan.ts";
import type { Policy, Window } from "./policy.ts";

/** The thread a plan was made for: its live records, the seq of its last one, and how they are folded. */
export interface PlannedThread<M> {
  readonly live: LiveRecords;
  readonly version: number;
  /** Its rules, where they are to be written with the plan. */
  readonly rules?: RuleList | null;
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
  /** Tokens of the rendered summary; 0 without one. */
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
    rules: thread.rules ?? null,
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

interface Fitting<M, A extends Applied<M>> {
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

/*
 * From a plan to the records that carry it out, with everything but the summary's author: which messages it must cover,
 * what it folds, what is quoted, how the extract writes it. Pure, so that a dry run, a simulation and the compactor
 * make the same records.
 */

/** What the summary of one cut has to cover and may draw on. */
export interface SummaryInput<M> {
  readonly prior: SummaryState | null;
  /** The newly hidden messages, as they were given. */
  readonly entries: readonly NumberedMessage<M>[];
  /** Words that stand verbatim, most important first: pinned messages, then the user's own, newest first. */
  readonly pins: readonly Pin[];
  /** Seqs of user turns hidden so far, ascending: what the next compaction quotes again from the log. */
  readonly userTurns: readonly number[];
  readonly own: OwnWords;
  /** What the model has written, quoted; it stands behind the summary. */
  readonly quotes: QuotedWork;
  readonly lines: StateLines;
  /** How the model can read them. */
  readonly originals: Originals;
}

/** What the model has written and the names it used, and what of both the tail shows anyway. */
interface OwnWords {
  readonly work: Work;
  /** The same without what the tail has replaced, as far as it is hidden. */
  readonly hidden: Work;
  /** The words of the tail: what stands there needs no quote. */
  readonly shown: string;
  readonly names: readonly UsedName[];
  readonly shownNames: ReadonlySet<string>;
  /** What it wrote of stretches that it folded; absent without. */
  readonly reports?: readonly FoldReport[];
}

export const NO_OWN_WORDS: OwnWords = { work: NO_WORK, hidden: NO_WORK, shown: "", names: [], shownNames: new Set() };

/** State that is rendered into the summary and frozen there. */
export interface StateLines {
  readonly todos: readonly string[];
  readonly delegations: readonly string[];
  readonly skills: readonly string[];
  /** Standing rules, which the prompt shows beside the summary. */
  readonly rules?: readonly string[];
  /** The model's notes: they stand at the start of the window. */
  readonly notes?: readonly Note[];
}

/** What a compaction record stores as its state. */
interface StoredState extends Pick<OwnWords, "work" | "names" | "reports"> {
  readonly summary: SummaryState;
  readonly userTurns: readonly number[];
}

const REMEMBERED_TURNS = 60;

/** The typed summary in a compaction's whole state; null when there is none, or it was erased. */
export function storedSummary(state: unknown): SummaryState | null {
  return readState((state as Partial<StoredState> | null)?.summary);
}

/** What a compaction stores of a summary and of what it covers. */
export function stateOf<M>(
  summary: SummaryState,
  { userTurns, own: { work, names, reports = [] } }: Pick<Covered<M>, "userTurns" | "own">,
): StoredState {
  return { summary, userTurns, work, names, ...(reports.length > 0 && { reports }) };
}

/** The messages a cut newly hides, and the user turns among them and before. In steps. `state`: the live compaction's, whole. */
export function* coveredBy<M>(
  live: LiveRecords,
  cut: Cut,
  { shape, original, state }: { shape: Shape<M>; original: (record: MessageRecord) => M; state: unknown },
): Generator<void, Covered<M>> {
  const last = cut.covers[1];
  const tail =
    live.prunes.length === 0
      ? live.tail.map((one) => ({ seq: one.seq, message: original(one) }))
      : chosenTail(live, { shape, original });
  const said = tail.filter(({ message }) => shape.role(message) !== "system");
  const entries = said.filter(({ seq }) => seq <= last);
  const edited = live.prunes.length === 0 ? state : withEdits(state, summaryEdits(live));
  const covered = yield* coveredIn(edited, { last, entries, tail: said.filter(({ seq }) => seq > last) }, shape);
  if (live.prunes.length === 0 && (state as Partial<StoredState> | null)?.reports === undefined) return covered;
  return { ...covered, own: { ...covered.own, reports: extendReports(state, live, last) } };
}

interface Split<M> {
  /** The last seq that is hidden. */
  readonly last: number;
  readonly entries: readonly NumberedMessage<M>[];
  readonly tail: readonly NumberedMessage<M>[];
}

/** `state`: of the compaction before; null where everything is newly hidden. */
export function* coveredIn<M>(state: unknown, split: Split<M>, shape: Shape<M>): Generator<void, Covered<M>> {
  const { last, entries, tail } = split;
  const { userTurns = [], ...stored } = (state ?? {}) as Partial<StoredState>;
  const requests = entries.filter(({ message }) => shape.role(message) === "user").map(({ seq }) => seq);
  const work = extendWork(readWork(stored.work), entries, shape);
  const { messages, parts } = extendWork(work, tail, shape);
  return {
    prior: storedSummary(state),
    entries,
    userTurns: [...userTurns, ...requests].slice(-REMEMBERED_TURNS),
    own: {
      work,
      hidden: { messages, parts: parts.filter(({ seq }) => seq <= last) },
      names: yield* extendNames(readNames(stored.names), entries, shape),
      shown: tail.map(({ message }) => messageText(message, shape)).join("\n"),
      shownNames: yield* namesOfAll(tail, shape),
    },
  };
}

export type Covered<M> = Pick<SummaryInput<M>, "prior" | "entries" | "userTurns" | "own">;

/** Of a summary's room, what notes may take, and of the rest what reports may. */
const [NOTES_SHARE, REPORTS_SHARE] = [0.5, 0.6];

/** A state as the text that stands in the view, within the cut's budget. */
export function renderState<M>(
  state: SummaryState,
  input: SummaryInput<M>,
  options: { readonly maxTokens: number; readonly count: (text: string) => number; readonly format: SummaryFormat },
): { readonly text: string; readonly tokens: number } {
  const { pins, originals, lines, quotes, own } = input;
  const names = byUse(own.names)
    .map(([name]) => name)
    .filter((name) => !own.shownNames.has(name));
  const { maxTokens, count } = options;
  const notes =
    lines.notes === undefined ? "" : renderNotes(lines.notes, { maxTokens: maxTokens * NOTES_SHARE, count });
  const left = notes === "" ? maxTokens : maxTokens - count(`${notes}\n\n`);
  const told = { maxTokens: left * REPORTS_SHARE, count, rest: whereMore(originals) };
  const reports = own.reports === undefined ? "" : renderReports(own.reports, told);
  const room = reports === "" ? left : left - count(`${reports}\n\n`);
  const summary = renderSummary(state, { ...options, maxTokens: room, pins, originals, ...lines, names });
  if ([quotes.text, notes, reports].every((block) => block === "")) return summary;
  const text = [summary.text, reports, notes, quotes.text].filter((block) => block !== "").join("\n\n");
  return { text, tokens: count(text) };
}

/** In steps: it takes long for many messages. */
export function extractState<M>(
  input: SummaryInput<M>,
  shape: Shape<M>,
  options: { readonly maxTokens: number; readonly count: (text: string) => number },
): Generator<void, SummaryState> {
  return extractSteps(input.prior, input.entries, shape, options);
}

/** A summary that somebody wrote: what is stored, and rendered into the view. */
export interface WrittenSummary {
  readonly rung: Extract<Rung, "summarize" | "extract" | "rollover">;
  readonly state: SummaryState;
  /** Model calls it took, and how many tool outputs they saw only as digests. */
  readonly calls: number;
  readonly digested: number;
}

type NewCompaction = Omit<CompactionRecord, "v" | "seq" | "at" | "runId">;
type NewPrune = Omit<PruneRecord, "v" | "seq" | "at" | "runId">;
type NewState = Omit<StateRecord, "v" | "seq" | "at" | "runId">;

/** The records of a plan: new rules, then the compaction, then its prunes, which touch what stays visible. */
function plannedRecords<M>(
  plan: CompactPlan,
  context: {
    readonly live: LiveRecords;
    readonly input: SummaryInput<M> | null;
    readonly written: WrittenSummary | null;
    /** The summary as it stands in the view. */
    readonly text: string;
    readonly shape: Shape<M>;
    readonly count: (text: string) => number;
    readonly format: SummaryFormat;
    readonly archive: string | null;
    readonly rules: RuleList | null;
  },
): readonly (NewCompaction | NewPrune | NewState)[] {
  const { tokensBefore, tokensAfter, cut } = plan;
  const rules: NewState[] = context.rules === null ? [] : [{ kind: "state", patch: { rules: context.rules } }];
  // A standing request is shown in its original form, so its prunes are written again after the compaction.
  const carried = context.live.prunes.flatMap((one) => one.entries.filter(({ target }) => target === cut?.request));
  const entries = [...carried, ...plan.entries];
  const prune: NewPrune = { kind: "prune", entries, tokensBefore, tokensAfter };
  if (cut === null || context.written === null || context.input === null) return [...rules, prune];
  const compaction = newCompaction(plan, cut, { ...context, input: context.input, written: context.written });
  return entries.length === 0 ? [...rules, compaction] : [...rules, compaction, prune];
}

function newCompaction<M>(
  plan: CompactPlan,
  cut: Cut,
  context: Parameters<typeof plannedRecords<M>>[1] & {
    readonly input: SummaryInput<M>;
    readonly written: WrittenSummary;
  },
): NewCompaction {
  const { live, input, written, text, shape, count, format, archive } = context;
  const { originals } = input;
  const digest =
    cut.digestTokens === null
      ? null
      : openGroupDigest(input.entries, shape, { maxTokens: cut.digestTokens, count, originals });
  const summary: StoredSummary = { format, text, digest, state: stateOf(written.state, input) };
  return {
    kind: "compaction",
    covers: cut.covers,
    folds: live.compaction?.seq ?? null,
    request: cut.request,
    systems: cut.systems,
    summary,
    rung: digest === null ? written.rung : "collapse",
    reason: reasonText(plan.reason),
    tokensBefore: plan.tokensBefore,
    tokensAfter: plan.tokensAfter,
    archive,
  };
}

export function reasonText(reason: CompactPlan["reason"]): string {
  return typeof reason === "string" ? reason : `${reason.type} ${reason.value}`;
}
