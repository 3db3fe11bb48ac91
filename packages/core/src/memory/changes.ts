/**
 * Changes to a memory document: each sets one fact or one section, and keeps what stood there before, so that history
 * can be read and any change taken back. Applying them is pure; who decides on them is elsewhere.
 */

import { isBound, type NamedTurn } from "./bindings.ts";
import { type Fact, liveFacts, type MemoryDocument, SECTION_PATHS, type SectionPath, sectionText } from "./document.ts";
import { meaning, saysTheSame } from "./likeness.ts";

export type ChangeKind = "add" | "edit" | "confirm" | "supersede" | "end" | "evict" | "forget" | "rewrite" | "undo";

interface Made {
  readonly kind: ChangeKind;
  /** The turns it comes from, as `thread#seq`; none for what a person did. */
  readonly sources: readonly string[];
  /** Why, where that is not plain. */
  readonly note?: string;
  /** Turns that nothing is learned from any more, and turns whose fence is lifted again. */
  readonly fences?: readonly string[];
  readonly unfences?: readonly string[];
  /** The change that this one takes back. */
  readonly undoes?: string;
}

/** `null` stands for a fact that wasn't there, or is no more. */
export type NewChange = Made &
  (
    | { readonly on: "fact"; readonly target: string; readonly before: Fact | null; readonly after: Fact | null }
    | { readonly on: "section"; readonly target: SectionPath; readonly before: string; readonly after: string }
  );

/** `id` is `c<revision>.<n>`; the changes of one save share the revision. */
export type Change = NewChange & {
  readonly id: string;
  readonly at: string;
  readonly by: "conversation" | "manual" | "import";
};

/** How many are kept; older ones can no longer be taken back. */
const KEPT_CHANGES = 1_000;

export interface Stamp {
  readonly at: string;
  readonly by: Change["by"];
}

/** The document after these changes, with their record in it and the next revision. */
export function applyChanges(document: MemoryDocument, changes: readonly NewChange[], stamp: Stamp): MemoryDocument {
  const revision = (document.revision ?? 0) + 1;
  const stamped = changes.map((change, index): Change => ({ ...change, ...stamp, id: `c${revision}.${index + 1}` }));
  let next = document;
  for (const change of changes) next = put(next, change);
  const newest = [...(document.changes ?? []), ...stamped].slice(-KEPT_CHANGES);
  return { ...next, revision, ...(newest.length > 0 ? { changes: newest } : {}) };
}

export type Undo =
  | { readonly kind: "changes"; readonly changes: readonly NewChange[]; readonly undone: readonly string[] }
  | { readonly kind: "refused"; readonly reason: "nothing" | "unknown-change" | "already-undone" | "erased" }
  /** What the change set has been set again since: take `later` back first. */
  | { readonly kind: "refused"; readonly reason: "changed-since"; readonly later: string };

/** Takes back one change (`c7.2`), all of one save (`c7`), or the newest save that stands. */
export function planMemoryUndo(document: MemoryDocument, wanted?: string): Undo {
  const all = document.changes ?? [];
  const taken = new Set(all.map((change) => change.undoes).filter((id) => id !== undefined));
  const target = wanted ?? groupOf(all.findLast((change) => !taken.has(change.id) && change.kind !== "undo")?.id ?? "");
  const chosen = all.filter(({ id }) => id === target || groupOf(id) === target);
  if (chosen.length === 0) return { kind: "refused", reason: wanted === undefined ? "nothing" : "unknown-change" };
  const live = chosen.filter(({ id }) => !taken.has(id));
  if (live.length === 0) return { kind: "refused", reason: "already-undone" };
  if (live.some(({ note }) => note === ERASED)) return { kind: "refused", reason: "erased" };
  let now = document;
  const changes: NewChange[] = [];
  for (const change of live.toReversed()) {
    if (!stands(now, change)) return { kind: "refused", reason: "changed-since", later: laterThan(all, change) };
    const back = inverse(change);
    changes.push(back);
    now = put(now, back);
  }
  return { kind: "changes", changes, undone: live.map(({ id }) => id) };
}

