/**
 * When two facts say the same, and when one takes the other's place. Deliberately narrow [F57]: a contradiction is the
 * same subject and the same attribute, nothing wider; what merely resembles stays beside it.
 */
import { analyze, normalized } from "../text/analyze.ts";

/** The words that carry a fact's meaning; who it is about goes without saying. */
export function meaning(text: string): Set<string> {
  const terms = analyze(text).filter(({ kind }) => kind !== "part");
  return new Set(terms.map(({ term }) => term).filter((term) => !ABOUT_THE_USER.has(term)));
}

/** The same statement, perhaps in another order or with other small words. */
export function saysTheSame(a: string, b: string): boolean {
  return areSame(statementOf(a), statementOf(b));
}

interface Statement {
  readonly wording: string;
  readonly negated: boolean;
  readonly terms: ReadonlySet<string>;
  readonly numbers: string;
}

function statementOf(text: string): Statement {
  return { wording: normal(text), negated: isNegated(text), terms: meaning(text), numbers: numbers(text) };
}

function areSame(a: Statement, b: Statement): boolean {
  if (a.wording === b.wording) return true;
  if (a.negated !== b.negated || a.numbers !== b.numbers || a.terms.size === 0 || b.terms.size === 0) return false;
  let shared = 0;
  for (const term of a.terms) if (b.terms.has(term)) shared += 1;
  return shared / (a.terms.size + b.terms.size - shared) >= SAME_SHARE;
}

/** Which texts say the same as one of many, each of which is read once. Yields after each. */
export function* sayingTheSameAs(texts: readonly string[]): Generator<void, (text: string) => boolean> {
  const known: Statement[] = [];
  for (const text of texts) {
    known.push(statementOf(text));
    yield;
  }
  const wordings = new Set(known.map(({ wording }) => wording));
  const byTerm = new Map<string, Statement[]>();
  for (const one of known)
    for (const term of one.terms) {
      const list = byTerm.get(term);
      if (list === undefined) byTerm.set(term, [one]);
      else list.push(one);
    }
  return (text) => {
    const asked = statementOf(text);
    if (wordings.has(asked.wording)) return true;
    const lists = [...asked.terms].map((term) => byTerm.get(term) ?? NONE).sort((a, b) => a.length - b.length);
    // A statement that says the same lacks so few of the terms that it has one of these.
    const enough = lists.length - Math.ceil(lists.length * SAME_SHARE) + 1;
    return lists.slice(0, enough).some((list) => list.some((one) => areSame(asked, one)));
  };
}

const NONE: readonly Statement[] = [];

/** Whether `next` can't be true together with `old`: the opposite, or another value of what has one value only. */
export function contradicts(old: string, next: string): boolean {
  const attribute = singleValued(old);
  if (attribute !== null && attribute === singleValued(next)) return !saysTheSame(old, next);
  if (isNegated(old) === isNegated(next)) return false;
  const [left, right] = [withoutPolarity(old), withoutPolarity(next)];
  return left.size > 0 && left.size === right.size && [...left].every((term) => right.has(term));
}

/** Whether a fact turns the words it rests on into their opposite. */
export function reverses(quote: string, fact: string): boolean {
  if (isNegated(quote) === isNegated(fact)) return false;
  const [said, told] = [withoutPolarity(quote), withoutPolarity(fact)];
  // Of several things that were said, one that is denied may be another than the fact speaks of.
  return told.size > 0 && [...told].every((term) => said.has(term)) && (isNegated(fact) || told.size === said.size);
}

/** Whether an update may replace a fact at all: they share much of what they say, and where a fact has one value only, its value. */
export function sharesSubject(old: string, next: string): boolean {
  const attribute = SINGLE_VALUED.find(([, pattern]) => pattern.test(old));
  const value = meaning(attribute === undefined ? old : old.replace(attribute[1], " "));
  const told = meaning(next);
  const shared = [...told].filter((term) => value.has(term)).length;
  return contradicts(old, next) || (shared > 0 && shared >= Math.min(value.size, told.size) * RELATED_SHARE);
}

const RELATED_SHARE = 0.4;

/** Letters and digits only, in one case: for comparing quotes and spotting repeats. */
export function normal(text: string): string {
  return normalized(text, "NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

const SAME_SHARE = 0.85;

const ABOUT_THE_USER: ReadonlySet<string> = new Set(["user", "nutzer", "benutzer", "utilisateur", "usuario", "assist"]);

const NEGATION =
  /\b(?:not|no|never|no longer|any ?more|doesn't|don't|isn't|aren't|won't|can't|cannot|stopped|quit|nicht|kein\w*|nie|ne|pas|plus|jamais|nunca|ya no|niet|geen|inte|ikke|non(?!-)|n\u00e3o)\b|(?<!\p{L})(?:\u043d\u0435|\u043d\u0435\u0442|\u043d\u0438\u043a\u043e\u0433\u0434\u0430)(?!\p{L})|\u4e0d|\u6ca1|\u975e|\u306a\u3044|\u307e\u305b\u3093/iu;

const POLARITY: ReadonlySet<string> = new Set(
  "anymor longer never stop quit more doesn don isn aren nicht kein keine keinen mehr nie pas plus jamais nunca".split(
    " ",
  ),
);

export function isNegated(text: string): boolean {
  return NEGATION.test(plainly(text));
}

/** Reduces synonyms of liking and disliking to one wording. */
export function plainly(text: string): string {
  return text
    .replace(/\u2019/g, "'")
    .replace(/\b(?:dislikes?|hates?)\b/gi, "does not like")
    .replace(/\b(?:loves|enjoys)\b/gi, "likes");
}

function withoutPolarity(text: string): Set<string> {
  return new Set([...meaning(plainly(text))].filter((term) => !POLARITY.has(term)));
}

function numbers(text: string): string {
  return (text.match(/\d+(?:[.,]\d+)*/g) ?? []).join(" ");
}

/** What a person has one of at a time. */
function singleValued(text: string): string | null {
  for (const [attribute, pattern] of SINGLE_VALUED) if (pattern.test(text)) return attribute;
  return null;
}

const SINGLE_VALUED: readonly (readonly [string, RegExp])[] = [
  ["home", /\b(?:lives? in|living in|moved to|based in|resides in|wohnt in|lebt in|habite|vive en)\b/i],
  ["employer", /\b(?:works? (?:at|for)|employed (?:at|by)|arbeitet bei|travaille chez|trabaja en)\b/i],
  ["name", /\b(?:name is|is called|is named|hei\u00dft|s'appelle|se llama)\b/i],
  ["age", /\bis \d{1,3} years old\b|\bist \d{1,3} jahre alt\b/i],
  ["time zone", /\btime ?zone\b/i],
  ["birthday", /\b(?:birthday|was born on|born on)\b/i],
];
