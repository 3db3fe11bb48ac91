/**
 * Recognizes sentences by which a user tells how things are to be done from then on ("always use type hints"), and lasting
 * preferences ("I prefer short answers"). Without a model, and precision first: a sentence that only might be one is left out.
 * Code, quotations, questions and what stands after the introduction of somebody else's text are never read. Pure, total on
 * every string, linear.
 */

import { OPENERS, ownWords, sentencesIn } from "../text/own-words.ts";
import { INSTRUCTIONS, ONCE, PREFERENCES, STATEMENT, TOLD } from "./standing-forms.ts";

export interface StandingSentence {
  readonly kind: "instruction" | "preference";
  readonly text: string;
}

/** Held by every entry with such a sentence. No word begins with such a sign, so no text can hold it by chance. */
export const STANDING_TERM = "@standing";

const MAX_SENTENCE = 400;
const MAX_READ = 50_000;

/** In the order they stand. */
export function standingSentences(text: string): StandingSentence[] {
  const read = text.slice(0, MAX_READ);
  const plain = ownWords(read, { quotes: "all", paragraphs: "strict", isKnown: (one) => kindOf(one) !== null });
  const found: StandingSentence[] = [];
  for (const { start, end } of sentencesIn(plain)) {
    const kind = end - start > MAX_SENTENCE ? null : kindOf(plain.slice(start, end));
    if (kind !== null) found.push({ kind, text: read.slice(start, end).replace(LIST_MARK, "").trim() });
  }
  return found;
}

const LIST_MARK = /^\s*(?:[-*+\u2022]|\d{1,2}[.)])\s+/;

function kindOf(raw: string): StandingSentence["kind"] | null {
  const sentence = raw.replace(LIST_MARK, "").trim();
  if (sentence.length < 8 || TOLD.test(sentence)) return null;
  const bare = sentence.replace(OPENERS, "");
  const asks = /[?\uff1f]["')\]]*$/.test(sentence);
  if (!asks && INSTRUCTIONS.some((form) => form.test(bare)) && !STATEMENT.test(bare)) return "instruction";
  return PREFERENCES.some((form) => form.test(bare)) && !ONCE.test(bare) ? "preference" : null;
}
