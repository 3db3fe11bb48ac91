/**
 * An array and its state as a conversation that the compactor can work on. A record's number is the number of messages it
 * was made after, so that records and messages are both places in the array.
 */
import { emptyHead, liveAfter, NOTHING_LIVE } from "@palimpsest/core/internal/log";
import { FORMAT_VERSION, type LiveRecords, type MessageRecord } from "@palimpsest/core/log";
import type { Shape } from "@palimpsest/core/message";
import type { Conversation } from "../thread/conversation.ts";
import { inMemoryConversation, NO_THREAD } from "../thread/in-memory.ts";
import { type Mark, markOf, marksOf, NO_MESSAGES } from "./mark.ts";
import { type MessagesState, standingPrunes, standingReport, type UsageMark } from "./state.ts";

export interface ArrayConversation<M> extends Conversation<M> {
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

export function arrayConversation<M extends object>(
  turns: readonly M[],
  shape: Shape<M>,
  state: MessagesState,
  { begins, pins }: { readonly begins: "whole" | "compacted"; readonly pins: readonly number[] },
): ArrayConversation<M> {
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
  const conversation = inMemoryConversation({
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
    ...conversation,
    given: live,
    at: seats.at,
    seqOf: (place) => place + seats.shift,
    last: (is) => seats.shown.findLast((seq) => is(seats.at(seq)!)) ?? null,
    isVisible(seq) {
      const { compaction } = conversation.live();
      if (compaction === null || seq > compaction.covers[1]) return true;
      return seq === compaction.request || compaction.systems.includes(seq);
    },
    markTo: (seq) => markTo(seq) ?? NO_MESSAGES,
    report: () => standingReport(state, markTo),
  };
}

/** Its body is never read: the array has the message. */
export function messageRecord(seq: number): MessageRecord {
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
