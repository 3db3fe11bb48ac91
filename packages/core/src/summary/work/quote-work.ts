/**
 * Quotes what the model has written, word for word, within a token limit: what was touched lately first, files and edits
 * before commands. A part stands whole, or its first lines stand and say so.
 */
import type { Work, WorkKind, WorkPart } from "./work.ts";

/** The heading by which the quotes are found again in a summary's text. */
export const WORK_HEADING = "## Written by you and still standing, word for word";

export interface QuotedWork {
  /** "" when there is nothing to quote. */
  readonly text: string;
  readonly tokens: number;
}

export const NO_QUOTES: QuotedWork = { text: "", tokens: 0 };

interface QuoteOptions {
  readonly maxTokens: number;
  readonly count: (text: string) => number;
  /** What a part says; null when it can't be read any more. */
  readonly text: (part: WorkPart) => string | null;
}

/** How much likelier than one another they are used again, and after how many messages that has halved. */
const WORTH: Readonly<Record<WorkKind, number>> = { write: 3, edit: 3, command: 2, said: 1.5 };
const HALF_LIFE = 60;
/** What has been left alone for so long is no longer quoted, so that an idle thread gets shorter. */
const LEAST_WORTH = 0.75;

/** The parts that may be quoted, the likeliest first. */
export function quotable({ messages, parts }: Work): readonly WorkPart[] {
  const worth = ({ kind, touched }: WorkPart): number => WORTH[kind] * 2 ** ((touched - messages) / HALF_LIFE);
  return parts
    .map((part) => ({ part, worth: worth(part) }))
    .filter((each) => each.worth >= LEAST_WORTH)
    .sort((a, b) => b.worth - a.worth || b.part.seq - a.part.seq)
    .map(({ part }) => part);
}

/** A summary's own words and the quotes behind them; "" when there are none. */
export function splitQuotes(text: string): readonly [words: string, quotes: string] {
  const at = text.indexOf(`\n\n${WORK_HEADING}\n`);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 2)];
}

export function quoteWork(work: Work, { maxTokens, count, text }: QuoteOptions): QuotedWork {
  let left = maxTokens - count(`${WORK_HEADING}\n\n`);
  const most = left * PART_SHARE;
  const quotes = new Map<WorkPart, string>();
  const texts = new Map<string, WorkPart>();
  const cut: WorkPart[] = [];
  const take = (part: WorkPart, said: string, room: number): boolean => {
    const quote = quoteWithin(part, said, { room, count });
    if (quote === null) return false;
    left -= count(`${quote}\n`);
    quotes.set(part, quote);
    return true;
  };
  for (const part of quotable(work)) {
    const said = text(part);
    if (said === null || texts.has(said)) continue;
    texts.set(said, part);
    if (take(part, said, Math.min(left, most)) && !quotes.get(part)!.includes(said)) cut.push(part);
  }
  // What the others leave goes to those that had to be cut.
  for (const part of cut) {
    const before = count(`${quotes.get(part)!}\n`);
    const said = [...texts].find(([, each]) => each === part)![0];
    left += before;
    if (!take(part, said, left)) left -= before;
  }
  if (quotes.size === 0) return NO_QUOTES;
  const ordered = [...quotes].sort(([a], [b]) => a.seq - b.seq || a.part - b.part).map(([, quote]) => quote);
  const whole = [WORK_HEADING, ...ordered].join("\n");
  return { text: whole, tokens: count(`\n\n${whole}`) };
}

/** Of the room for all quotes, what one of them may take before the others have theirs. */
const PART_SHARE = 0.5;
/** Less of a part than this tells nothing. */
const LEAST_CUT = 200;

/** Whole, or else as many of its first lines as there is room for; null when that is too little. */
function quoteWithin(
  part: WorkPart,
  text: string,
  { room, count }: { room: number; count: (text: string) => number },
): string | null {
  // Counting megabytes to find them too long would take a while.
  if (text.length / 20 <= room) {
    const whole = quoted(part, text, "");
    if (count(`${whole}\n`) <= room) return whole;
  }
  if (room < LEAST_CUT) return null;
  for (let characters = room * 5; characters >= LEAST_CUT; characters *= 0.8) {
    const head = text.slice(0, characters);
    const end = head.lastIndexOf("\n");
    if (end < 0) return null;
    const lines = head.slice(0, end);
    const quote = quoted(part, lines, `, its first ${lines.split("\n").length} of ${text.split("\n").length} lines`);
    if (count(`${quote}\n`) <= room) return quote;
  }
  return null;
}

/** Fenced with a fence that the text itself doesn't hold. */
function quoted({ seq, kind, path }: WorkPart, text: string, extent: string): string {
  let fence = "~~~";
  while (text.includes(fence)) fence += "~";
  return `[${seq}] ${path === null ? kind : `${kind} ${path}`}${extent}\n${fence}\n${text}\n${fence}`;
}
