/**
 * Compacts a plain message array in any provider's format; no store, no agent, and no model unless one is given. The
 * caller keeps the whole, growing array and a small state that says what is hidden in it; the prompt is a view of both.
 */
import type { CompactionOutcome } from "@palimpsest/core/internal/compaction";
import type { LiveRecords, MessageRecord, MessageSource } from "@palimpsest/core/internal/log";
import { emptyHead, FORMAT_VERSION, liveAfter, NOTHING_LIVE } from "@palimpsest/core/internal/log";
import type { Shape } from "@palimpsest/core/internal/message";
import { createSizer, fixedSize, type Prompt, sizeOf } from "@palimpsest/core/internal/prompt";
import { NOWHERE } from "@palimpsest/core/internal/summary";
import { type CountSource, createMeter, resumeAccount } from "@palimpsest/core/internal/tokens";
import { createCompactor } from "../compaction/compactor.ts";
import type { CompactionEvent } from "../compaction/events.ts";
import { unchanged } from "../compaction/summarization.ts";
import { inTurns } from "../long-work.ts";
import type { ThreadLog } from "../thread/thread.ts";
import { livePrompt, NO_THREAD, shownAt, threadInMemory } from "../thread/thread-view.ts";
import { type CompactMessagesOptions, type Form, formOf, type Settings, settingsOf } from "./options.ts";
import {
  checkState,
  EMPTY_STATE,
  foreignMessages,
  type Mark,
  type MessagesState,
  markOf,
  marksOf,
  NO_MESSAGES,
  type Recognized,
  readAhead,
  recognize,
  STATE_VERSION,
  standingPrunes,
  standingReport,
  type UsageMark,
} from "./state.ts";

export interface CompactedMessages<M> {
  /** What to send: valid for its provider and inside the window. */
  readonly messages: readonly M[];
  /** What each of them begins with: the summary, its acknowledgement, one of yours. */
  readonly sources: readonly MessageSource[];
  readonly tokens: number;
  /** What the number of tokens rests on. */
  readonly counted: CountSource;
  readonly state: MessagesState;
  /** What the array was to the state that was given. */
  readonly recognized: Recognized;
  readonly outcome: MessagesOutcome<M>;
}

/** `writer`: why the summarizer's summary could not be had, so that the extract stands in; null when nothing is wrong. */
export type MessagesOutcome<M> = CompactionOutcome<M> & { readonly writer: WriterFailure | null };

export interface WriterFailure {
  readonly reason: string;
  readonly detail: string;
}

/**
 * `messages` is everything ever said; a message is a value and isn't changed in place. Throws a `FloorError` when nothing
 * fits the window and a `StateMismatchError` when the state is another array's.
 */
export async function compactMessages<M extends object>(
  messages: readonly M[],
  options: CompactMessagesOptions<NoInfer<M>>,
): Promise<CompactedMessages<M>> {
  const settings = settingsOf(options);
  const form: Form<M> = formOf<M>(messages, options);
  await inTurns(readAhead(form.turns(messages), form.shape));
  const turns = form.turns(messages);
  const given = options.state ?? null;
  if (given !== null) checkState(given);
  const recognized = recognize(given, { messages, turns }, form.shape);
  if (recognized === "foreign" && options.onMismatch !== "reset") throw foreignMessages(given!);
  const isAnew = recognized === "foreign" || (recognized === "compacted" && given?.sent.before === null);
  const state = isAnew || given === null ? EMPTY_STATE : given;
  const thread = arrayThread(turns, form.shape, state, {
    begins: recognized === "compacted" && !isAnew ? "compacted" : "whole",
    pins: (options.pins ?? []).map((place) => form.turnOf(messages, place)),
  });
  const report = reportOf(options, { messages, form, thread, state });
  const result =
    turns.length === 0
      ? nothingSaid<M>(settings, { ...state, report: null })
      : await compactTurns<M>({ options, settings, form, thread, report, state });
  return { ...result, recognized };
}

type Result<M> = Omit<CompactedMessages<M>, "recognized">;

function nothingSaid<M>({ fixed }: Settings, state: MessagesState): Result<M> {
  const outcome = { ...unchanged("below-trigger", fixed), writer: null };
  return { messages: [], sources: [], tokens: fixed, counted: "estimated", state, outcome };
}

interface ArrayWork<M extends object> {
  readonly options: CompactMessagesOptions<M>;
  readonly settings: Settings;
  readonly form: Form<M>;
  readonly thread: ArrayThread<M>;
  readonly report: UsageMark | null;
  readonly state: MessagesState;
}

