/**
 * What ties a document's names to what they name. A turn is named `thread#seq`, and such a name can come to mean another
 * message: the thread was deleted and its id used again, or its database was restored from a backup. So beside the name
 * stands the message's own id, and beside a watermark the hash of the record it stands at. Pure.
 */

import { fold, SPACELESS_LETTER } from "../text/analyze.ts";
import { properNames } from "../text/names.ts";
import type { Change } from "./changes.ts";
import type { Fact, MemoryDocument } from "./document.ts";
import { statesFact } from "./grounds.ts";
import { meaning, normal, reverses } from "./likeness.ts";
import type { Addition, SourceTurn } from "./update.ts";

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

/** When the audit, or else a fact, last named this turn; unknown for a turn that is only fenced. */
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

/*
 * Where a proposed fact comes from. Only the user's own words are a source: the quote must stand in a user message that
 * carries the fact, and names, numbers and addresses in the fact must have been said by the user. An assistant's answer is context only, so
 * what a page or tool said can't become a fact by being repeated [F36].
 */

type Sourced =
  | { readonly kind: "sourced"; readonly refs: readonly string[] }
  | { readonly kind: "unsourced"; readonly reason: "no-user-source" | "not-said-by-user" };

/** `known`: text that is remembered already; its names may be used without being said again. */
export function findSource(fact: Addition, turns: readonly SourceTurn[], known: string): Sourced {
  const userTurns = turns.filter(({ role }) => role === "user");
  const quoted = quotedIn(fact, userTurns);
  if (quoted.length === 0) return { kind: "unsourced", reason: "no-user-source" };
  const refs = userTurns.flatMap(({ ref, text }) =>
    quoted.includes(ref) && statesFact(text, fact.quote, fact.content) ? [ref] : [],
  );
  const words = userTurns.map(({ text }) => text).join("\n");
  const heard = turns.flatMap(({ role, text }) => (role === "assistant" ? [text] : [])).join("\n");
  if (
    refs.length === 0 ||
    saysStrangeNames(fact.content, `${words}\n${known}`) ||
    isEchoed(fact.content, words, heard) ||
    reverses(fact.quote, fact.content)
  )
    return { kind: "unsourced", reason: "not-said-by-user" };
  return { kind: "sourced", refs };
}

/** Whether a text holds a name, number or address that stands nowhere in these words. */
export function saysStrangeNames(text: string, words: string): boolean {
  return properNames(text).some((name) => !mentions(words, name));
}

/** Whether the user said these words, small differences of case and punctuation aside. */
export function userSaid(quote: string, turns: readonly SourceTurn[]): boolean {
  return (
    quotedIn(
      { quote, content: quote, seqs: [] },
      turns.filter(({ role }) => role === "user"),
    ).length > 0
  );
}

function quotedIn(fact: Pick<Addition, "quote" | "content" | "seqs">, userTurns: readonly SourceTurn[]): string[] {
  const quote = normal(fact.quote);
  if (quote !== "") {
    const exact = userTurns.filter(({ text }) => ` ${normal(text)} `.includes(` ${quote} `) || gramMatch(text, quote));
    if (overlap(fact.content, exact) >= CARRIED) return exact.map(({ ref }) => ref);
  }
  // No quote, or one in the model's own words: then the fact's words themselves must be the user's.
  const candidates = userTurns.filter(({ seq }) => fact.seqs.length === 0 || fact.seqs.includes(seq));
  return candidates.filter((turn) => overlap(fact.content, [turn]) >= (quote === "" ? 0.6 : 0.8)).map(({ ref }) => ref);
}

/**
 * Of what a fact or a section says, so much must stand in the words it rests on. Enough for other words and another form of
 * the sentence; no quote of something else reaches it but by chance.
 */
const CARRIED = 0.25;

/** The user's turns behind what a text says that was not known; null where they don't carry it. */
export function carriers(text: string, known: string, turns: readonly SourceTurn[]): readonly string[] | null {
  const userTurns = turns.filter(({ role }) => role === "user");
  const old = meaning(known);
  const fresh = [...meaning(text)].filter((term) => !old.has(term));
  const heard = userTurns.map(({ ref, text: words }) => ({ ref, words: meaning(words) }));
  const carried = fresh.filter((term) => heard.some(({ words }) => words.has(term)));
  if (fresh.length > 0 && (carried.length === 0 || carried.length < fresh.length * CARRIED)) return null;
  return heard.filter(({ words }) => carried.some((term) => words.has(term))).map(({ ref }) => ref);
}

/** More than half of what it says stands in the answers and not in the user's words. */
function isEchoed(content: string, words: string, heard: string): boolean {
  const [wanted, said, answered] = [meaning(content), meaning(words), meaning(heard)];
  return [...wanted].filter((term) => answered.has(term) && !said.has(term)).length > wanted.size / 2;
}

/** Scripts without spaces have no word boundaries to look for. */
function gramMatch(text: string, quote: string): boolean {
  return SPACELESS_LETTER.test(quote) && normal(text).includes(quote);
}

function overlap(content: string, turns: readonly SourceTurn[]): number {
  const wanted = meaning(content);
  if (wanted.size === 0) return 0;
  const meanings = meaning(turns.map(({ text }) => text).join("\n"));
  return [...wanted].filter((term) => meanings.has(term)).length / wanted.size;
}

/** Endings differ between languages and cases: the beginning of a name is enough. */
function mentions(words: string, name: string): boolean {
  const wanted = fold(name.replace(/(?<![.,)])[.,)]+$/, ""));
  const isNumber = /^\d/.test(wanted);
  const start = isNumber ? wanted : wanted.slice(0, Math.max(4, wanted.length - 2));
  if (!isNumber && !/[.@]/.test(wanted)) return fold(words).includes(start);
  // Part of a number is another number, and the end of an address another address.
  const whole = isNumber ? ["(?<!\\d)", "(?!\\d)"] : ["(?<![\\w-])", ""];
  return new RegExp(whole.join(start.replaceAll(/\W/g, "\\$&"))).test(fold(words));
}
