/**
 * The job of writing a summary for one cut: the hidden messages as they were given, the summary so far, what is quoted,
 * the state that is frozen into it, and how long it may be. The same at the trigger and for a draft ahead of it.
 */
import type { Cut, Policy } from "@palimpsest/core/compaction";
import { behindSummary, type Covered, coveredBy, quote } from "@palimpsest/core/internal/compaction";
import { sizesOf } from "@palimpsest/core/internal/prompt";
import { NOWHERE, ownText, quotable, quoteWork, wordRoom } from "@palimpsest/core/internal/summary";
import type { MessageRecord } from "@palimpsest/core/log";
import type { Prompt } from "@palimpsest/core/prompt";
import type { Originals, Pin } from "@palimpsest/core/summary";
import type { Store } from "../stores/store.ts";
import type { Conversation } from "../thread/conversation.ts";
import type { DraftTable } from "./draft-table.ts";
import type { OnCompactionEvent } from "./events.ts";
import { stateLines } from "./state-lines.ts";
import type { SummaryJob } from "./summary-writer.ts";

export interface SummaryJobOptions<M> {
  readonly conversation: Conversation<M>;
  readonly policy: Policy;
  readonly quotes: QuoteSource;
  readonly originals?: () => Originals;
  readonly background?: { readonly table: DraftTable } | null;
  readonly on: OnCompactionEvent;
}

export async function summaryJob<M>(
  cut: Cut,
  { conversation, policy, quotes, originals, background, on }: SummaryJobOptions<M>,
  prompt: Prompt<M>,
  focus: string | null,
): Promise<SummaryJob<M>> {
  const { shape, original } = conversation;
  const sizes = sizesOf(prompt);
  const covered = coveredBy(conversation.live(), cut, { shape, original, state: await conversation.state() });
  const count = sizes.text;
  const loaded = await quotedMessages(covered, conversation, quotes);
  const pins = gatherPins(covered, conversation, loaded);
  const text = (seq: number, part: number): string | null => {
    const message = loaded.get(seq);
    const written = message === undefined ? null : ownText(shape.parts(message)[part]);
    return written === null || covered.own.shown.includes(written) ? null : written;
  };
  const work = quoteWork(covered.own.hidden, {
    maxTokens: cut.quoteTokens,
    count,
    text: ({ seq, part }) => text(seq, part),
  });
  const lines = stateLines(conversation.head().state);
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
  conversation: Conversation<M>,
  read: QuoteSource,
): Promise<ReadonlyMap<number, M>> {
  const loaded = new Map(covered.entries.map(({ seq, message }) => [seq, message]));
  const written = quotable(covered.own.hidden).map(({ seq }) => seq);
  const wanted = new Set([...pinnedTurns(covered, conversation), ...written]);
  for (const record of await read([...wanted].filter((seq) => !loaded.has(seq)))) {
    loaded.set(record.seq, conversation.original(record));
  }
  return loaded;
}

/** What stands verbatim in a summary: messages a person pinned, then the user's own words, newest first. */
function gatherPins<M>(
  covered: Covered<M>,
  conversation: Conversation<M>,
  loaded: ReadonlyMap<number, M>,
): readonly Pin[] {
  return pinnedTurns(covered, conversation).flatMap((seq) => {
    const message = loaded.get(seq);
    return message === undefined ? [] : [quote(seq, message, conversation.shape)];
  });
}

function pinnedTurns<M>({ entries, userTurns }: Covered<M>, conversation: Conversation<M>): readonly number[] {
  const last = entries.at(-1)?.seq ?? 0;
  const pinned = conversation.head().pins.filter((seq) => seq <= last);
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
