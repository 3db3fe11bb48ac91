/**
 * What an erased record looks like. A message keeps its role and the ids of its calls, so the prompt stays valid; every
 * text in it is gone. What quotes it (summaries, replacements, evidence) is rewritten too. Only bodies change here:
 * headers are chained word for word.
 */
import type { Part, ReasoningPart, Shape } from "../message/shape.ts";
import type { CompactionRecord, EvidenceRecord, LogRecord, PruneRecord, StoredSummary } from "./record.ts";

const REDACTED = "[redacted]";

/** A new message with the role and the call ids of the old one and nothing else of it; reasoning is left out. */
export function skeleton<M>(shape: Shape<M>, message: M): M {
  const parts = shape.parts(message).flatMap((part) => (part.kind === "reasoning" ? [] : [blank(part)]));
  const made = shape.make(shape.role(message), parts.length > 0 ? parts : [{ kind: "text", text: REDACTED }]);
  return made.slice(1).reduce<M>((first, next) => shape.join(first, next), made[0]!);
}

export interface Erasure {
  readonly seq: number;
  readonly id: string;
  /** Its addresses, one for each thread that shows it: evidence names by them what it lends. */
  readonly refs: readonly string[];
  /** The texts being erased, to find who quotes them. */
  readonly texts: readonly string[];
  /** How a summary that covers the erased message is rewritten; by default nothing of it stays. */
  readonly rewriteSummary?: (record: CompactionRecord) => StoredSummary;
}

/** The new body text of a record that cites the erased message; null when it doesn't. */
export function erase(record: LogRecord, erasure: Erasure): string | null {
  switch (record.kind) {
    case "prune":
      return erasePrune(record, erasure);
    case "compaction":
      return eraseSummary(record, erasure);
    case "evidence":
      return eraseEvidence(record, erasure);
    default:
      return null;
  }
}

/** The entry stays, so that the prune reaches as far as before, but no longer replaces anything. */
const NO_PART = -1;

function erasePrune(record: PruneRecord, { seq, texts }: Erasure): string | null {
  const cites = (entry: PruneRecord["entries"][number]) => entry.target === seq || quotes(entry.replacement, texts);
  if (!record.entries.some(cites)) return null;
  const blanked = { part: NO_PART, replacement: REDACTED };
  return JSON.stringify(record.entries.map((entry) => (cites(entry) ? { ...entry, ...blanked } : entry)));
}

/** A summary that hides the message may paraphrase it, so its place in the range decides and not a search for words. */
function eraseSummary(record: CompactionRecord, { seq, rewriteSummary }: Erasure): string | null {
  if (seq > record.covers[1]) return null;
  const gone = `[This summary of everything up to message ${record.covers[1]} was erased with a redacted message; the other originals are in the history.]`;
  return JSON.stringify(rewriteSummary?.(record) ?? { ...record.summary, text: gone, digest: null, state: null });
}

function eraseEvidence(record: EvidenceRecord, { seq, id, refs, texts }: Erasure): string | null {
  const named = record.ids.some((lent) => lent === id || refs.includes(lent));
  const cites = record.of === seq || named || quotes(record.text, texts);
  return cites ? JSON.stringify(REDACTED) : null;
}

/** Words shorter than this are no quotation. */
const SHORTEST_QUOTE = 12;

function quotes(text: string, sources: readonly string[]): boolean {
  return sources.some((source) => source.length >= SHORTEST_QUOTE && text.includes(source));
}

function blank(part: Exclude<Part, ReasoningPart>): Part {
  switch (part.kind) {
    case "text":
      return { ...part, text: REDACTED };
    case "call":
      return { ...part, input: "{}" };
    case "result":
      return { ...part, text: REDACTED, images: [] };
    case "image":
    case "file":
    case "other":
      return { kind: "text", text: REDACTED };
  }
}
