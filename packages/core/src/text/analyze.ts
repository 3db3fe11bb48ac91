/**
 * From text to index terms: NFKC, lower case, accents folded, English stems, stop words dropped, bigrams for scripts that write
 * without spaces, identifiers kept whole and split. Total: every string gives a list, none throws. A term has no white space,
 * no quote, no control character and at most MAX_TERM characters, so every engine can hold it as an opaque word.
 */
import { normalized } from "./normalized.ts";
import { plainWordEnd, plainWordTerm } from "./plain-word.ts";
import { stem } from "./stem.ts";
import { STOP_WORDS } from "./stop-words.ts";

/**
 * `word`: a plain word; `identifier`: a compound kept whole; `part`: a piece of a compound; `gram`: one or two characters of a
 * script without spaces. `at` and `end` are where it stood in the text.
 */
export interface Term {
  readonly term: string;
  readonly kind: "word" | "identifier" | "part" | "gram";
  readonly weight: number;
  readonly at: number;
  readonly end: number;
}

export const MAX_TERM = 120;
const MAX_PARTS = 24;
/** Splitting a longer run would cost more than its parts are worth. */
const MAX_SPLIT = 400;
const PART_WEIGHT = 0.3;
const BASE_NAME_WEIGHT = 0.7;
const SINGLE_GRAM_WEIGHT = 0.3;

export function analyze(text: string): Term[] {
  const terms: Term[] = [];
  eachTerm(text, (term, weight, kind, at, end) => terms.push({ term, kind, weight, at, end }));
  return terms;
}

type Visit = (term: string, weight: number, kind: Term["kind"], at: number, end: number) => void;

/** The same, for whoever keeps none of them. */
export function eachTerm(text: string, visit: Visit): void {
  for (let at = 0; at < text.length; ) {
    const end = plainWordEnd(text, at);
    // Most words of most texts, without the detours that the others need.
    if (end > at) {
      const term = end - at > MAX_TERM ? "" : plainWordTerm(text, at, end);
      if (term !== "") visit(term, 1, "word", at, end);
      at = end;
    } else if (isAsciiGap(text.charCodeAt(at))) at += 1;
    else at = visitChunk(text, at, visit);
  }
}

/** What is in no chunk: ASCII without letters, digits and `_`. */
function isAsciiGap(code: number): boolean {
  return code < 48 || (code > 57 && code < 65) || (code > 90 && code < 97 && code !== 95) || (code > 122 && code < 128);
}

/** The next chunk from there on; where it ends. */
function visitChunk(text: string, from: number, visit: Visit): number {
  CHUNK.lastIndex = from;
  const match = CHUNK.exec(text);
  if (match === null) return text.length;
  const chunk = match[0];
  const at = match.index;
  const end = at + chunk.length;
  const emit = (raw: string, kind: Term["kind"], weight: number): void => {
    const term = holdable(raw);
    if (term !== "" && term.length <= MAX_TERM) visit(term, weight, kind, at, end);
  };
  if (LOWER_WORD.test(chunk)) word(chunk, emit);
  else if (match[1] !== undefined) grams(chunk, at, visit);
  else if (match[2] !== undefined) emit(fold(chunk), "word", 1);
  else if (PLAIN_WORD.test(chunk)) word(fold(chunk), emit);
  else compound(fold(chunk, "keep-case"), emit);
  return end;
}

/** Compatibility forms as one, lower case, Latin, Hebrew and Arabic marks dropped; vowel signs of other scripts stay. */
export function fold(text: string, letterCase: "lower" | "keep-case" = "lower"): string {
  if (ASCII.test(text)) return letterCase === "lower" ? text.toLowerCase() : text;
  const plain = normalized(text, "NFKD").replace(DROPPED_MARKS, "").normalize("NFC");
  return letterCase === "lower" ? plain.toLowerCase().normalize("NFC") : plain;
}

/** Compatibility forms can hide spaces and signs (`\ufdfa` is four words): what no engine should see is taken out. */
function holdable(term: string): string {
  return PLAIN_TERM.test(term) ? term : term.replace(NOT_IN_TERMS, "");
}

type Emit = (term: string, kind: Term["kind"], weight: number) => void;

// Which scripts write without spaces between words: there a word is found by pairs of neighbouring letters.

/** For a character class. The last two are the long vowel marks of Katakana, which belong to no script. */
const SPACELESS =
  "\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}\\u30fc\\uff70";

const ANY = new RegExp(`[${SPACELESS}]`, "u");

