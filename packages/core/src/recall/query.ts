/**
 * Reads a question: which terms it asks for and how much each counts, which identifiers it quotes, which dates it states.
 * Nothing in it is ever an operator; quotes, stars and brackets are separators like any other. Total on every string.
 */
import { analyze, fold } from "../text/analyze.ts";
import { stem } from "../text/stem.ts";
import { QUESTION_WORDS } from "../text/stop-words.ts";
import { statedDates, type TimeRange } from "./dates.ts";

export interface Query {
  readonly terms: readonly QueryTerm[];
  readonly dates: readonly TimeRange[];
  /** Folded words as written, for the names of speakers. */
  readonly words: ReadonlySet<string>;
}

export interface QueryTerm {
  readonly term: string;
  readonly weight: number;
  /** An identifier quoted whole: an entry that holds it comes first. */
  readonly exact: boolean;
}

/** Of a longer question the first terms count; the cost of a search stays bounded whatever is pasted. */
const MAX_TERMS = 64;
const PART_WEIGHT = 0.3;
const QUESTION_WORD_WEIGHT = 0.4;

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
    });
  }
  const words = new Set(
    fold(text.slice(0, 10_000))
      .split(/[^\p{L}\p{M}\p{N}]+/u)
      .filter((word) => word !== ""),
  );
  return { terms: [...terms.values()], dates: statedDates(text), words };
}

const QUESTION_STEMS: ReadonlySet<string> = new Set([...QUESTION_WORDS].map(stem));

/** A separator or a digit among letters: nobody writes that by chance. A brand's inner capital is not enough. */
function isStrict(term: string): boolean {
  return /[_./:\\@#]/.test(term) || (/\d/.test(term) && /\p{L}/u.test(term)) || /^\d{4}-\d{2}-\d{2}/.test(term);
}
