/**
 * What an erased record looks like. A message keeps its role and the ids of its calls, so the prompt stays valid; every
 * text in it is gone. What quotes it (summaries, replacements, evidence, states, receipts) is rewritten too: its body, or
 * its header where the words stand there.
 */
import type { Part, ReasoningPart, Shape } from "../message/shape.ts";
import { namesIn } from "../text/names.ts";
import type { ChainedRecord } from "./chain.ts";
import { isChanges } from "./head.ts";
import type { CompactionRecord, EvidenceRecord, LogRecord, PruneRecord, StoredSummary } from "./record.ts";
import { eraseRules, REDACTED } from "./rules.ts";

/** A new message with the role and the call ids of the old one and nothing else of it; reasoning is left out. */
export function skeleton<M>(shape: Shape<M>, message: M): M {
  const parts = shape.parts(message).flatMap((part) => (part.kind === "reasoning" ? [] : [blank(part)]));
  const replacement = shape.make(shape.role(message), parts.length > 0 ? parts : [{ kind: "text", text: REDACTED }]);
  return replacement.slice(1).reduce<M>((first, next) => shape.join(first, next), replacement[0]!);
}

/** What goes, as one thread sees it. */
export interface Erasure {
  /** The message, where this thread holds it. */
  readonly message: { readonly seq: number; readonly id: string } | null;
  /** What evidence and memory blocks call the things they show: addresses of the message, ids of facts. */
  readonly names: ReadonlySet<string>;
  /** The words being erased, as `flatSteps` gives them, to find who quotes them. */
  readonly texts: readonly string[];
  /** `all`: sections of a memory go, too, and a block doesn't say which ones it shows. */
  readonly blocks: "named" | "all";
  /** Summaries made anew from what is left, by the seq of their compaction; of any other nothing stays. */
  readonly summaries?: ReadonlyMap<number, StoredSummary>;
}

/** What takes a record's place: a new body, or a new header where the words stand there. */
export type Rewrite = { readonly body: string } | { readonly header: string };

/** Null when the record says nothing of what goes. */
export function erase(record: LogRecord, chained: Pick<ChainedRecord, "header">, erasure: Erasure): Rewrite | null {
  switch (record.kind) {
    case "prune":
      return erasePrune(record, erasure);
    case "compaction":
      return eraseSummary(record, erasure);
    case "evidence":
      return eraseEvidence(record, erasure);
    case "state": {
      // What a thread that left before the message shares with its own must be erased in both of them, or in neither.
      const isEarlier = erasure.message !== null && record.seq < erasure.message.seq;
      const patch = erasedState(record.patch, isEarlier ? { ...erasure, message: null } : erasure);
      return patch === null ? null : { body: JSON.stringify(patch) };
    }
    case "event": {
      // A receipt of a redaction holds hashes only, and must stay word for word: it is what vouches for the rest.
      const event = record.event.type === "redacted" ? record.event : withoutEchoes(record.event, erasure.texts);
      return event === record.event ? null : { header: JSON.stringify({ ...JSON.parse(chained.header), event }) };
    }
    default:
      return null;
  }
}

/** A state, or a patch to one, without what it says of what goes; null when it says nothing. */
export function erasedState(
  state: Readonly<Record<string, unknown>>,
  erasure: Erasure,
): Readonly<Record<string, unknown>> | null {
  const entries = Object.entries(state).map(([key, value]) => [key, erasedValue(key, value, erasure)] as const);
  return entries.every(([key, value]) => value === state[key]) ? null : Object.fromEntries(entries);
}

function erasedValue(key: string, value: unknown, erasure: Erasure): unknown {
  const { texts, message } = erasure;
  if (key === "title" && message !== null && isTitleOf(value, texts.join(" "))) return REDACTED;
  if (key === "rules")
    return eraseRules(
      value,
      ({ source, text }) => (source !== null && source === message?.seq) || isQuoted(text, texts),
    );
  const block = memoryBlock(value);
  if (key !== "memory" || block === null) return withoutEchoes(value, texts);
  return showsAny(block, erasure) ? { ...block, text: REDACTED } : value;
}

