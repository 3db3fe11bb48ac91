/** The part of a found message that answers best, and where in it the words stand that matched: as numbers, not as marks. */
import { snippet } from "@palimpsest/core/recall";
import { plain } from "./terminal-text.ts";

export interface FoundWords {
  readonly snippet: string;
  /** Start and end of each word that matched, as offsets into the snippet. */
  readonly marks: readonly (readonly [number, number])[];
}

export function foundWords(text: string, question: string): FoundWords {
  // Two characters that the text doesn't hold tell its own words from the marks.
  const [open = "", close = ""] = UNUSUAL.filter((character) => !text.includes(character));
  const marked = snippet(text, question, { marks: [open, close] });
  if (close === "") return { snippet: marked.replaceAll(open, ""), marks: [] };
  const marks: [number, number][] = [];
  let plain = "";
  for (const piece of marked.split(open)) {
    const [word = "", rest] = piece.split(close);
    if (rest !== undefined) marks.push([plain.length, plain.length + word.length]);
    plain += word + (rest ?? "");
  }
  return { snippet: plain, marks };
}

const UNUSUAL = ["\u0001", "\u0002", "\u0003", "\u0004", "\ue000", "\ue001"];

/** For a terminal: the words that matched in bold. Nothing in the text can steer the terminal. */
export function inBold({ snippet: text, marks }: FoundWords): string {
  let shown = "";
  let at = 0;
  for (const [start, end] of marks) {
    shown += `${plain(text.slice(at, start))}\u001b[1m${plain(text.slice(start, end))}\u001b[22m`;
    at = end;
  }
  return shown + plain(text.slice(at));
}

/** Why a search has nothing to show. */
export const NOTHING_FOUND = {
  missing: "There is no such thread.",
  "no-terms": "The question has no word that could be looked for: name something that was said.",
  "no-match": "Nothing found.",
} as const;
