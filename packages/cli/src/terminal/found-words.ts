/** The words of a found message that matched, on a terminal. */
import type { Snippet } from "@palimpsest/core/recall";
import { plain } from "./terminal-text.ts";

/** In bold. Nothing in the text can steer the terminal. */
export function inBold(snippet: Snippet): string {
  return wrapMarks(snippet, (word) => `\u001b[1m${plain(word)}\u001b[22m`, plain);
}

/** As Markdown, for what is rendered later. */
export function inMarkdown(snippet: Snippet): string {
  return wrapMarks(
    snippet,
    (word) => `**${word}**`,
    (rest) => rest,
  );
}

function wrapMarks({ text, marks }: Snippet, wrap: (word: string) => string, other: (rest: string) => string): string {
  let output = "";
  let at = 0;
  for (const [start, end] of marks) {
    output += other(text.slice(at, start)) + wrap(text.slice(start, end));
    at = end;
  }
  return output + other(text.slice(at));
}

/** Why a search has nothing to show. */
export const NOTHING_FOUND = {
  missing: "There is no such thread.",
  "no-terms": "The question has no word that could be looked for: name something that was said.",
  "no-match": "Nothing found.",
} as const;
