/**
 * The prompt is a view: a pure fold over the live records of a thread. A compaction shows its summary in place of what it
 * hides, prunes show their replacements, a fold one turn for a range in the middle, evidence is shown with the question it
 * was added to, everything else is verbatim. Standing rules stand before the summary, where no rung sheds them.
 * This file decides what stands in the view and in which order; making it acceptable to a provider is `message/repair.ts`.
 */
import type { Shape } from "../message/shape.ts";
import { timePassed } from "../text/names.ts";
import { applyPrunes, editedText, foldedTail, SUMMARY_END, summaryEdits } from "./apply-prune.ts";
import { isRequest } from "./folds.ts";
import type { CompactionRecord, EvidenceRecord, MessageRecord, PruneRecord, Range, StoredSummary } from "./record.ts";
import { type RuleList, rulesToShow, withoutEnded, withRules } from "./rules.ts";

/** What a load brings: the live structure and the messages it leaves visible. */
export interface LiveRecords {
  readonly compaction: CompactionRecord | null;
  /** Hidden messages that still stand: hoisted system messages, and the request when the cut lies inside its turn. */
  readonly systems: readonly MessageRecord[];
  readonly request: MessageRecord | null;
  /** Live prunes in order; a later one wins over an earlier one on the same part. */
  readonly prunes: readonly PruneRecord[];
  readonly evidence: readonly EvidenceRecord[];
  /** The thread's rules; the view shows those in force, and drops from summaries the words of those that ended. */
  readonly rules: RuleList;
  /** Every message after the hidden range. */
  readonly tail: readonly MessageRecord[];
}

export type ViewSource = "system" | "rules" | "summary" | "acknowledgement" | "request" | "fold" | "message";

/** Where a message that is sent begins; `added`: it stands only because a provider wants it so. */
export type MessageSource = ViewSource | "added";

export interface ViewEntry<M> {
  readonly source: ViewSource;
  /** The message record it shows; null for what no one said: rules, the summary and its acknowledgement, a fold. */
  readonly seq: number | null;
  readonly message: M;
  /** Text that others added to the turn: evidence, the digest after a collapse. Sent with it, never pruned in it. */
  readonly addition: string | null;
  /** Of a fold: the messages it stands for. */
  readonly folded?: Range;
}

export const ACKNOWLEDGEMENT = "Understood. I have the record of what came before and will go on from here.";

export interface ViewOptions<M> {
  readonly shape: Shape<M>;
  /** Parses a body into the shape's message; the caller may cache, so that an unchanged message stays the same object. */
  readonly read: (record: MessageRecord) => M;
  /** `behind-summary`: hours that passed are told only after something was hidden. */
  readonly times?: "behind-summary" | undefined;
}

export function view<M>(live: LiveRecords, options: ViewOptions<M>): ViewEntry<M>[] {
  const { shape } = options;
  const visible = visibleMessage(live, options);
  const systems = live.systems.map((record): ViewEntry<M> => ({ source: "system", ...visible(record) }));
  const said = (record: MessageRecord, index: number): ViewEntry<M> => {
    return { source: "message", ...visible(record, live.tail[index - 1]) };
  };
  const made = (source: ViewSource, text: string) => madeUp(source, shape.turn("user", text), shape);
  const tail = live.prunes.length === 0 ? live.tail.map(said) : foldedTail(live, { shape, said, made });
  const rules = live.rules.list.length === 0 ? [] : rulesToShow(live).map((text) => made("rules", text));
  if (live.compaction === null) return [...systems, ...(rules.length === 0 ? tail : withRules(tail, rules, shape))];

  const { summary } = live.compaction;
  const standing = live.request === null ? [] : [withDigest(visible(live.request), summary.digest)];
  const request = standing.map((entry): ViewEntry<M> => ({ source: "request", ...entry }));
  const orphanDigest = request.length === 0 && summary.digest !== null ? `\n\n${summary.digest}` : "";
  const turn = shape.turn(summary.format === "system" ? "system" : "user", ended(live, summary, orphanDigest));
  const rest = [...request, ...tail];
  return [
    ...systems,
    ...rules,
    madeUp("summary", turn, shape),
    ...(summary.format === "pair" ? acknowledgement(rest, shape) : []),
    ...rest,
  ];
}

/** As it is shown: with what people changed of it, and a mark for each rule that ended since. */
export function shownSummary(live: LiveRecords, { text: written }: Pick<StoredSummary, "text">): string {
  const text = live.prunes.length === 0 ? written : editedText(written, summaryEdits(live));
  return live.rules.list.length === 0 ? text : withoutEnded(text, live.rules);
}

function ended(live: LiveRecords, summary: StoredSummary, digest: string): string {
  const { format } = summary;
  const shown = shownSummary(live, summary) + digest;
  return format === "pair" ? shown : `${shown.replaceAll(SUMMARY_END, "(end)")}\n\n${SUMMARY_END}`;
}

/** A turn that no one said. */
function madeUp<M>(source: ViewSource, turn: M, shape: Shape<M>): ViewEntry<M> {
  return { source, seq: null, message: shape.mark?.(turn, "summarization") ?? turn, addition: null };
}

/** The acknowledgement stands exactly when the next message is a user turn, so that roles alternate. */
function acknowledgement<M>(rest: readonly ViewEntry<M>[], shape: Shape<M>): ViewEntry<M>[] {
  const next = rest.find((entry) => shape.role(entry.message) !== "system");
  if (next === undefined || shape.role(next.message) !== "user") return [];
  return [madeUp("acknowledgement", shape.turn("assistant", ACKNOWLEDGEMENT), shape)];
}

type ViewMessage<M> = Omit<ViewEntry<M>, "source">;

export function visibleMessage<M>(live: LiveRecords, { shape, read, times }: ViewOptions<M>) {
  const prunes = Map.groupBy(
    live.prunes.flatMap((prune) => prune.entries),
    (entry) => entry.target,
  );
  const evidence = Map.groupBy(live.evidence, (record) => record.of);
  return (record: MessageRecord, before?: MessageRecord): ViewMessage<M> => {
    const [said, own] = [read(record), prunes.get(record.seq)];
    const message = own === undefined ? said : applyPrunes(said, own, shape);
    const passed = before && (times === undefined || live.compaction) ? timePassed(before, record) : null;
    const time = passed !== null && isRequest(message, shape) ? [passed] : [];
    const additions = [...time, ...(evidence.get(record.seq)?.map(({ text }) => text) ?? [])];
    return { seq: record.seq, message, addition: additions.length === 0 ? null : additions.join("\n\n") };
  };
}

export function withDigest<M>(entry: ViewMessage<M>, digest: string | null): ViewMessage<M> {
  if (digest === null) return entry;
  return { ...entry, addition: entry.addition === null ? digest : `${entry.addition}\n\n${digest}` };
}
