/**
 * The prompt is a view: a pure fold over the live records of a thread. A compaction shows its summary in place of what it
 * hides, prunes show their replacements, evidence stands in the question it was lent to, everything else is verbatim.
 * This file decides what stands in the view and in which order; making it acceptable to a provider is `message/repair.ts`.
 */
import type { Shape } from "../message/shape.ts";
import type {
  CompactionRecord,
  EvidenceRecord,
  MessageRecord,
  PruneEntry,
  PruneRecord,
  StoredSummary,
} from "./record.ts";

/** What a load brings: the live structure and the messages it leaves visible. */
export interface LiveRecords {
  readonly compaction: CompactionRecord | null;
  /** Hidden messages that still stand: hoisted system messages, and the request when the cut lies inside its turn. */
  readonly systems: readonly MessageRecord[];
  readonly request: MessageRecord | null;
  /** Live prunes in order; a later one wins over an earlier one on the same part. */
  readonly prunes: readonly PruneRecord[];
  readonly evidence: readonly EvidenceRecord[];
  /** Every message after the hidden range. */
  readonly tail: readonly MessageRecord[];
}

export type ViewSource = "system" | "summary" | "acknowledgement" | "request" | "message";

/** Where a message that is sent begins; `added`: it stands only because a provider wants it so. */
export type MessageSource = ViewSource | "added";

export interface ViewEntry<M> {
  readonly source: ViewSource;
  /** The message record it shows; null for what no one said: the summary and its acknowledgement. */
  readonly seq: number | null;
  readonly message: M;
  /** Text that others added to the turn: evidence, the digest after a collapse. Sent with it, never pruned in it. */
  readonly lent: string | null;
}

/**
 * Ends a summary that shares its message with others: the user's next words, where roles must alternate, or further
 * system messages. Without it they would read as part of the record.
 */
export const SUMMARY_END = "(End of the summary. The conversation goes on from here.)";

export const ACKNOWLEDGEMENT = "Understood. I have the record of what came before and will go on from here.";

export interface ViewOptions<M> {
  readonly shape: Shape<M>;
  /** Parses a body into the shape's message; the caller may cache, so that an unchanged message stays the same object. */
  readonly read: (record: MessageRecord) => M;
}

/** A view and the live records it was folded from. */
export interface Folded<M> {
  readonly live: LiveRecords;
  readonly entries: readonly ViewEntry<M>[];
}

/** The same as `view(live)`: what was folded before is taken over where records were only added since. */
export function viewAfter<M>(before: Folded<M>, live: LiveRecords, options: ViewOptions<M>): readonly ViewEntry<M>[] {
  if (!isGrown(before, live, options.shape)) return view(live, options);
  const shown = visibleMessage(live, options);
  const lentTo = new Set(live.evidence.slice(before.live.evidence.length).map(({ of }) => of));
  const entries = before.entries.slice();
  if (lentTo.size > 0) {
    const records = [...live.systems, ...live.tail, ...(live.request === null ? [] : [live.request])];
    const bySeq = new Map(records.filter(({ seq }) => lentTo.has(seq)).map((record) => [record.seq, record]));
    for (const [index, entry] of entries.entries()) {
      const record = entry.seq === null ? undefined : bySeq.get(entry.seq);
      if (record === undefined) continue;
      const digest = entry.source === "request" ? (live.compaction?.summary.digest ?? null) : null;
      entries[index] = { source: entry.source, ...withDigest(shown(record), digest) };
    }
  }
  for (const record of live.tail.slice(before.live.tail.length)) entries.push({ source: "message", ...shown(record) });
  return entries;
}

/** Nothing but messages and evidence came, and what stands behind a summary was not the first that was said after it. */
function isGrown<M>({ live: before, entries }: Folded<M>, live: LiveRecords, shape: Shape<M>): boolean {
  const isSaid = ({ source, message }: ViewEntry<M>) =>
    (source === "message" || source === "request") && shape.role(message) !== "system";
  return (
    before.compaction === live.compaction &&
    before.systems === live.systems &&
    before.request === live.request &&
    before.prunes === live.prunes &&
    beginsWith(live.tail, before.tail) &&
    beginsWith(live.evidence, before.evidence) &&
    (live.compaction === null || entries.some(isSaid))
  );
}

function beginsWith<T>(list: readonly T[], start: readonly T[]): boolean {
  return list === start || (list.length >= start.length && start.every((item, index) => item === list[index]));
}

export function view<M>(live: LiveRecords, options: ViewOptions<M>): ViewEntry<M>[] {
  const { shape } = options;
  const shown = visibleMessage(live, options);
  const systems = live.systems.map((record): ViewEntry<M> => ({ source: "system", ...shown(record) }));
  const tail = live.tail.map((record): ViewEntry<M> => ({ source: "message", ...shown(record) }));
  if (live.compaction === null) return [...systems, ...tail];

  const { summary } = live.compaction;
  const requestEntry = (record: MessageRecord): ViewEntry<M> => ({
    source: "request",
    ...withDigest(shown(record), summary.digest),
  });
  const request = live.request === null ? [] : [requestEntry(live.request)];
  const orphanDigest = request.length === 0 && summary.digest !== null ? `\n\n${summary.digest}` : "";
  const turn = shape.turn(summary.format === "system" ? "system" : "user", ended(summary, orphanDigest));
  const rest = [...request, ...tail];
  return [
    ...systems,
    { source: "summary", seq: null, message: marked(turn, shape), lent: null },
    ...(summary.format === "pair" ? acknowledgement(rest, shape) : []),
    ...rest,
  ];
}

function ended({ text, format }: StoredSummary, digest: string): string {
  if (format === "pair") return text + digest;
  return `${(text + digest).replaceAll(SUMMARY_END, "(end)")}\n\n${SUMMARY_END}`;
}

function marked<M>(message: M, shape: Shape<M>): M {
  return shape.mark?.(message, "summarization") ?? message;
}

/** The acknowledgement stands exactly when the next message is a user turn, so that roles alternate. */
function acknowledgement<M>(rest: readonly ViewEntry<M>[], shape: Shape<M>): ViewEntry<M>[] {
  const next = rest.find((entry) => shape.role(entry.message) !== "system");
  if (next === undefined || shape.role(next.message) !== "user") return [];
  const turn = marked(shape.turn("assistant", ACKNOWLEDGEMENT), shape);
  return [{ source: "acknowledgement", seq: null, message: turn, lent: null }];
}

type Shown<M> = Omit<ViewEntry<M>, "source">;

function visibleMessage<M>(live: LiveRecords, { shape, read }: ViewOptions<M>) {
  const prunes = Map.groupBy(
    live.prunes.flatMap((prune) => prune.entries),
    (entry) => entry.target,
  );
  const evidence = Map.groupBy(live.evidence, (record) => record.of);
  return (record: MessageRecord): Shown<M> => {
    let message = read(record);
    for (const entry of prunes.get(record.seq) ?? []) message = applyPrune(message, entry, shape);
    const lent = evidence.get(record.seq)?.map(({ text }) => text);
    return { seq: record.seq, message, lent: lent?.join("\n\n") ?? null };
  };
}

function withDigest<M>(shown: Shown<M>, digest: string | null): Shown<M> {
  if (digest === null) return shown;
  return { ...shown, lent: shown.lent === null ? digest : `${shown.lent}\n\n${digest}` };
}

/** The message as it is sent: with what was lent to it. */
export function sent<M>({ message, lent }: ViewEntry<M>, shape: Shape<M>): M {
  return lent === null ? message : shape.join(message, shape.turn("user", lent));
}

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
