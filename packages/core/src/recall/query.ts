/**
 * Reads a question: which terms it asks for and how much each counts, which identifiers it quotes, which dates it states,
 * whether it asks for a time.
 * Nothing in it is ever an operator; quotes, stars and brackets are separators like any other. Total on every string.
 */
import { analyze, fold, QUESTION_WORDS } from "../text/analyze.ts";
import { membersOf } from "../text/names.ts";
import { stem } from "../text/stem.ts";
import { asksTime, type StatedDate, statedDates } from "./dates.ts";
import { STANDING_TERM, TYPED_TERM } from "./standing.ts";

export interface Query {
  readonly terms: readonly QueryTerm[];
  readonly dates: readonly StatedDate[];
  /** Folded words as written, for the names of speakers. */
  readonly words: ReadonlySet<string>;
  /** Whose words are asked for, where the question says so: "what did you recommend". */
  readonly asks: "assistant" | null;
}

export interface QueryTerm {
  readonly term: string;
  /** 0: it finds nothing by itself. */
  readonly weight: number;
  /** An identifier quoted whole: an entry that holds it comes first. */
  readonly exact: boolean;
  /** It counts where it stands: neighbors get no share of it. Such terms come last. */
  readonly alone: boolean;
}

/** Of a longer question the first terms count; the cost of a search stays bounded whatever is pasted. */
const MAX_TERMS = 64;
const PART_WEIGHT = 0.3;
const QUESTION_WORD_WEIGHT = 0.4;
/** What is of a kind that the question names, against the word itself. */
const MEMBER_WEIGHT = 0.3;
/** Held by every entry that names a time. No word begins with such a sign, so no text can hold it by chance. */
export const TIME_TERM = "@time";

export function analyzeQuery(text: string): Query {
  const terms = new Map<string, QueryTerm>();
  for (const { term, kind, weight: own } of analyze(text)) {
    const questionWeight = QUESTION_STEMS.has(term) ? QUESTION_WORD_WEIGHT : 1;
    const weight = kind === "part" ? PART_WEIGHT * questionWeight : own * questionWeight;
    const before = terms.get(term);
    if (before === undefined && terms.size >= MAX_TERMS) continue;
    const exact = kind === "identifier" && isStrict(term);
    terms.set(term, {
      term,
      weight: Math.max(weight, before?.weight ?? 0),
      exact: exact || before?.exact === true,
      alone: false,
    });
  }
  for (const { term, weight } of [...terms.values()]) {
    for (const member of membersOf(term)) {
      if (!terms.has(member) && terms.size < MAX_TERMS)
        terms.set(member, { term: member, weight: weight * MEMBER_WEIGHT, exact: false, alone: true });
    }
  }
  const always = [STANDING_TERM, TYPED_TERM];
  const marks = terms.size === 0 ? [] : asksTime(text) ? [TIME_TERM, ...always] : always;
  for (const term of marks) terms.set(term, { term, weight: 0, exact: false, alone: true });
  const words = new Set(
    fold(text.slice(0, 10_000))
      .split(/[^\p{L}\p{M}\p{N}]+/u)
      .filter((word) => word !== ""),
  );
  const asks = ASKS_ASSISTANT.test(text.slice(0, 10_000)) ? "assistant" : null;
  return { terms: [...terms.values()], dates: statedDates(text), words, asks };
}

const ASKS_ASSISTANT =
  /\b(?:did|have|had) you\b|\byou(?:'ve| have| had)? (?:recommended|suggested|advised|proposed|explained|said|told|gave|provided|offered|described|listed|showed|walked)\b|\byour (?:advice|recommendations?|suggestions?|answers?|explanation|response)\b/i;

const QUESTION_STEMS: ReadonlySet<string> = new Set([...QUESTION_WORDS].map(stem));

/** A separator or a digit among letters: nobody writes that by chance. A brand's inner capital is not enough. */
function isStrict(term: string): boolean {
  return /[_./:\\@#]/.test(term) || (/\d/.test(term) && /\p{L}/u.test(term)) || /^\d{4}-\d{2}-\d{2}/.test(term);
}
