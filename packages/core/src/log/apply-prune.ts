/** What prunes show: a message with parts replaced, one turn in the place of a folded range, a summary that people edited. */
import type { Part, Shape } from "../message/shape.ts";
import type { MessageRecord, PruneEntry, Range } from "./record.ts";
import { withoutEnded } from "./rules.ts";
import type { LiveRecords, ViewEntry } from "./view.ts";

/** What each last entry made of which message: the pruned one stays the same object, so that counts of it stay cached. */
const pruned = new WeakMap<PruneEntry, { readonly from: unknown; readonly count: number; readonly to: unknown }>();

/** The message with one part's content replaced. Pairing can't break: a call stays a call, a result stays a result. */
export function applyPrune<M>(message: M, entry: PruneEntry, shape: Shape<M>): M {
  return applyPrunes(message, [entry], shape);
}

/** The same with several entries of one message, the later on top of the earlier. */
export function applyPrunes<M>(message: M, entries: readonly PruneEntry[], shape: Shape<M>): M {
  const last = entries.at(-1);
  if (last === undefined) return message;
  const known = pruned.get(last);
  if (known?.from === message && known.count === entries.length) return known.to as M;
  const to = withReplacements(message, entries, shape);
  pruned.set(last, { from: message, count: entries.length, to });
  return to;
}

function withReplacements<M>(message: M, entries: readonly PruneEntry[], shape: Shape<M>): M {
  const parts = [...shape.parts(message)];
  const replaced = new Map<number, Part>();
  for (const { part: index, replacement } of entries) {
    const part = parts[index];
    if (part === undefined) continue;
    parts[index] = withReplacement(part, replacement);
    replaced.set(index, parts[index]);
  }
  if (shape.withParts !== undefined) return shape.withParts(message, replaced);
  return [...replaced].reduce((one, [index, part]) => shape.withPart(one, index, part), message);
}

function withReplacement(part: Part, replacement: string): Part {
  switch (part.kind) {
    case "text":
    case "image":
    case "file":
      return { kind: "text", text: replacement };
    case "reasoning":
      return part.signature === null ? { ...part, text: replacement } : part;
    case "call":
      return { ...part, input: replacement };
    case "result":
      return { ...part, text: replacement, images: [] };
    case "other":
      return part;
  }
}

/** A fold that is shown: the range it leaves out and the words that stand for it. */
export interface Fold {
  readonly range: Range;
  readonly text: string;
  /** Whether somebody wrote it: then it stands in later summaries word for word. */
  readonly reason: PruneEntry["reason"];
}

/**
 * The folds that the view shows, by their place: those whose range lies whole behind what a compaction hides. Where two
 * ranges meet, as they can after undo and redo, the newer record holds.
 */
export function shownFolds({ prunes, compaction }: Pick<LiveRecords, "prunes" | "compaction">): readonly Fold[] {
  const folds: Fold[] = [];
  const hiddenThrough = compaction?.covers[1] ?? 0;
  for (const { entries } of prunes.toReversed())
    for (const { from, target, replacement, reason } of entries) {
      if (from === undefined || from <= hiddenThrough) continue;
      if (folds.some(({ range: [first, last] }) => from <= last && target >= first)) continue;
      folds.push({ range: [from, target], text: replacement, reason });
    }
  return folds.sort((one, other) => one.range[0] - other.range[0]);
}

interface Making<M> {
  readonly shape: Shape<M>;
  readonly said: (record: MessageRecord, index: number) => ViewEntry<M>;
  readonly made: (source: "fold", text: string) => ViewEntry<M>;
}

/** The tail with a turn for each folded range. System messages in it stay: they are never summarized away. */
export function foldedTail<M>(live: LiveRecords, { shape, said, made }: Making<M>): ViewEntry<M>[] {
  const folds = [...shownFolds(live)];
  return live.tail.flatMap((record, index): ViewEntry<M>[] => {
    while (folds[0] !== undefined && folds[0].range[1] < record.seq) folds.shift();
    const entry = said(record, index);
    const fold = folds[0];
    if (fold === undefined || record.seq < fold.range[0]) return [entry];
    const shown = shape.role(entry.message) === "system" ? [entry] : [];
    const next = live.tail[index + 1];
    const isLast = next === undefined || next.seq > fold.range[1];
    return isLast ? [...shown, { ...made("fold", withoutEnded(fold.text, live.rules)), folded: fold.range }] : shown;
  });
}

