/**
 * Where a proposed fact comes from. Only the user's own words are a source: the quote must stand in a user message that
 * carries the fact, and names, numbers and addresses in the fact must have been said by the user. An assistant's answer is context only, so
 * what a page or tool said can't become a fact by being repeated [F36].
 */
import { fold, isSpaceless } from "../text/analyze.ts";
import { properNames } from "../text/names.ts";
import type { SourceTurn } from "./extract-input.ts";
import { meaning, normal, reverses } from "./likeness.ts";
import type { Addition } from "./update.ts";

export type Sourced =
  | { readonly kind: "sourced"; readonly refs: readonly string[] }
  | { readonly kind: "unsourced"; readonly reason: "no-user-source" | "not-said-by-user" };

/** `known`: text that is remembered already; its names may be used without being said again. */
export function findSource(fact: Addition, turns: readonly SourceTurn[], known: string): Sourced {
  const userTurns = turns.filter(({ role }) => role === "user");
  const refs = quotedIn(fact, userTurns);
  if (refs.length === 0) return { kind: "unsourced", reason: "no-user-source" };
  const words = userTurns.map(({ text }) => text).join("\n");
  const heard = turns.flatMap(({ role, text }) => (role === "assistant" ? [text] : [])).join("\n");
  if (
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
  return isSpaceless(quote) && normal(text).includes(quote);
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
  const start = /^\d/.test(wanted) ? wanted : wanted.slice(0, Math.max(4, wanted.length - 2));
  return fold(words).includes(start);
}