/** The text of a memory block that a state holds, if it holds one. */
export function memoryText(state: Readonly<Record<string, unknown>>): string | null {
  return memoryBlock(state["memory"])?.text ?? null;
}

function memoryBlock(value: unknown): { readonly text: string; readonly factIds?: unknown } | null {
  if (typeof value !== "object" || value === null || !("text" in value) || typeof value.text !== "string") return null;
  return value as { readonly text: string };
}

function showsAny({ text, factIds }: { text: string; factIds?: unknown }, { names, texts, blocks }: Erasure): boolean {
  if (text === "" || text === REDACTED) return false;
  const named = Array.isArray(factIds) && factIds.some((id) => names.has(id));
  return blocks === "all" || named || quotes(text, texts);
}

/** However short it was cut: a title that begins a text says what the text says. */
function isTitleOf(title: unknown, text: string): boolean {
  if (typeof title !== "string") return false;
  const words = title.replace(/\u2026$/u, "");
  const isWhole = words !== title || !/^[\p{L}\p{N}]/u.test(text.slice(words.length));
  return words !== "" && isWhole && text.startsWith(words);
}

/** The same value where nothing in it repeats the words; else a copy with a mark in place of each text that does. */
export function withoutEchoes<T>(value: T, texts: readonly string[]): T {
  if (typeof value === "string") return (isQuoted(value, texts) ? REDACTED : value) as T;
  if (typeof value !== "object" || value === null) return value;
  const old = Object.values(value);
  const cleaned = old.map((one) => withoutEchoes(one, texts));
  if (cleaned.every((one, index) => one === old[index])) return value;
  if (Array.isArray(value)) return cleaned as T;
  return Object.fromEntries(Object.keys(value).map((key, index) => [key, cleaned[index]])) as T;
}

/**
 * Whether a text repeats any of the words that are erased: it is prose, and is part of them or contains them. Ids, states and
 * other single words don't count.
 */
export function isQuoted(text: string, texts: readonly string[]): boolean {
  const plainText = flat(text).replace(/\u2026$/u, "");
  const isProse = plainText.includes(" ");
  if (plainText.length < SHORTEST_QUOTE && !isProse) return false;
  return texts.some(
    (words) => words === plainText || (isProse && words.includes(plainText)) || holds(plainText, words),
  );
}

/** Words in a row that two texts hardly share by chance; of words that aren't spaced, so many characters. */
const RUN = 5;
const RUN_CHARACTERS = 10;

/** Of one text, in characters. */
const MOST_READ = 200_000;

/** Finds who quotes words that are erased, so that a person may erase that too: wider than `isQuoted`, which decides what is. */
interface QuoteFinder {
  /** What was said before them is no quote of them. */
  saidBefore(text: string): void;
  /** Several words in a row, or a name with digits or signs in it. */
  isQuote(text: string): boolean;
}

export function quoteFinder(texts: readonly string[]): QuoteFinder {
  const runs = new Set(texts.flatMap(runsIn));
  return {
    saidBefore: (text) => {
      for (const run of runsIn(text)) runs.delete(run);
    },
    isQuote: (text) => runsIn(text).some((run) => runs.has(run)),
  };
}

function runsIn(text: string): string[] {
  const folded = text.slice(0, MOST_READ).toLowerCase();
  const words = folded.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const runs = words.slice(RUN - 1).map((_, at) => words.slice(at, at + RUN).join(" "));
  for (const word of words)
    for (let at = 0; word.length > 2 * RUN_CHARACTERS && at + RUN_CHARACTERS <= word.length; at += 1)
      runs.push(word.slice(at, at + RUN_CHARACTERS));
  const names = namesIn(folded).flatMap(({ kind, text: name }) =>
    kind !== "number" && /[\d_/@.-]/.test(name) ? [name] : [],
  );
  return [...runs, ...names.filter((name) => name.length > 4)];
}

