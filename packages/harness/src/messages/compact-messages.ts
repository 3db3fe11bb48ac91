/**
 * Compaction for whoever keeps the messages himself, in an array of any provider's format, and has a loop of his own: no
 * store, no agent, and no model unless one is given. The array stays whole and grows; what is hidden in it is said by a
 * small state that the caller keeps beside it, and the prompt is a view made of both.
 */
import type { CompactionOutcome } from "@palimpsest/core/compaction";
import { fixedSize, sizeOf } from "@palimpsest/core/internal/prompt";
import { NOWHERE } from "@palimpsest/core/internal/summary";
import { resumeAccount } from "@palimpsest/core/internal/tokens";
import type { MessageSource } from "@palimpsest/core/log";
import { createSizer, type Prompt } from "@palimpsest/core/prompt";
import { type CountSource, createMeter } from "@palimpsest/core/tokens";
import { createCompactor } from "../compaction/compactor.ts";
import type { CompactionEvent } from "../compaction/events.ts";
import { unchanged } from "../compaction/outcome-words.ts";
import { livePrompt, shownAt } from "../thread/live-prompt.ts";
import { type ArrayConversation, arrayConversation, messageRecord } from "./array-conversation.ts";
import { type Form, formOf } from "./form.ts";
import { markOf } from "./mark.ts";
import { type CompactMessagesOptions, type Settings, settingsOf } from "./options.ts";
import {
  checkState,
  EMPTY_STATE,
  foreignMessages,
  type MessagesState,
  type Recognized,
  recognize,
  STATE_VERSION,
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
  const turns = form.turns(messages);
  const given = options.state ?? null;
  if (given !== null) checkState(given);
  const recognized = recognize(given, { messages, turns }, form.shape);
  if (recognized === "foreign" && options.onMismatch !== "reset") throw foreignMessages(given!);
  const isAnew = recognized === "foreign" || (recognized === "compacted" && given?.sent.before === null);
  const state = isAnew || given === null ? EMPTY_STATE : given;
  const conversation = arrayConversation(turns, form.shape, state, {
    begins: recognized === "compacted" && !isAnew ? "compacted" : "whole",
    pins: (options.pins ?? []).map((place) => form.turnOf(messages, place)),
  });
  const report = reportOf(options, { messages, form, conversation, state });
  const result =
    turns.length === 0
      ? nothingSaid<M>(settings, { ...state, report: null })
      : await compactTurns<M>({ options, settings, form, conversation, report, state });
  return { ...result, recognized };
}

type Result<M> = Omit<CompactedMessages<M>, "recognized">;

function nothingSaid<M>({ fixed }: Settings, state: MessagesState): Result<M> {
  const outcome = { ...unchanged("below-trigger", fixed), writer: null };
  return { messages: [], sources: [], tokens: fixed, counted: "estimated", state, outcome };
}

interface Work<M extends object> {
  readonly options: CompactMessagesOptions<M>;
  readonly settings: Settings;
  readonly form: Form<M>;
  readonly conversation: ArrayConversation<M>;
  readonly report: UsageMark | null;
  readonly state: MessagesState;
}

async function compactTurns<M extends object>(work: Work<M>): Promise<Result<M>> {
  const { options, settings, form, conversation } = work;
  const { prompt, factor } = countedPrompt(work);
  let writer: WriterFailure | null = null;
  const on = (event: CompactionEvent): void => {
    if (event.type === "summary-failed") writer = { reason: event.reason, detail: event.detail };
    options.onEvent?.(event);
  };
  const compactor = createCompactor({
    conversation,
    prompt,
    writer: settings.writer,
    archive: null,
    window: () => settings.window,
    originals: () => ({ ...NOWHERE, finder: options.originals ?? null }),
    policy: settings.policy,
    prune: settings.prune,
    quotes: async (seqs) => seqs.filter((seq) => conversation.at(seq) !== undefined).map(messageRecord),
    clock: () => new Date(),
    on,
  });
  const { cause = "automatic", focus, signal } = options;
  const given = { ...(focus !== undefined && { focus }), ...(signal !== undefined && { signal }) };
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

function countedPrompt<M extends object>({ settings, form, conversation, report, state }: Work<M>) {
  const { shape, rules } = form;
  const { count, prior = 1, ...rest } = settings.counter;
  const { frame, imageRule } = rest;
  const meter = createMeter(shape, { counter: count, ...(frame && { frame }), ...(imageRule && { imageRule }) });
  const sizer = createSizer({ shape, rules, meter, fixed: fixedSize({ base: settings.fixed }) });
  const prompt = livePrompt(conversation, sizer);
  const measured = { ...shownAt(conversation), promptHash: null };
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
  {
    messages,
    form,
    conversation,
    state,
  }: Pick<Work<M>, "form" | "conversation" | "state"> & { messages: readonly M[] },
): UsageMark | null {
  if (usage == null) return conversation.report();
  const { shape } = form;
  const of =
    usage.of === undefined
      ? conversation.last((message) => shape.role(message) === "assistant")
      : conversation.seqOf(form.turnOf(messages, usage.of));
  if (of === null || of <= state.hidden.count) return null;
  return { of, input: usage.input, output: usage.output, hash: conversation.markTo(of - 1).hash };
}

function stateAfter<M extends object>(
  { form, conversation, report, state }: Work<M>,
  { prompt, messages, factor }: { prompt: Prompt<M>; messages: readonly M[]; factor: number },
): MessagesState {
  const { compaction, prunes } = conversation.live();
  const hidden = compaction?.covers[1] ?? 0;
  const visible = prunes.filter(({ entries }) => entries.some(({ target }) => conversation.isVisible(target)));
  const reach = visible.flatMap(({ entries }) => entries.map(({ target }) => target));
  // A report says nothing of another view.
  const isSameView = compaction === conversation.given.compaction && prunes === conversation.given.prunes;
  return {
    v: STATE_VERSION,
    compaction,
    prunes: visible,
    hidden: hidden === state.hidden.count ? state.hidden : conversation.markTo(hidden),
    pruned: reach.length === 0 ? null : conversation.markTo(Math.max(hidden, ...reach)),
    said: conversation.markTo(conversation.head().messages),
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
