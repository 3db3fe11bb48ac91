/**
 * From a plan to the records that carry it out, with everything but the summary's author: which messages it must cover,
 * what it folds, what is quoted, how the extract writes it. Pure, so that a dry run, a simulation and the compactor
 * make the same records.
 */

import type {
  CompactionRecord,
  MessageRecord,
  PruneRecord,
  Rung,
  StoredSummary,
  SummaryFormat,
} from "../log/record.ts";
import type { LiveRecords } from "../log/view.ts";
import type { Shape } from "../message/shape.ts";
import { extractSteps } from "../summary/extract/extract.ts";
import {
  type NumberedMessage,
  type Originals,
  type Pin,
  readState,
  renderSummary,
  type SummaryState,
} from "../summary/index.ts";
import { mediaName } from "../summary/render/media-name.ts";
import type { QuotedWork } from "../summary/work/quote-work.ts";
import { byUse, extendNames, namesOf, readNames, type UsedName } from "../summary/work/used-names.ts";
import { extendWork, NO_WORK, readWork, type Work } from "../summary/work/work.ts";
import type { Cut } from "./cut.ts";
import { openGroupDigest } from "./digest.ts";
import type { CompactPlan } from "./plan.ts";
import { messageText } from "./prune/part-text.ts";

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
}

export const NO_OWN_WORDS: OwnWords = { work: NO_WORK, hidden: NO_WORK, shown: "", names: [], shownNames: new Set() };

/** State that is rendered into the summary and frozen there. */
export interface StateLines {
  readonly todos: readonly string[];
  readonly delegations: readonly string[];
  readonly skills: readonly string[];
}

/** What a compaction record stores as its state. */
interface StoredState {
  readonly summary: SummaryState;
  readonly userTurns: readonly number[];
  readonly work: Work;
  readonly names: readonly UsedName[];
}

const REMEMBERED_TURNS = 60;

/** The typed summary in a compaction's whole state; null when there is none, or it was erased. */
export function storedSummary(state: unknown): SummaryState | null {
  return readState((state as Partial<StoredState> | null)?.summary);
}

/** The messages a cut newly hides, and the user turns among them and before. `state`: the live compaction's, whole. */
export function coveredBy<M>(
  live: LiveRecords,
  cut: Cut,
  { shape, original, state }: { shape: Shape<M>; original: (record: MessageRecord) => M; state: unknown },
): Covered<M> {
  const last = cut.covers[1];
  const said = live.tail
    .map((record) => ({ seq: record.seq, message: original(record) }))
    .filter(({ message }) => shape.role(message) !== "system");
  const entries = said.filter(({ seq }) => seq <= last);
  return coveredIn(state, { last, entries, tail: said.filter(({ seq }) => seq > last) }, shape);
}

interface Split<M> {
  /** The last seq that is hidden. */
  readonly last: number;
  readonly entries: readonly NumberedMessage<M>[];
  readonly tail: readonly NumberedMessage<M>[];
}

/** `state`: of the compaction before; null where everything is newly hidden. */
export function coveredIn<M>(state: unknown, { last, entries, tail }: Split<M>, shape: Shape<M>): Covered<M> {
  const stored = state as Partial<StoredState> | null;
  const userTurns = stored?.userTurns ?? [];
  const requests = entries.filter(({ message }) => shape.role(message) === "user").map(({ seq }) => seq);
  const work = extendWork(readWork(stored?.work), entries, shape);
  const { messages, parts } = extendWork(work, tail, shape);
  return {
    prior: storedSummary(state),
    entries,
    userTurns: [...userTurns, ...requests].slice(-REMEMBERED_TURNS),
    own: {
      work,
      hidden: { messages, parts: parts.filter(({ seq }) => seq <= last) },
      names: extendNames(readNames(stored?.names), entries, shape),
      shown: tail.map(({ message }) => messageText(message, shape)).join("\n"),
      shownNames: new Set(tail.flatMap(({ message }) => namesOf(message, shape))),
    },
  };
}

export type Covered<M> = Pick<SummaryInput<M>, "prior" | "entries" | "userTurns" | "own">;

/** The user's words of a message, for quoting, and what was given with them. */
export function quote<M>(seq: number, message: M, shape: Shape<M>): Pin {
  const text = shape.parts(message).flatMap((part) => {
    if (part.kind === "image" || part.kind === "file") return [`[${mediaName(part)}]`];
    return part.kind === "text" ? [part.text] : [];
  });
  return { seq, text: text.join("\n") };
}

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
  const summary = renderSummary(state, { ...options, pins, originals, ...lines, names });
  if (quotes.text === "") return summary;
  const text = `${summary.text}\n\n${quotes.text}`;
  return { text, tokens: options.count(text) };
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
  readonly rung: Extract<Rung, "summarize" | "extract">;
  readonly state: SummaryState;
  /** Model calls it took, and how many tool outputs they saw only as digests. */
  readonly calls: number;
  readonly digested: number;
}

type NewCompaction = Omit<CompactionRecord, "v" | "seq" | "at" | "runId">;
type NewPrune = Omit<PruneRecord, "v" | "seq" | "at" | "runId">;

/** The records of a plan, compaction first: its prunes touch what stays visible. */
export function plannedRecords<M>(
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
  },
): readonly (NewCompaction | NewPrune)[] {
  const { tokensBefore, tokensAfter, entries } = plan;
  const prune: NewPrune = { kind: "prune", entries, tokensBefore, tokensAfter };
  if (plan.cut === null || context.written === null || context.input === null) return [prune];
  const compaction = newCompaction(plan, plan.cut, { ...context, input: context.input, written: context.written });
  return entries.length === 0 ? [compaction] : [compaction, prune];
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
  const { userTurns, own } = input;
  const { work, names } = own;
  const state: StoredState = { summary: written.state, userTurns, work, names };
  const summary: StoredSummary = { format, text, digest, state };
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