async function compactTurns<M extends object>(work: ArrayWork<M>): Promise<Result<M>> {
  const { options, settings, form, thread } = work;
  const { prompt, factor } = await countedPrompt(work);
  let writer: WriterFailure | null = null;
  const on = (event: CompactionEvent): void => {
    if (event.type === "summary-failed") writer = { reason: event.reason, detail: event.detail };
    options.onEvent?.(event);
  };
  const compactor = createCompactor({
    thread,
    prompt,
    writer: settings.writer,
    archive: null,
    window: () => settings.window,
    originals: () => ({ ...NOWHERE, finder: options.originals ?? null }),
    policy: settings.policy,
    prune: settings.prune,
    quotes: async (seqs) => seqs.filter((seq) => thread.at(seq) !== undefined).map(messageRecord),
    clock: () => new Date(),
    on,
  });
  const { cause = "automatic", focus, signal } = options;
  const given = { focus, signal };
  const outcome = await compactor.compact({ cause, ...given });
  const now = prompt();
  const { messages, sources } = form.sent(now.messages, now.sources);
  const shown = outcome.kind === "compacted" ? { ...outcome, messages, sources } : outcome;
  return {
    messages,
    sources,
    tokens: now.count.tokens,
    counted: now.count.source,
    state: stateAfter(work, { prompt: now, messages, factor: factor() }),
    outcome: { ...shown, writer },
  };
}

const MODEL = "model";

async function countedPrompt<M extends object>({ settings, form, thread, report, state }: ArrayWork<M>) {
  const { shape, rules } = form;
  const { count, prior = 1, ...rest } = settings.counter;
  const { frame, imageRule } = rest;
  const meter = createMeter(shape, { counter: count, frame, imageRule });
  const shown = thread.view().map(({ message }) => message);
  await inTurns(meter.steps(shown));
  const sizer = createSizer({ shape, rules, meter, fixed: fixedSize({ base: settings.fixed }) });
  const prompt = livePrompt(thread, sizer);
  const measured = { ...shownAt(thread), promptHash: null };
  const account = resumeAccount(report === null ? [] : [{ ...report, model: MODEL, measured }], {
    prompt: sizeOf(prompt()),
    factors: { [MODEL]: state.factor },
    priorOf: () => prior,
    window: settings.window.size,
  });
  sizer.countOn({ account, model: MODEL, prior });
  return { prompt, factor: () => account.factors[MODEL] ?? 1 };
}

/** The report just given, on the call whose answer it names; else the one that the state remembers. */
function reportOf<M extends object>(
  { usage }: CompactMessagesOptions<M>,
  { messages, form, thread, state }: Pick<ArrayWork<M>, "form" | "thread" | "state"> & { messages: readonly M[] },
): UsageMark | null {
  if (usage == null) return thread.report();
  const { shape } = form;
  const of =
    usage.of === undefined
      ? thread.last((message) => shape.role(message) === "assistant")
      : thread.seqOf(form.turnOf(messages, usage.of));
  if (of === null || of <= state.hidden.count) return null;
  return { of, input: usage.input, output: usage.output, hash: thread.markTo(of - 1).hash };
}

function stateAfter<M extends object>(
  { form, thread, report, state }: ArrayWork<M>,
  { prompt, messages, factor }: { prompt: Prompt<M>; messages: readonly M[]; factor: number },
): MessagesState {
  const { compaction, prunes } = thread.live();
  const hidden = compaction?.covers[1] ?? 0;
  const visible = prunes.filter(({ entries }) => entries.some(({ target }) => thread.isVisible(target)));
  const reach = visible.flatMap(({ entries }) => entries.map(({ target }) => target));
  // A report says nothing of another view.
  const isSameView = compaction === thread.given.compaction && prunes === thread.given.prunes;
  return {
    v: STATE_VERSION,
    compaction,
    prunes: visible,
    hidden: hidden === state.hidden.count ? state.hidden : thread.markTo(hidden),
    pruned: reach.length === 0 ? null : thread.markTo(reach.reduce((last, target) => Math.max(last, target), hidden)),
    said: thread.markTo(thread.head().messages),
    sent: { ...markOf(messages, form.shape), before: standingBefore(prompt) },
    report: isSameView ? report : null,
    factor,
  };
}

/** How many of the messages sent stand for what is hidden; null where a repair has joined one of them with what was said. */
function standingBefore<M>({ entries, messages }: Prompt<M>): number | null {
  const before = entries.filter(({ source }) => source !== "message");
  const isApart = before.every(({ addition, sent }, index) => addition === null && messages[index] === sent);
  return isApart ? before.length : null;
}

// An array and its state as a thread that the compactor can work on. A record's number is the number of
// messages it was made after, so that records and messages are both places in the array.

