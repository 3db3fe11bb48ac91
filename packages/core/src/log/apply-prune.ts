/** What prunes show: a message with parts replaced, and one turn in the place of a folded range. */
import type { Shape } from "../message/shape.ts";
import type { MessageRecord, PruneEntry, Range } from "./record.ts";
import type { LiveRecords, ViewEntry } from "./view.ts";

/** What each entry made of which message: the pruned one stays the same object, so that counts of it stay cached. */
const pruned = new WeakMap<PruneEntry, { readonly from: unknown; readonly to: unknown }>();

/** The message with one part's content replaced. Pairing can't break: a call stays a call, a result stays a result. */
export function applyPrune<M>(message: M, entry: PruneEntry, shape: Shape<M>): M {
  const known = pruned.get(entry);
  if (known?.from === message) return known.to as M;
  const to = withReplacement(message, entry, shape);
  pruned.set(entry, { from: message, to });
  return to;
}

function withReplacement<M>(message: M, entry: PruneEntry, shape: Shape<M>): M {
  const part = shape.parts(message)[entry.part];
  if (part === undefined) return message;
  switch (part.kind) {
    case "text":
      return shape.withPart(message, entry.part, { kind: "text", text: entry.replacement });
    case "reasoning":
      return part.signature === null
        ? shape.withPart(message, entry.part, { ...part, text: entry.replacement })
        : message;
    case "call":
      return shape.withPart(message, entry.part, { ...part, input: entry.replacement });
    case "result":
      return shape.withPart(message, entry.part, { ...part, text: entry.replacement, images: [] });
    case "image":
    case "file":
      return shape.withPart(message, entry.part, { kind: "text", text: entry.replacement });
    case "other":
      return message;
  }
}

/** A fold that is shown: the range it leaves out and the words that stand for it. */
export interface Fold {
  readonly range: Range;
  readonly text: string;
}

/**
 * The folds that the view shows, by their place: those whose range lies whole behind what a compaction hides. Where two
 * ranges meet, as they can after undo and redo, the newer record holds.
 */
export function shownFolds({ prunes, compaction }: Pick<LiveRecords, "prunes" | "compaction">): readonly Fold[] {
  const folds: Fold[] = [];
  const hiddenThrough = compaction?.covers[1] ?? 0;
  for (const { entries } of prunes.toReversed())
    for (const { from, target, replacement } of entries) {
      if (from === undefined || from <= hiddenThrough) continue;
      if (folds.some(({ range: [first, last] }) => from <= last && target >= first)) continue;
      folds.push({ range: [from, target], text: replacement });
    }
  return folds.sort((one, other) => one.range[0] - other.range[0]);
}

interface Making<M> {
  readonly shape: Shape<M>;
  readonly said: (record: MessageRecord) => ViewEntry<M>;
  readonly made: (source: "fold", text: string) => ViewEntry<M>;
}

/** The tail with a turn for each folded range. System messages in it stay: they are never summarized away. */
export function foldedTail<M>(live: LiveRecords, { shape, said, made }: Making<M>): ViewEntry<M>[] {
  const folds = [...shownFolds(live)];
  return live.tail.flatMap((record, index): ViewEntry<M>[] => {
    while (folds[0] !== undefined && folds[0].range[1] < record.seq) folds.shift();
    const entry = said(record);
    const fold = folds[0];
    if (fold === undefined || record.seq < fold.range[0]) return [entry];
    const shown = shape.role(entry.message) === "system" ? [entry] : [];
    const next = live.tail[index + 1];
    const isLast = next === undefined || next.seq > fold.range[1];
    return isLast ? [...shown, { ...made("fold", fold.text), folded: fold.range }] : shown;
  });
}

/** The tail as it was given, without what a person hid, and with what stands for a fold behind the messages it folds. */
export function chosenTail<M>(
  live: LiveRecords,
  { shape, original }: { readonly shape: Shape<M>; readonly original: (record: MessageRecord) => M },
): { readonly seq: number; readonly message: M }[] {
  const hides = live.prunes.flatMap(({ entries }) => entries.filter(({ reason }) => reason === "hidden"));
  const folds = new Map(shownFolds(live).map(({ range, text }) => [range[1], text]));
  return live.tail.flatMap((record) => {
    const own = hides.filter(({ target }) => target === record.seq);
    const message = own.reduce((shown, entry) => applyPrune(shown, entry, shape), original(record));
    const fold = folds.get(record.seq);
    const said = { seq: record.seq, message };
    return fold === undefined ? [said] : [said, { seq: record.seq, message: shape.turn("assistant", fold) }];
  });
}
