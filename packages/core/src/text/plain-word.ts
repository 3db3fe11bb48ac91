/**
 * The words that most texts are made of: letters of the English alphabet of which only the first may be a capital, or digits.
 * The term of one is remembered by its letters, so that a word that was seen before is read without making a string of it.
 */
import { stem } from "./stem.ts";
import { STOP_WORDS } from "./stop-words.ts";

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
