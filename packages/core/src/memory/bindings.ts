/**
 * What ties a document's names to what they name. A turn is named `thread#seq`, and such a name can come to mean another
 * message: the thread was deleted and its id used again, or its database was restored from a backup. So beside the name
 * stands the message's own id, and beside a watermark the hash of the record it stands at. Pure.
 */
import type { Change } from "./changes.ts";
import type { Fact, MemoryDocument } from "./document.ts";

export interface NamedTurn {
  /** `thread#seq`. */
  readonly ref: string;
  /** The message's own. */
  readonly id: string;
}

/** Whether the name means this very message; one of before has no id and means whatever has the name. */
export function isBound({ sources = {} }: MemoryDocument, { ref, id }: NamedTurn): boolean {
  return (sources[ref] ?? id) === id;
}

/** Whether nothing may be learned from this very turn. */
export function isFenced(document: MemoryDocument, turn: NamedTurn): boolean {
  return (document.fenced ?? []).includes(turn.ref) && isBound(document, turn);
}

/** Where to go on reading: 0 where the record the watermark stands at isn't there, or is another one. */
export function validWatermark(document: MemoryDocument, threadId: string, hash: string | undefined): number {
  const mark = document.marks?.[threadId];
  const stands = hash !== undefined && (mark === undefined || mark === hash);
  return stands ? (document.watermarks?.[threadId] ?? 0) : 0;
}

export function withWatermark(
  document: MemoryDocument,
  threadId: string,
  { seq, hash }: { readonly seq: number; readonly hash: string | undefined },
): MemoryDocument {
  const { [threadId]: _, ...marks } = document.marks ?? {};
  return {
    ...document,
    watermarks: { ...document.watermarks, [threadId]: seq },
    marks: hash === undefined ? marks : { ...marks, [threadId]: hash },
  };
}

/** Says of each turn that the document names which message it is; what it no longer names is forgotten. */
export function bindTurns(document: MemoryDocument, turns: readonly NamedTurn[]): MemoryDocument {
  const named = namedRefs(document);
  const bindings = [...Object.entries(document.sources ?? {}), ...turns.map(({ ref, id }) => [ref, id] as const)];
  const sources = Object.fromEntries(bindings.filter(([ref]) => named.has(ref)));
  return Object.keys(sources).length === 0 && document.sources === undefined ? document : { ...document, sources };
}

/** Every turn that facts, fences or the audit name. */
export function namedRefs({ facts, fenced = [], changes = [] }: MemoryDocument): Set<string> {
  const named = new Set(fenced);
  for (const fact of facts) for (const ref of fact.sourceMessageIds ?? []) named.add(ref);
  for (const change of changes) for (const ref of refsOf(change)) named.add(ref);
  return named;
}

/**
 * The names that mean another message by now, given what stands under them. Where no id is known, a message that was said
 * after the fact was learned can't be its source.
 */
export function staleRefs(
  document: MemoryDocument,
  messages: ReadonlyMap<string, { readonly id: string; readonly at: string }>,
): ReadonlySet<string> {
  const stale = new Set<string>();
  for (const ref of namedRefs(document)) {
    const message = messages.get(ref);
    if (message === undefined) continue;
    const bound = document.sources?.[ref];
    const other = bound === undefined ? message.at > lastNamed(document, ref) : message.id !== bound;
    if (other) stale.add(ref);
  }
  return stale;
}

/** Without names that mean other messages. A watermark beside them that doesn't say what it stands at goes, too. */
export function withoutStale(document: MemoryDocument, stale: ReadonlySet<string>): MemoryDocument {
  const rest = withoutRefs(document, (ref) => stale.has(ref));
  if (document.watermarks === undefined) return rest;
  const reused = new Set([...stale].map(threadOf));
  const stands = (threadId: string): boolean => !reused.has(threadId) || document.marks?.[threadId] !== undefined;
  const watermarks = Object.entries(document.watermarks).filter(([threadId]) => stands(threadId));
  return { ...rest, watermarks: Object.fromEntries(watermarks) };
}

/** The document without a thread that is gone: its watermark, its turns. What was learned there stays. */
export function withoutThread(document: MemoryDocument, threadId: string): MemoryDocument {
  const { [threadId]: _watermark, ...watermarks } = document.watermarks ?? {};
  const { [threadId]: _mark, ...marks } = document.marks ?? {};
  const rest = withoutRefs(document, (ref) => threadOf(ref) === threadId);
  return {
    ...rest,
    ...(document.watermarks !== undefined && { watermarks }),
    ...(document.marks !== undefined && { marks }),
  };
}

function withoutRefs(document: MemoryDocument, gone: (ref: string) => boolean): MemoryDocument {
  const left = (refs: readonly string[]): readonly string[] => refs.filter((ref) => !gone(ref));
  const fact = <F extends Fact | null>(one: F): F =>
    one?.sourceMessageIds === undefined ? one : { ...one, sourceMessageIds: left(one.sourceMessageIds) };
  const change = (one: Change): Change => {
    const { fences, unfences } = one;
    const named = {
      sources: left(one.sources),
      ...(fences !== undefined && { fences: left(fences) }),
      ...(unfences !== undefined && { unfences: left(unfences) }),
    };
    return one.on === "fact"
      ? { ...one, ...named, before: fact(one.before), after: fact(one.after) }
      : { ...one, ...named };
  };
  const { sources, fenced, changes } = document;
  return {
    ...document,
    facts: document.facts.map(fact),
    ...(fenced !== undefined && { fenced: left(fenced) }),
    ...(changes !== undefined && { changes: changes.map(change) }),
    ...(sources !== undefined && {
      sources: Object.fromEntries(Object.entries(sources).filter(([ref]) => !gone(ref))),
    }),
  };
}

function threadOf(ref: string): string {
  return ref.slice(0, Math.max(0, ref.lastIndexOf("#")));
}

function refsOf(change: Change): string[] {
  const facts = change.on === "fact" ? [change.before, change.after] : [];
  const { sources, fences = [], unfences = [] } = change;
  return [...sources, ...fences, ...unfences, ...facts.flatMap((fact) => fact?.sourceMessageIds ?? [])];
}

/** When it was last said to be a source, by the audit or else by the facts; of a fence alone nobody knows. */
function lastNamed({ facts, changes = [] }: MemoryDocument, ref: string): string {
  const audited = changes.filter(({ kind, sources }) => LEARNING.has(kind) && sources.includes(ref));
  if (audited.length > 0) return audited.at(-1)!.at;
  const naming = facts.filter((fact) => fact.sourceMessageIds?.includes(ref));
  const times = naming.map(({ createdAt, confirmedAt }) => confirmedAt ?? createdAt).sort();
  return times.at(-1) ?? NEVER_ENDING;
}

const LEARNING: ReadonlySet<Change["kind"]> = new Set(["add", "confirm", "supersede", "rewrite"]);
/** After every time there is. */
const NEVER_ENDING = "~";
