/**
 * From text to index terms: NFKC, lower case, accents folded, English stems, stop words dropped, bigrams for scripts that write
 * without spaces, identifiers kept whole and split. Total: every string gives a list, none throws. A term has no white space,
 * no quote, no control character and at most MAX_TERM characters, so every engine can hold it as an opaque word.
 */
import { lastStep, namesIn } from "./names.ts";

import { stem } from "./words.ts";

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

type TermVisit = (term: string, weight: number, kind: Term["kind"], at: number, end: number) => void;

/** Like `analyze`, with a callback instead of an array. */
export function eachTerm(text: string, visit: TermVisit): void {
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
function visitChunk(text: string, from: number, visit: TermVisit): number {
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

type EmitTerm = (term: string, kind: Term["kind"], weight: number) => void;

// Which scripts write without spaces between words: there a word is found by pairs of neighbouring letters.

/** For a character class. The last two are the long vowel marks of Katakana, which belong to no script. */
const SPACELESS =
  "\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}\\u30fc\\uff70";

/** Found in a text of which anything is written without spaces. */
export const SPACELESS_LETTER = new RegExp(`[${SPACELESS}]`, "u");

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

function word(folded: string, emit: EmitTerm): void {
  if (!STOP_WORDS.has(folded)) emit(stem(folded), "word", 1);
}

/** Contractions, dates, numbers, hyphenated words, paths, code: whole where that means something, and in parts. */
function compound(chunk: string, emit: EmitTerm): void {
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

function identifier(raw: string, emit: EmitTerm): void {
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
function dateTerms(date: RegExpExecArray, whole: string, emit: EmitTerm): void {
  emit(whole, "identifier", 1);
  if (whole.length > 10) emit(date[0], "identifier", 1);
  const month = MONTHS[Number(date[2]) - 1];
  emit(date[1]!, "word", 1);
  if (month !== undefined) emit(stem(month), "word", 1);
  emit(String(Number(date[3])), "word", 1);
}

/** Every pair of neighbours; single characters weakly, so that a one-character question still finds something. */
function grams(run: string, at: number, visit: TermVisit): void {
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

/*
 * The words by which a passage can be terms again: paths, identifiers, numbers, rare words, pairs of letters in scripts without spaces. Everything that
 * scores, cites or checks a summary speaks of these. Linear in the text, any language.
 */

const MAX_WORD = 200;

/** Every term of a text, lower case, each once: names (and the last step of paths), words, pairs of letters in scripts without spaces. */
export function termsIn(text: string): Set<string> {
  const terms = new Set<string>();
  for (const name of namesIn(text)) {
    terms.add(name.text.toLowerCase());
    if (name.kind === "path") terms.add(lastStep(name.text).toLowerCase());
  }
  for (const match of text.matchAll(/[\p{L}\p{M}\p{N}_]+/gu)) {
    const word = match[0];
    if (word.length > MAX_WORD) {
      addBigrams(word.slice(0, 20_000), terms);
    } else if (SPACELESS_LETTER.test(word)) addBigrams(word, terms);
    else if (word.length >= 3) terms.add(word.toLowerCase());
  }
  return terms;
}

function addBigrams(word: string, into: Set<string>): void {
  const letters = [...word];
  for (let at = 0; at + 1 < letters.length; at++) into.add(`${letters[at]}${letters[at + 1]}`);
  if (letters.length === 1) into.add(word);
}

/** The words that carry no subject: dropped from the index, or weak in a question. Tables about English, nothing else. */

/** Never indexed: they stand in every text. Left-overs of contractions (`don't` gives `don`) are among them. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against ain all also am an and any are aren as at be because been before being below between both but by
  can cannot could couldn d did didn do does doesn doing don down during each either else ever few for from further had hadn has hasn
  have haven having he her here hers herself him himself his how i if in into is isn it its itself just let ll m ma me might mightn
  more most much must mustn my myself no nor not now o of off on once only or other our ours ourselves out over own re s
  same shall shan she should shouldn so some such t than that the their theirs them themselves then there these they this those
  through to too under until up us ve very was wasn we were weren what when where whether which while who whom whose why will with
  would wouldn y yes yeah oh hey hi hello wow ok okay you your yours yourself yourselves dont im ive
  `
    .trim()
    .split(/\s+/),
);

/**
 * Words of a question that say which kind of answer is wanted rather than what it is about: `what kind of`, `how long`,
 * `would be likely`. They match, at a fraction of the weight of the others.
 */
export const QUESTION_WORDS: ReadonlySet<string> = new Set(
  `kind type sort name many long often time date day year month week likely consider considered describe described according mention
  mentioned discuss discussed say said tell told talk talked ask asked use used using thing things get got way specific
  happen happened might recently currently current new first last able various different certain say give gave go went do make made
  `
    .trim()
    .split(/\s+/),
);

/**
 * Unicode normalization of text from strangers. Engines sort a run of combining marks in quadratic time, so that a few
 * hundred kilobytes of marks would keep a process busy for minutes. No written language has runs as long as the limit,
 * which is that of Unicode's Stream-Safe Text Format.
 */

const MOST_MARKS = 30;
const LONG_RUN = new RegExp(`(\\p{M}{${MOST_MARKS}})\\p{M}+`, "gu");

/** Normalizes the text; of a run of more than 30 combining marks the rest is dropped. */
export function normalized(text: string, form: "NFC" | "NFD" | "NFKC" | "NFKD"): string {
  return text.replace(LONG_RUN, "$1").normalize(form);
}

/*
 * The words that most texts are made of: letters of the English alphabet of which only the first may be a capital, or digits.
 * The term of one is remembered by its letters, so that a word that was seen before is read without making a string of it.
 */

/** Where such a word ends that begins there and is surely no part of a compound; else where it begins. */
export function plainWordEnd(text: string, at: number): number {
  let end = at;
  const first = text.charCodeAt(at);
  if (isDigit(first)) while (isDigit(text.charCodeAt(end))) end += 1;
  else if (isSmallLetter(first | SMALL)) {
    end += 1;
    while (isSmallLetter(text.charCodeAt(end))) end += 1;
  }
  if (end === at || isBlank(text, end)) return end;
  return SENTENCE_SIGNS.includes(text[end]!) && isBlank(text, end + 1) ? end : at;
}

/** The term of such a word; empty for a stop word. */
export function plainWordTerm(text: string, start: number, end: number): string {
  let hash = 0;
  for (let at = start; at < end; at += 1) hash = (Math.imul(hash, 31) + (text.charCodeAt(at) | SMALL)) | 0;
  const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
  if (isAt(text, start, end, words[slot]!)) return terms[slot]!;
  // Cut from a text of its own, so that what is remembered doesn't keep all of this one.
  const word = `${text.slice(start, end)} `.toLowerCase().slice(0, -1);
  words[slot] = word;
  terms[slot] = STOP_WORDS.has(word) ? "" : stem(word);
  return terms[slot];
}

/** A pure function's memo: what comes to the same slot takes its place, which changes nothing but the time. */
const SLOTS = 2 ** 16;

const words = new Array<string>(SLOTS).fill("");

const terms = new Array<string>(SLOTS).fill("");

function isAt(text: string, start: number, end: number, word: string): boolean {
  if (word.length !== end - start) return false;
  for (let at = 0; at < word.length; at += 1)
    if (word.charCodeAt(at) !== (text.charCodeAt(start + at) | SMALL)) return false;
  return true;
}

/** What makes a small letter of a capital, and leaves small ones and digits as they are. */
const SMALL = 32;

function isSmallLetter(code: number): boolean {
  return code >= 97 && code <= 122;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

const SENTENCE_SIGNS = ".,:?!;";

function isBlank(text: string, at: number): boolean {
  return at >= text.length || text[at] === " " || text[at] === "\n";
}