/** The original tail without hidden parts. What a fold stands for is in it: a summary is written of that, not of an extract. */
export function chosenTail<M>(
  live: LiveRecords,
  { shape, original }: { readonly shape: Shape<M>; readonly original: (record: MessageRecord) => M },
): { readonly seq: number; readonly message: M }[] {
  const hides = live.prunes.flatMap(({ entries }) => entries.filter(({ reason }) => reason === "hidden"));
  return live.tail.map((record) => {
    const own = hides.filter(({ target }) => target === record.seq);
    return { seq: record.seq, message: applyPrunes(original(record), own, shape) };
  });
}

/*
 * The text of a summary as the view shows it: with what people changed, without the words of rules that ended. An edit is
 * an entry of a prune record that names the compaction it is for, so it can be undone alone and the compaction stays as it
 * was written; of several edits of one item the newest that stands holds. `summary/state.ts` applies them to the typed state.
 */

/**
 * Ends a summary that shares its message with others: the user's next words, where roles must alternate, or further
 * system messages. Without it they would read as part of the record.
 */
export const SUMMARY_END = "(End of the summary. The conversation goes on from here.)";

export interface SummaryEdit {
  /** The item's id in the typed summary. */
  readonly item: string;
  /** Of the typed summary: where the item stands in it. */
  readonly section: string;
  /** Its text as the compaction has it; null for an item that a person added. */
  readonly was: string | null;
  /** The heading it stands under. */
  readonly heading: string;
}

export interface ShownEdit extends SummaryEdit {
  /** Empty: the item is deleted. */
  readonly text: string;
}

/** The edits of the live summary, one for each item. What a redaction blanked is left out. */
export function summaryEdits({ compaction, prunes }: Pick<LiveRecords, "compaction" | "prunes">): readonly ShownEdit[] {
  const edits = new Map<string, ShownEdit>();
  for (const { entries } of prunes)
    for (const { target, part, replacement, edit } of entries)
      if (edit !== undefined && target === compaction?.seq && part >= 0)
        edits.set(edit.item, { ...edit, text: replacement });
  return [...edits.values()];
}

/** Whether an entry changes a summary; its target is then no message. */
export function isEdit({ edit }: Pick<PruneEntry, "edit">): boolean {
  return edit !== undefined;
}

export function editedText(text: string, edits: readonly ShownEdit[]): string {
  return edits.reduce(withEdit, text);
}

function withEdit(text: string, { was, heading, text: now }: ShownEdit): string {
  const lines = text.split("\n");
  const at = was === null ? -1 : lines.findIndex((line) => isLineOf(line, was));
  if (at < 0) return now === "" ? text : withLine(lines, heading, `- ${now}`);
  const line = lines[at]!;
  if (now !== "") return lines.with(at, line.startsWith("- ") ? `- ${now}` : now).join("\n");
  // A heading that has lost its only line goes with it.
  const alone = lines[at - 1]?.startsWith("## ") === true && (lines[at + 1] ?? "") === "";
  return lines.toSpliced(alone ? at - 1 : at, alone ? 3 : 1).join("\n");
}

/** A line of a summary is an item's text, then why it holds and where it was said. */
function isLineOf(line: string, text: string): boolean {
  const item = line.startsWith("- ") ? line.slice(2) : line;
  return item === text || item.startsWith(`${text} [`) || item.startsWith(`${text} (`);
}

/** Behind the last line below the heading; without that heading as the first section. */
function withLine(lines: readonly string[], heading: string, line: string): string {
  const head = lines.indexOf(`## ${heading}`);
  if (head < 0) {
    const first = lines.findIndex((one) => one.startsWith("## "));
    const block = [`## ${heading}`, line];
    return (
      first < 0 ? [...lines, "", ...block] : [...lines.slice(0, first), ...block, "", ...lines.slice(first)]
    ).join("\n");
  }
  const end = lines.indexOf("", head);
  return lines.toSpliced(end < 0 ? lines.length : end, 0, line).join("\n");
}