interface ArrayThread<M> extends ThreadLog<M> {
  /** The records it began with. */
  readonly given: LiveRecords;
  /** The message of a place; undefined where the array doesn't have it. */
  at(seq: number): M | undefined;
  /** The place of the array's message at this place. */
  seqOf(place: number): number;
  /** The place of the last such message; null when there is none. */
  last(is: (message: M) => boolean): number | null;
  isVisible(seq: number): boolean;
  markTo(seq: number): Mark;
  /** The report that the state remembers, if it still stands. */
  report(): UsageMark | null;
}

function arrayThread<M extends object>(
  turns: readonly M[],
  shape: Shape<M>,
  state: MessagesState,
  { begins, pins }: { readonly begins: "whole" | "compacted"; readonly pins: readonly number[] },
): ArrayThread<M> {
  const seats = begins === "compacted" ? compactedSeats(turns, state) : wholeSeats(turns, state);
  const marks = begins === "compacted" ? null : marksOf(turns, shape);
  const prunes = marks === null ? [] : standingPrunes(state, marks);
  const { compaction } = state;
  const all = seats.shown.map(messageRecord);
  const whole: LiveRecords = { ...NOTHING_LIVE, tail: all, prunes };
  const live = compaction === null ? whole : liveAfter(whole, compaction);
  const head = {
    ...emptyHead(NO_THREAD.createdAt),
    version: seats.last,
    messages: seats.last,
    compaction: compaction?.seq ?? null,
    hiddenThrough: state.hidden.count,
    prunes: prunes.map(({ seq }) => seq),
    pins,
  };
  const original = ({ seq }: MessageRecord): M => seats.at(seq)!;
  const thread = threadInMemory({
    header: NO_THREAD,
    shape,
    head,
    live,
    original,
    nextSeq: () => seats.last,
  });
  /** An array that begins with what was given back goes on from the hidden messages' own mark. */
  const markTo = (seq: number): Mark | null => {
    if (marks !== null) return marks.to(seq);
    const { count } = state.hidden;
    if (seq > seats.last) return null;
    const said = Array.from({ length: Math.max(0, seq - count) }, (_, index) => seats.at(count + 1 + index)!);
    return markOf(said, shape, state.hidden);
  };
  return {
    ...thread,
    given: live,
    at: seats.at,
    seqOf: (place) => place + seats.shift,
    last: (is) => seats.shown.findLast((seq) => is(seats.at(seq)!)) ?? null,
    isVisible(seq) {
      const { compaction } = thread.live();
      if (compaction === null || seq > compaction.covers[1]) return true;
      return seq === compaction.request || compaction.systems.includes(seq);
    },
    markTo: (seq) => markTo(seq) ?? NO_MESSAGES,
    report: () => standingReport(state, markTo),
  };
}

/** Its body is never read: the array has the message. */
function messageRecord(seq: number): MessageRecord {
  const common = { v: FORMAT_VERSION, seq, at: NO_THREAD.createdAt, runId: null } as const;
  return { ...common, kind: "message", id: `m${seq}`, dialect: "openai", origin: "import", body: "" };
}

/** Which message has which place. */
interface Seats<M> {
  /** Those that aren't hidden for good. */
  readonly shown: readonly number[];
  readonly last: number;
  /** What a place in the array is moved by. */
  readonly shift: number;
  at(seq: number): M | undefined;
}

function wholeSeats<M>(turns: readonly M[], { compaction }: MessagesState): Seats<M> {
  const hidden = compaction?.covers[1] ?? 0;
  const standing =
    compaction === null ? [] : [...compaction.systems, ...(compaction.request === null ? [] : [compaction.request])];
  const before = [...new Set(standing)].filter((seq) => seq <= hidden).sort((one, other) => one - other);
  const tail = Array.from({ length: turns.length - hidden }, (_, index) => hidden + 1 + index);
  return { shown: [...before, ...tail], last: turns.length, shift: 0, at: (seq) => turns[seq - 1] };
}

/**
 * The array begins with what was given back: system messages that stand, the summary, its acknowledgement, the request,
 * then what was said after the hidden messages. Those go on with the numbers they had.
 */
function compactedSeats<M>(turns: readonly M[], state: MessagesState): Seats<M> {
  const { compaction, hidden, sent } = state;
  if (compaction === null || sent.before === null) return wholeSeats(turns, state);
  const { before } = sent;
  const shift = hidden.count - before;
  const systems = new Map(compaction.systems.map((seq, index) => [seq, index]));
  if (compaction.request !== null) systems.set(compaction.request, before - 1);
  const tail = Array.from({ length: turns.length - before }, (_, index) => hidden.count + 1 + index);
  return {
    shown: [...[...systems.keys()].sort((one, other) => one - other), ...tail],
    last: turns.length + shift,
    shift,
    at: (seq) => turns[seq > hidden.count ? seq - shift - 1 : (systems.get(seq) ?? -1)],
  };
}
