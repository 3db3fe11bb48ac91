/**
 * Foreign text made safe to print: what somebody else wrote (a message, a title, a tool's name, a provider's error, a
 * key of a file) must not move the cursor, hide text or change the terminal. Joiners of letters and emoji stay.
 */

import { stripVTControlCharacters } from "node:util";
import type { ThreadCost } from "palimpsest/home";

/** Control characters of both sets, line ends of Unicode, what turns the direction of the text around and what hides in it. */
const STEERING = /[\p{Cc}\u200b\u2028-\u202e\u2060\u2066-\u2069\ufeff]/gu;

/** For one line. */
export function printable(text: string): string {
  return text.replace(STEERING, (char) => (char === "\t" ? " " : "\ufffd"));
}

/** For any number of lines. */
export function plain(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(STEERING, (char) => (char === "\n" || char === "\t" ? char : "\ufffd"));
}

/** The same JSON, whose strings show these characters as escapes; `JSON.stringify` does it for the first set alone. */
export function safeJson(json: string): string {
  return json.replace(STEERING, (char) =>
    /[\t\n\r]/.test(char) ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/* How much room text takes at a terminal: wide letters and emoji two columns, marks and colors none. Pure. */

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

/** Numbers as people read them: 501,458. */
export function grouped(value: number): string {
  return value.toLocaleString("en-US");
}

/** "1 thread", "2,000 threads". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** How long something took, as a person says it. */
export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** "0.3 MB": for a person to compare. */
export function megabytes(bytes: number): string {
  const size = bytes / (1 << 20);
  return `${size < 10 ? size.toFixed(1) : Math.round(size).toLocaleString("en-US")} MB`;
}

/** An instant as a person's own clock has it, to the minute: "2026-03-01 09:30". */
export function localTime(iso: string): string {
  const at = new Date(iso);
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/* Amounts as people read them: small ones keep two figures that say something. */

/** In US dollars, as every price is. */
export function money(amount: number): string {
  const size = Math.abs(amount);
  const digits = size === 0 || size >= 0.1 ? 2 : Math.min(8, 1 - Math.floor(Math.log10(size)));
  return `${amount < 0 ? "-" : ""}$${size.toFixed(digits)}`;
}

/** "spent $0.0123 (of it $0.0021 for summaries); saved $0.0041 by the cache, $0.0007 by pruning". */
export function costLine({ spent, spentOn, savedByCache, savedByPruning, unpriced }: ThreadCost): string {
  const uses = Object.entries(WORDS).flatMap(([use, word]) => {
    const part = spentOn[use as keyof typeof WORDS];
    return part === 0 ? [] : [`${money(part)} for ${word}`];
  });
  const of = uses.length === 0 ? "" : ` (of it ${uses.join(", ")})`;
  const parts = [
    ...(savedByCache === 0 ? [] : [`${money(savedByCache)} by the cache`]),
    ...(savedByPruning === 0 ? [] : [`${money(savedByPruning)} by pruning`]),
  ];
  const saved = parts.length === 0 ? "" : `; saved ${parts.join(", ")}`;
  const without = unpriced.length === 0 ? "" : ` (without ${unpriced.join(", ")}, whose price is not known)`;
  return `spent ${money(spent)}${of}${saved}${without}`;
}

/** Beside the answers themselves. */
const WORDS = { subagents: "sub-agents", summaries: "summaries", memory: "memory", embeddings: "embeddings" };
