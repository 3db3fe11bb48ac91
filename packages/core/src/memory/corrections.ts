/**
 * What memory no longer holds to be true, and which turns still say it. A person edits or forgets a fact, or a later one takes its
 * place; the turns that stated the old one stay in the log, and so do answers that repeated it. Neither may speak for it. Pure.
 */
import { isBound, type NamedTurn } from "./bindings.ts";
import { type Change, ERASED } from "./changes.ts";
import { type Fact, liveFacts, type MemoryDocument } from "./document.ts";
import { meaning, saysTheSame } from "./likeness.ts";

export interface Correction {
  readonly factId: string;
  /** The fact as it was. */
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
