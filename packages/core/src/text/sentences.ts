/**
 * Cuts a text into sentences and lines worth quoting, in any language. Fenced code is passed over; list items and
 * headings stand alone. Linear, and each sentence is capped, so one 5 MB line costs no more than its scan.
 */

import { clip } from "./clip.ts";
import { linesOf } from "./failing-lines.ts";

const MAX_SENTENCE = 320;

export function sentences(text: string): string[] {
  const parts: string[] = [];
  let inFence = false;
  for (const raw of linesOf(text)) {
    if (/^\s*(?:```|~~~)/.test(raw)) {
      inFence = !inFence;
      continue;
    }
    if (inFence) continue;
    for (const piece of split(raw)) {
      const sentence = piece.replace(/^\s*(?:[-*+•]|\d{1,2}[.)]|#{1,6}|>)\s+/, "").trim();
      if (sentence.length > 1) parts.push(clip(sentence, MAX_SENTENCE));
    }
  }
  return parts;
}

/** Ends at . ! ? followed by a space and at the full-width marks; a dot inside a number or a path is no end. */
function split(line: string): string[] {
  if (line.length <= 40) return [line];
  const pieces: string[] = [];
  let start = 0;
  for (const match of line.matchAll(/[.!?]["'”’)\]]*(?=\s)|[。！？；]["」』”]*/gu)) {
    const end = match.index + match[0].length;
    // "e.g. this" and "1. that" are not ends.
    if (end - start < 12 || /(?:^|\s)(?:e\.g|i\.e|etc|vs|cf|\d+)\.$/.test(line.slice(Math.max(0, end - 6), end)))
      continue;
    pieces.push(line.slice(start, end));
    start = end;
  }
  if (start < line.length) pieces.push(line.slice(start));
  return pieces;
}