/** The note of a change whose words are gone: it can't be taken back any more. */
export const ERASED = "erased";

function groupOf(id: string): string {
  return id.split(".")[0]!;
}

function put(document: MemoryDocument, change: NewChange): MemoryDocument {
  if (change.on === "section") {
    if (!SECTION_PATHS.includes(change.target)) return document;
    const [group, name] = change.target.split(".") as ["userContext" | "history", string];
    return { ...document, [group]: { ...document[group], [name]: change.after } };
  }
  const { target, after } = change;
  const at = document.facts.findIndex(({ id }) => id === target);
  const facts = [...document.facts];
  if (after === null) facts.splice(at === -1 ? facts.length : at, 1);
  else if (at === -1) facts.push(after);
  else facts[at] = after;
  return { ...document, facts, ...fencesAfter(document, change) };
}

function fencesAfter(
  document: MemoryDocument,
  { fences = [], unfences = [] }: NewChange,
): Pick<MemoryDocument, "fenced"> {
  if (fences.length === 0 && unfences.length === 0) return {};
  const others = (document.fenced ?? []).filter((ref) => !fences.includes(ref) && !unfences.includes(ref));
  return { fenced: [...others, ...fences] };
}

function stands(document: MemoryDocument, change: Change): boolean {
  if (change.on === "section") return sectionText(document, change.target) === change.after;
  const now = document.facts.find(({ id }) => id === change.target) ?? null;
  return same(now, change.after);
}

function inverse(change: Change): NewChange {
  const { id, sources, fences, unfences } = change;
  const made = {
    kind: "undo" as const,
    sources,
    undoes: id,
    ...(unfences === undefined ? {} : { fences: unfences }),
    ...(fences === undefined ? {} : { unfences: fences }),
  };
  if (change.on === "section")
    return { ...made, on: "section", target: change.target, before: change.after, after: change.before };
  return { ...made, on: "fact", target: change.target, before: change.after, after: change.before };
}

function laterThan(all: readonly Change[], change: Change): string {
  const at = all.indexOf(change);
  return all.findLast((one, index) => index > at && one.target === change.target)?.id ?? change.id;
}

function same(a: Fact | null, b: Fact | null): boolean {
  if (a === null || b === null) return a === b;
  const spelled = (fact: Fact): string => JSON.stringify(Object.entries(fact).sort(([x], [y]) => (x < y ? -1 : 1)));
  return spelled(a) === spelled(b);
}

/*
 * What memory no longer holds to be true, and which turns still say it. A person edits or forgets a fact, or a later one takes its
 * place; the turns that stated the old one stay in the log, and so do answers that repeated it. Neither may speak for it. Pure.
 */

export interface Correction {
  readonly factId: string;
  /** The old content. */
  readonly before: string;
  /** The fact that holds in its place; null if it was forgotten or only ended. */
  readonly now: string | null;
  /** The turns it was drawn from, as `thread#seq`. */
  readonly sources: readonly string[];
  /** When it stopped being true, ISO 8601. What the user says after that is news. */
  readonly until: string;
  /** Its terms: of the old fact alone, of both, of the new one alone. */
  readonly terms: {
    readonly old: readonly string[];
    readonly both: readonly string[];
    readonly fresh: readonly string[];
  };
}

export interface StatedTurn extends NamedTurn {
  readonly role: string;
  readonly text: string;
  /** ISO 8601. */
  readonly at: string;
}

const ENDING: ReadonlySet<Change["kind"]> = new Set(["edit", "supersede", "end", "forget"]);

