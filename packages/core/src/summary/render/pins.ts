/**
 * Quotes pinned messages and the user's own words inside the summary, word for word with their number, most important
 * first under a token limit. They are read anew from the log at every compaction, so they can't drift.
 */

import { clip } from "../../text/clip.ts";
import { type Originals, whereMessage } from "./originals.ts";

export interface Pin {
  readonly seq: number;
  readonly text: string;
}

export interface ChosenPins {
  /** "" when there is nothing to quote. */
  readonly text: string;
  readonly tokens: number;
  /** Those quoted whole. */
  readonly shown: readonly Pin[];
}

const HEADING = "## Quoted word for word";
/** The most a quote may take that can't stand whole. */
const LONG_SHARE = 0.4;

export function choosePins(
  pins: readonly Pin[],
  options: {
    readonly maxTokens: number;
    readonly count: (text: string) => number;
    readonly originals: Originals;
  },
): ChosenPins {
  const { count, originals } = options;
  let left = options.maxTokens - count(`${HEADING}\n\n`);
  // The beginning of each first: one long paste must not silence all others.
  const quotes = new Map<Pin, { text: string; cost: number }>();
  for (const pin of distinct(pins)) {
    const text = quote(pin.seq, clip(pin.text.trim().replaceAll(/\s+/g, " "), SHORT_CHARS), "");
    const cost = count(`${text}\n`);
    if (cost > left) continue;
    left -= cost;
    quotes.set(pin, { text, cost });
  }
  const fitting: Pin[] = [];
  for (const [pin, short] of quotes) {
    const room = left + short.cost;
    const whole = quote(pin.seq, pin.text, "");
    const cost = pin.text.length / 20 > room ? Number.POSITIVE_INFINITY : count(`${whole}\n`);
    if (cost <= room) {
      left = room - cost;
      quotes.set(pin, { text: whole, cost });
      fitting.push(pin);
      continue;
    }
    const cut = beginning(pin, { maxTokens: Math.min(room, options.maxTokens * LONG_SHARE), count, originals });
    if (cut === null || cut.length <= short.text.length) continue;
    left = room - count(`${cut}\n`);
    quotes.set(pin, { text: cut, cost: room - left });
  }
  if (quotes.size === 0) return { text: "", tokens: 0, shown: [] };
  const ordered = [...quotes].sort(([a], [b]) => a.seq - b.seq).map(([, { text }]) => text);
  return { text: [HEADING, ...ordered].join("\n"), tokens: options.maxTokens - left, shown: fitting };
}

/** Enough to know a request by. */
const SHORT_CHARS = 100;

function distinct(pins: readonly Pin[]): readonly Pin[] {
  const bySeq = new Map<number, Pin>();
  for (const pin of pins) if (!bySeq.has(pin.seq) && pin.text.trim() !== "") bySeq.set(pin.seq, pin);
  return [...bySeq.values()];
}

/** The first words of a quote too long to stand whole, and where the rest is. */
function beginning(pin: Pin, { maxTokens, count, originals }: Parameters<typeof choosePins>[1]): string | null {
  const where = whereMessage(pin.seq, originals);
  const after = `(cut here, ${pin.text.length} characters in all${where === "" ? "" : `; the whole: ${where}`})`;
  for (let chars = Math.min(pin.text.length, Math.floor(maxTokens * 4)); chars >= 40; chars = Math.floor(chars * 0.7)) {
    const head = pin.text.slice(0, chars).replace(/[\ud800-\udbff]$/, "");
    const cut = quote(pin.seq, head, after);
    if (count(`${cut}\n`) <= maxTokens) return cut;
  }
  return null;
}

/** Fenced when it has several lines, with a fence the text itself doesn't hold. */
function quote(seq: number, text: string, after: string): string {
  const tail = after === "" ? "" : ` ${after}`;
  if (!/[\n\r]/.test(text)) return `- [${seq}] ${text}${tail}`;
  let fence = "~~~";
  while (text.includes(fence)) fence += "~";
  return `- [${seq}]${tail}\n${fence}\n${text}\n${fence}`;
}