/** The entry stays, so that the prune reaches as far as before, but no longer replaces anything. */
const NO_PART = -1;

function erasePrune(record: PruneRecord, { message, texts }: Erasure): Rewrite | null {
  const cites = ({ target, part, from, replacement, edit }: PruneRecord["entries"][number]) => {
    if (edit !== undefined)
      return part !== NO_PART && [replacement, edit.was ?? ""].some((one) => isQuoted(one, texts));
    if (from === undefined) return part !== NO_PART && (target === message?.seq || quotes(replacement, texts));
    const covers = message !== null && message.seq >= from && message.seq <= target;
    return replacement !== REDACTED && (covers || quotes(replacement, texts));
  };
  if (!record.entries.some(cites)) return null;
  const blankEntry = ({ edit, ...entry }: PruneRecord["entries"][number]) => ({
    ...entry,
    part: NO_PART,
    replacement: REDACTED,
    ...(edit !== undefined && { edit: { ...edit, was: null } }),
  });
  return { body: JSON.stringify(record.entries.map((entry) => (cites(entry) ? blankEntry(entry) : entry))) };
}

/** A summary that hides the message may paraphrase it, so its place in the range decides and not a search for words. */
function eraseSummary(record: CompactionRecord, { message, texts, summaries }: Erasure): Rewrite | null {
  const covers = message !== null && message.seq <= record.covers[1];
  const rebuilt = summaries?.get(record.seq);
  const isClean = (summary: StoredSummary): boolean => withoutEchoes(summary, texts) === summary;
  if (!covers && rebuilt === undefined && isClean(record.summary)) return null;
  const gone = `[This summary of everything up to message ${record.covers[1]} was erased with a redacted message; the other originals are in the history.]`;
  const erased: StoredSummary = { ...record.summary, text: gone, digest: null, state: null };
  const rewritten = rebuilt !== undefined && isClean(rebuilt) ? rebuilt : erased;
  // What changed in a state quotes the text that stood beside it, and goes with it.
  const summary = isChanges(rewritten.state) ? { ...rewritten, state: null } : rewritten;
  return JSON.stringify(summary) === JSON.stringify(record.summary) ? null : { body: JSON.stringify(summary) };
}

function eraseEvidence(record: EvidenceRecord, { message, names, texts }: Erasure): Rewrite | null {
  if (record.text === REDACTED) return null;
  const cites =
    record.of === message?.seq || record.ids.some((cited) => names.has(cited)) || quotes(record.text, texts);
  return cites ? { body: JSON.stringify(REDACTED) } : null;
}

/** Words shorter than this are no quotation. */
const SHORTEST_QUOTE = 12;

function quotes(text: string, texts: readonly string[]): boolean {
  if (texts.length === 0) return false;
  const plainText = flat(text);
  return texts.some((words) => holds(plainText, words));
}

function holds(text: string, words: string): boolean {
  return words.length >= SHORTEST_QUOTE && text.includes(words);
}

/** A single blank is left as it is: in most texts there is next to nothing to replace. */
function flat(text: string): string {
  return text.replace(/\s{2,}|[^\S ]/g, " ").trim();
}

/** The text with single blanks for its white space, piece by piece: done at once, one of many megabytes takes a second. */
export function* flatSteps(text: string, step = 500_000): Generator<void, string> {
  let joined = "";
  for (let from = 0; from < text.length; from += step) {
    const piece = text.slice(from, from + step);
    const words = flat(piece);
    const isApart = joined === "" || joined.endsWith(" ") || !/^\s/.test(piece);
    joined += (isApart ? "" : " ") + words + (words !== "" && /\s$/.test(piece) ? " " : "");
    yield;
  }
  return joined.trimEnd();
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