/** Newest first. A statement that a live fact makes again is no correction any more. */
export function correctionsIn(document: MemoryDocument): readonly Correction[] {
  const live = liveFacts(document);
  const ended = document.facts.flatMap((fact) =>
    fact.validTo === undefined ? [] : [correction(document, fact, fact.validTo)],
  );
  const changed = (document.changes ?? []).flatMap((change) => {
    const gone = change.on === "fact" && ENDING.has(change.kind) && change.note !== ERASED ? change.before : null;
    return gone === null ? [] : [correction(document, gone, change.at)];
  });
  const byWords = new Map<string, Correction>();
  for (const one of [...ended, ...changed]) {
    // Said again by a live fact, or only put into other words.
    if (one.terms.old.length === 0 || live.some(({ content }) => saysTheSame(content, one.before))) continue;
    const twin = byWords.get(one.before);
    const sources = [...new Set([...(twin?.sources ?? []), ...one.sources])];
    byWords.set(one.before, { ...(twin !== undefined && twin.until > one.until ? twin : one), sources });
  }
  return [...byWords.values()].sort((a, b) => (a.until < b.until ? 1 : -1));
}

/** What an answer replies to. */
export interface AnsweredQuestion {
  readonly text: string;
  /** What of memory stood beside the question, in the block or as evidence: facts by id, turns as `thread#seq`. */
  readonly shown: readonly string[];
}

/** Whether a turn names all that only an old fact says: all others run against no correction, but for its sources. */
export function namesOldValue(corrections: readonly Correction[], text: string): boolean {
  const words = meaning(text);
  return corrections.some(({ terms }) => terms.old.every((term) => words.has(term)));
}

/** The correction that a turn runs against, or null. `asked` is what an answer replies to, where it is known. */
export function correctionOf(
  document: MemoryDocument,
  corrections: readonly Correction[],
  turn: StatedTurn,
  asked: AnsweredQuestion = { text: "", shown: [] },
): Correction | null {
  if (corrections.length === 0) return null;
  const words = meaning(turn.text);
  const context = asked.text === "" ? words : new Set([...words, ...meaning(asked.text)]);
  const runsAgainst = (one: Correction): boolean => {
    if (one.sources.includes(turn.ref) && isBound(document, turn)) return true;
    // A person may say it again later, and then it is true again or about something else.
    if (turn.role === "user" && turn.at > one.until) return false;
    // An answer to a question that names the value itself speaks of it because it was asked to.
    const wasShown = asked.shown.some((id) => id === one.factId || one.sources.includes(id));
    const rested = wasShown && !namesOldValue([one], asked.text);
    return states(one, words, rested ? null : context);
  };
  return corrections.find(runsAgainst) ?? null;
}

/**
 * All of what only the old fact says, something of what both say, and not what the new one says. Without a context the turn is known to
 * speak of the fact.
 */
function states({ terms }: Correction, words: ReadonlySet<string>, context: ReadonlySet<string> | null): boolean {
  if (!terms.old.every((term) => words.has(term))) return false;
  if (terms.fresh.length > 0 && terms.fresh.every((term) => words.has(term))) return false;
  return context === null || terms.both.length === 0 || terms.both.some((term) => context.has(term));
}

function correction(document: MemoryDocument, fact: Fact, until: string): Correction {
  const { content: before, sourceMessageIds: sources = [] } = fact;
  const now = successor(document, fact);
  const [was, is] = [meaning(before), meaning(now ?? "")];
  const terms = {
    old: [...was].filter((term) => !is.has(term)),
    both: [...was].filter((term) => is.has(term)),
    fresh: [...is].filter((term) => !was.has(term)),
  };
  return { factId: fact.id, before, now, sources, until, terms };
}

/** What holds now: the fact under the same id, or the last of those that took its place. */
function successor({ facts }: MemoryDocument, fact: Fact): string | null {
  const seen = new Set<string>();
  let one = facts.find(({ id }) => id === fact.id);
  while (one !== undefined && one.validTo !== undefined && !seen.has(one.id)) {
    seen.add(one.id);
    const next = one.supersededBy;
    one = facts.find(({ id }) => id === next);
  }
  return one === undefined || one.validTo !== undefined ? null : one.content;
}
