/**
 * What a caller keeps beside his array: what is hidden and shortened in it, what it was made from, and what was learned from
 * the provider's reports. Plain JSON. It says by itself whether an array is the one it was made for.
 */
import { PalimpsestError } from "@palimpsest/core/errors";
import type { CompactionRecord, PruneRecord } from "@palimpsest/core/log";
import type { Shape } from "@palimpsest/core/message";
import { type Mark, type Marks, markOf, marksOf, NO_MESSAGES } from "./mark.ts";

export const STATE_VERSION = 1;

/** Sources in it are places in the array, from 1; of a flat list of Responses items, places of its turns. */
export interface MessagesState {
  readonly v: typeof STATE_VERSION;
  readonly compaction: CompactionRecord | null;
  readonly prunes: readonly PruneRecord[];
  /** The messages that the compaction covers: an array that begins otherwise is another one. */
  readonly hidden: Mark;
  /** The messages up to the last one that is shortened; null without one. */
  readonly pruned: Mark | null;
  /** All messages it was made from. */
  readonly said: Mark;
  /** The messages that were given back, so that an array that goes on from them is known. */
  readonly sent: SentMark;
  /** The newest report on a prompt of this state. */
  readonly report: UsageMark | null;
  /** Reported tokens per counted one, as learned so far. */
  readonly factor: number;
}

interface SentMark extends Mark {
  /** How many turns of them stand before the first one that was said after the hidden ones; null: they can't be told apart. */
  readonly before: number | null;
}

/** What a provider reported: `input` is the whole prompt, cached part included. */
export interface MessagesUsage {
  readonly input: number;
  readonly output: number;
}

export interface UsageMark extends MessagesUsage {
  /** The place of the answer. */
  readonly of: number;
  /** Of the messages before it. */
  readonly hash: string;
}

/** The state is no state of this array, or no state that this version reads. */
export class StateMismatchError extends PalimpsestError<"other-messages" | "other-version"> {
  static override readonly kind = "StateMismatchError";
}

/** What an array is to a state. `compacted`: it goes on from what was given back, not from the whole conversation. */
export type Recognized = "new" | "grown" | "compacted" | "foreign";

/** Refuses what can't be read: believing half of a state would hide messages that nothing stands for. */
export function checkState(state: unknown): void {
  const version = (state as { readonly v?: unknown } | null)?.v;
  if (version === STATE_VERSION) return;
  const found = version === undefined ? "has no version" : `is of version ${JSON.stringify(version)}`;
  throw new StateMismatchError(
    "other-version",
    `the state ${found}, and this program reads version ${STATE_VERSION}: leave it out, and the array is compacted anew; nothing in it is lost`,
  );
}

/** `turns` are the messages as their shape reads them; what is added to a flat list may still belong to its last turn. */
export function recognize<M extends object>(
  state: MessagesState | null,
  { messages, turns }: { readonly messages: readonly M[]; readonly turns: readonly M[] },
  shape: Shape<M>,
): Recognized {
  if (state === null) return "new";
  if (begins(marksOf(turns, shape), state.hidden)) return asksVisibly(state, turns, shape) ? "grown" : "foreign";
  const { count, hash } = state.sent;
  const goesOn = messages.length >= count && markOf(messages.slice(0, count), shape).hash === hash;
  return goesOn ? "compacted" : "foreign";
}

export function foreignMessages({ hidden }: MessagesState): StateMismatchError {
  return new StateMismatchError(
    "other-messages",
    `the state was made from another array: its first ${hidden.count} messages are not those of this one, or nothing was asked after them. ` +
      'Give the state of this array, none, or onMismatch: "reset"',
  );
}

function begins(marks: Marks, { count, hash }: Mark): boolean {
  return marks.to(count)?.hash === hash;
}

/** An array that was cut back may end inside what is hidden: then its last question would be. */
function asksVisibly<M extends object>({ compaction, hidden }: MessagesState, turns: readonly M[], shape: Shape<M>) {
  if (compaction === null) return true;
  const last = turns.findLastIndex((turn) => shape.role(turn) === "user") + 1;
  return turns.length > hidden.count && (last === 0 || last > hidden.count || last === compaction.request);
}

/** Prunes that the array no longer bears out are left out: it then shows more, and nothing is wrong. */
export function standingPrunes({ pruned, prunes }: MessagesState, marks: Marks): readonly PruneRecord[] {
  return pruned !== null && begins(marks, pruned) ? prunes : [];
}

/** So is a report on messages that were edited since. */
export function standingReport(
  { report, hidden }: MessagesState,
  markTo: (count: number) => Mark | null,
): UsageMark | null {
  if (report === null || report.of <= hidden.count) return null;
  return markTo(report.of - 1)?.hash === report.hash ? report : null;
}

export const EMPTY_STATE: MessagesState = {
  v: STATE_VERSION,
  compaction: null,
  prunes: [],
  hidden: NO_MESSAGES,
  pruned: null,
  said: NO_MESSAGES,
  sent: { ...NO_MESSAGES, before: 0 },
  report: null,
  factor: 1,
};
