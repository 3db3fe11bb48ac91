/** How much room text takes at a terminal: wide letters and emoji two columns, marks and colors none. Pure. */
import { stripVTControlCharacters } from "node:util";

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** What a person sees as one character. */
export function graphemes(text: string): string[] {
  return ASCII.test(text) ? text.split("") : Array.from(SEGMENTER.segment(text), ({ segment }) => segment);
}

/** Colors take no room. */
export function columns(text: string): number {
  const visible = text.includes(ESCAPE) ? stripVTControlCharacters(text) : text;
  return ASCII.test(visible) ? visible.length : graphemes(visible).reduce((sum, one) => sum + width(one), 0);
}

/** One line cut into rows that fit, wherever that is; its colors go on in the next row. */
export function rowsOf(text: string, room: number): string[] {
  if (columns(text) <= room) return [text];
  const rows = [""];
  let used = 0;
  for (const piece of text.split(STYLE)) {
    if (piece.startsWith(ESCAPE)) {
      rows[rows.length - 1] += piece;
      continue;
    }
    for (const one of graphemes(piece)) {
      const size = width(one);
      if (used + size > room && used > 0) {
        rows.push("");
        used = 0;
      }
      rows[rows.length - 1] += one;
      used += size;
    }
  }
  return rows;
}

/** At most so many columns, the last of them an ellipsis if something was left out. For text without colors. */
export function clipColumns(text: string, room: number): string {
  if (columns(text) <= room) return text;
  return `${rowsOf(text, Math.max(1, room - 1))[0]}…`;
}

/** Filled up with spaces. */
export function padded(text: string, room: number): string {
  return text + " ".repeat(Math.max(0, room - columns(text)));
}

const ESCAPE = "\u001b";
const STYLE = new RegExp(`(${ESCAPE}\\[[\\d;]*m)`);
// Printable only: what else there is takes no room.
const ASCII = /^[ -~]*$/;
const NO_ROOM = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u;
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]|^\p{Emoji_Presentation}|\ufe0f/u;

function width(grapheme: string): number {
  if (NO_ROOM.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}
