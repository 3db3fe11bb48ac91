/**
 * The words by which a passage can be terms again: paths, identifiers, numbers, rare words, pairs of letters in scripts without spaces. Everything that
 * scores, cites or checks a summary speaks of these. Linear in the text, any language.
 */

import { isSpaceless } from "./analyze.ts";
import { lastStep, namesIn } from "./names.ts";

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
    } else if (isSpaceless(word)) addBigrams(word, terms);
    else if (word.length >= 3) terms.add(word.toLowerCase());
  }
  return terms;
}

function addBigrams(word: string, into: Set<string>): void {
  const letters = [...word];
  for (let at = 0; at + 1 < letters.length; at++) into.add(`${letters[at]}${letters[at + 1]}`);
  if (letters.length === 1) into.add(word);
}
