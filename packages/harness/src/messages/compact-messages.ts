/**
 * Compaction for whoever keeps the messages himself, in an array of any provider's format, and has a loop of his own: no
 * store, no agent, and no model unless one is given. The array stays whole and grows; what is hidden in it is said by a
 * small state that the caller keeps beside it, and the prompt is a view made of both.
 */
import type { CompactionOutcome } from "@palimpsest/core/compaction";
import { emptyHead, liveAfter, NOTHING_LIVE } from "@palimpsest/core/internal/log";
import { unreadable } from "@palimpsest/core/internal/message";
import { fixedSize } from "@palimpsest/core/internal/prompt";
import { NOWHERE } from "@palimpsest/core/internal/summary";
import {
  type CompactionRecord,
  FORMAT_VERSION,
  type LiveRecords,
  type MessageRecord,
  type MessageSource,
  type PruneRecord,
} from "@palimpsest/core/log";
import { type Dialect, detectDialect, rulesOf, type Shape, shapeOf } from "@palimpsest/core/message";
import { createSizer } from "@palimpsest/core/prompt";
import { answerReserve, charsPerToken, createMeter } from "@palimpsest/core/tokens";
import { createCompactor } from "../compaction/compactor.ts";
import type { SummaryWriter } from "../compaction/summary-writer.ts";
import { SettingsError, type SummarizationOptions, summarizationFromOptions } from "../config/summarization.ts";
import type { Conversation } from "../threads/conversation.ts";
import { inMemoryConversation, NO_THREAD } from "../threads/in-memory.ts";
import { livePrompt } from "../threads/live-prompt.ts";

export interface CompactMessagesOptions extends SummarizationOptions {
  /** The model's input window in tokens. */
  readonly window: number;
  /** Tokens kept free for the answer. */
  readonly reserve?: number;
  /** Tokens of what is sent beside the messages: tool schemas, a system prompt of its own. */
  readonly fixed?: number;
  /** The `state` of the call before, for the same array with messages added at its end. */
  readonly state?: MessagesState | null;
  /** Counts a text's tokens; by default four characters are one. */
  readonly countTokens?: (text: string) => number;
  /** What finds the hidden messages again, if your agent has it: `find them with ...` says the summary. */
  readonly originals?: string | null;
  /** Writes the summaries; by default they are extracted without a model. */
  readonly writer?: SummaryWriter | null;
  /** Whose messages they are; by default found out. */
  readonly dialect?: Dialect;
  readonly signal?: AbortSignal;
}

/** What is hidden and shortened. Plain JSON; sources in it are places in the array, from 1. */
export interface MessagesState {
  readonly compaction: CompactionRecord | null;
  readonly prunes: readonly PruneRecord[];
}

export interface CompactedMessages<M> {
  /** What to send: valid for its provider and inside the window. */
  readonly messages: readonly M[];
  /** What each of them begins with: the summary, its acknowledgement, one of yours. */
  readonly sources: readonly MessageSource[];
  readonly tokens: number;
  readonly state: MessagesState;
  readonly outcome: CompactionOutcome<M>;
}

/** `messages` is everything ever said. Throws a `FloorError` when nothing fits the window. */
export async function compactMessages<M extends object>(
  messages: readonly M[],
  options: CompactMessagesOptions,
): Promise<CompactedMessages<M>> {
  const { window: size, reserve = answerReserve(size, null), fixed = 0, signal, writer = null } = options;
  const problems = sizeProblems({ window: size, reserve, fixed });
  const unread = options.dialect === undefined ? unreadable(messages) : null;
  if (unread !== null) problems.push(unread);
  if (problems.length > 0) throw new SettingsError(problems);
  const dialect = options.dialect ?? detectDialect(messages).dialect;
  const shape = shapeOf(dialect) as unknown as Shape<M>;
  const conversation = arrayConversation(messages, shape, options.state ?? null);
  const meter = createMeter(shape, { counter: options.countTokens ?? charsPerToken(4) });
  const sizer = createSizer({ shape, rules: rulesOf(dialect), meter, fixed: fixedSize({ base: fixed }) });
  const prompt = livePrompt(conversation, sizer);
  const compactor = createCompactor({
    conversation,
    prompt,
    writer,
    archive: null,
    window: () => ({ size, reserve }),
    originals: () => ({ ...NOWHERE, finder: options.originals ?? null }),
    policy: summarizationFromOptions(options).policy,
    prune: null,
    quotes: async (seqs) => seqs.filter((seq) => seq <= messages.length).map((seq) => recordOf(seq, dialect)),
    clock: () => new Date(),
    on: () => {},
  });
  const given = signal === undefined ? {} : { signal };
  const outcome = await compactor.compact({ cause: "automatic", ...given });
  const { compaction, prunes } = conversation.live();
  const { messages: shown, sources, sentTokens } = prompt();
  return { messages: shown, sources, tokens: fixed + sentTokens, state: { compaction, prunes }, outcome };
}

function sizeProblems({ window, reserve, fixed }: Record<"window" | "reserve" | "fixed", number>): string[] {
  return [
    ...(window > 0 && Number.isFinite(window) ? [] : [`window ${window} must be a number of tokens above 0`]),
    ...(reserve >= 0 && reserve < window
      ? []
      : [`reserve ${reserve} must be from 0 to less than the window, ${window}`]),
    ...(fixed >= 0 ? [] : [`fixed ${fixed} must be 0 or more tokens`]),
  ];
}

/** A record's number is the number of messages it was made after, so that both are places in the array. */
function arrayConversation<M>(messages: readonly M[], shape: Shape<M>, state: MessagesState | null): Conversation<M> {
  const live = liveFrom(messages.length, shape.dialect as Dialect, state);
  const head = {
    ...emptyHead(NO_THREAD.createdAt),
    version: messages.length,
    messages: messages.length,
    compaction: live.compaction?.seq ?? null,
    hiddenThrough: live.compaction?.covers[1] ?? 0,
    prunes: live.prunes.map(({ seq }) => seq),
  };
  const original = ({ seq }: MessageRecord): M => messages[seq - 1]!;
  return inMemoryConversation({ header: NO_THREAD, shape, head, live, original, nextSeq: () => messages.length });
}

function liveFrom(count: number, dialect: Dialect, state: MessagesState | null): LiveRecords {
  const all = Array.from({ length: count }, (_, index) => recordOf(index + 1, dialect));
  const whole: LiveRecords = { ...NOTHING_LIVE, tail: all, prunes: state?.prunes ?? [] };
  return state?.compaction == null ? whole : liveAfter(whole, state.compaction);
}

/** Its body is never read: the array has the message. */
function recordOf(seq: number, dialect: Dialect): MessageRecord {
  const common = { v: FORMAT_VERSION, seq, at: NO_THREAD.createdAt, runId: null } as const;
  return { ...common, kind: "message", id: `m${seq}`, dialect, origin: "import", body: "" };
}