/** Whether any of it is written without spaces. */
export function isSpaceless(text: string): boolean {
  return ANY.test(text);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range begins at 0
const ASCII = /^[\x00-\x7f]*$/;
const LOWER_WORD = /^[a-z]+$/;
const PLAIN_TERM = /^[\w\-./:\\@#]*$/;
const NOT_IN_TERMS = /[^\p{L}\p{M}\p{N}\p{Extended_Pictographic}_\-./:\\@#]+/gu;
const DROPPED_MARKS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/gu;
const START = `[[\\p{L}\\p{N}_]--[${SPACELESS}]]`;
const INNER = `[[\\p{L}\\p{M}\\p{N}_]--[${SPACELESS}]]`;
/** Runs of a script without spaces | one pictograph | a word or a compound joined by the usual separators. */
const CHUNK = new RegExp(
  `([${SPACELESS}][${SPACELESS}\\p{M}]*)|(\\p{Extended_Pictographic})|${START}${INNER}*(?:[\\-.,\\/:\\\\@#'\u2019]{1,2}${START}${INNER}*)*`,
  "gv",
);
const PLAIN_WORD = /^(?:\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|\p{Lu}+|\p{N}+)$/u;

function word(folded: string, emit: Emit): void {
  if (!STOP_WORDS.has(folded)) emit(stem(folded), "word", 1);
}

/** Contractions, dates, numbers, hyphenated words, paths, code: whole where that means something, and in parts. */
function compound(chunk: string, emit: Emit): void {
  const straight = chunk.replaceAll("\u2019", "'");
  if (/^\p{L}+n't$/iu.test(straight)) return;
  const bare = straight.replace(/'(?:s|t|re|ve|ll|d|m)$/iu, "");
  const lower = bare.toLowerCase();
  const date = /^(\d{4})-(\d{2})-(\d{2})/.exec(lower);
  const ordinal = /^(\d+)(?:st|nd|rd|th)$/.exec(lower);
  if (/^[\p{L}\p{M}]+$/u.test(bare) && PLAIN_WORD.test(bare)) word(lower, emit);
  else if (date) dateTerms(date, lower, emit);
  else if (/^\d[\d,.]*$/.test(lower)) emit(lower.replaceAll(",", ""), "word", 1);
  else if (ordinal) emit(ordinal[1]!, "word", 1);
  else {
    for (const piece of bare.split(/[',]+/)) {
      if (piece === "") continue;
      if (PLAIN_WORD.test(piece)) word(piece.toLowerCase(), emit);
      else identifier(piece, emit);
    }
  }
}

function identifier(raw: string, emit: Emit): void {
  const piece = raw.slice(0, MAX_SPLIT);
  const lower = piece.toLowerCase();
  const parts = piece
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, " ")
    .split(/[\s\-./:\\@#_]+/)
    .filter((part) => part !== "");
  const prose = isProse(piece, parts);
  emit(/^[a-z]+$/.test(lower) ? stem(lower) : lower, prose ? "part" : "identifier", prose ? PART_WEIGHT : 1);
  const base = /[/\\]([^/\\]+)$/.exec(lower)?.[1];
  if (base !== undefined && !prose) emit(stem(base), "identifier", BASE_NAME_WEIGHT);
  const pieces = base === undefined && !prose ? lower.split(":").filter(isName).slice(0, MAX_PARTS) : [];
  if (lower.includes(":")) for (const name of pieces) emit(name, "identifier", BASE_NAME_WEIGHT);
  for (const part of parts.slice(0, MAX_PARTS)) {
    const folded = part.toLowerCase();
    if (folded === lower || folded === base || (folded.length < 2 && !/\d/.test(folded)) || STOP_WORDS.has(folded))
      continue;
    emit(stem(folded), prose ? "word" : "part", prose ? 1 : PART_WEIGHT);
  }
}

/** A piece of `work-item-301-2:BLOCKED` that is an identifier by itself. */
function isName(piece: string): boolean {
  return piece.length > 2 && (/[_.-]/.test(piece) || (/\p{L}/u.test(piece) && /\d/.test(piece)));
}

/** `self-care`, `and/or`, `end.Next`: words that prose joins, as against `src/a-b.ts`. */
function isProse(piece: string, parts: readonly string[]): boolean {
  if (!parts.every((part) => /^\p{Lu}?[\p{Ll}\p{M}]+$/u.test(part))) return false;
  return /^[\p{L}\p{M}]+(?:-[\p{L}\p{M}]+)+$/u.test(piece) || /^[\p{L}\p{M}]+[/.:]{1,2}[\p{L}\p{M}]+$/u.test(piece);
}

const MONTHS = "january february march april may june july august september october november december".split(" ");

/** An ISO date also gives the terms of the date in words. */
function dateTerms(date: RegExpExecArray, whole: string, emit: Emit): void {
  emit(whole, "identifier", 1);
  if (whole.length > 10) emit(date[0], "identifier", 1);
  const month = MONTHS[Number(date[2]) - 1];
  emit(date[1]!, "word", 1);
  if (month !== undefined) emit(stem(month), "word", 1);
  emit(String(Number(date[3])), "word", 1);
}

/** Every pair of neighbours; single characters weakly, so that a one-character question still finds something. */
function grams(run: string, at: number, visit: Visit): void {
  const folded = [...holdable(fold(run)).matchAll(GRAPH)];
  const length = run.length;
  folded.forEach((term, index) => {
    const next = folded[index + 1];
    const start = at + Math.min(term.index, length - 1);
    const end = at + Math.min(term.index + term[0].length + (next?.[0].length ?? 0), length);
    const weight = folded.length === 1 ? 1 : SINGLE_GRAM_WEIGHT;
    if (/\p{sc=Han}/u.test(term[0]) || folded.length === 1) {
      visit(term[0].slice(0, MAX_TERM), weight, "gram", start, end);
    }
    if (next) visit((term[0] + next[0]).slice(0, MAX_TERM), 1, "gram", start, end);
  });
}

const GRAPH = /\P{M}\p{M}{0,8}/gu;
