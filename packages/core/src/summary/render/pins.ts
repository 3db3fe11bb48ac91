/**
 * Quotes pinned messages and the user's own words inside the summary, word for word with their number, most important
 * first under a token limit. They are read anew from the log at every compaction, so they can't drift.
 */

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
  const quotes: { seq: number; text: string }[] = [];
  const fitting: Pin[] = [];
  const seen = new Set<number>();
  for (const pin of pins) {
    if (seen.has(pin.seq) || pin.text.trim() === "") continue;
    seen.add(pin.seq);
    const whole = quote(pin.seq, pin.text, "");
    const cost = pin.text.length / 20 > left ? Number.POSITIVE_INFINITY : count(`${whole}\n`);
    if (cost <= left) {
      left -= cost;
      quotes.push({ seq: pin.seq, text: whole });
      fitting.push(pin);
    } else if (left >= 60) {
      // One long paste must not silence all others.
      const maxTokens = Math.min(left, Math.max(60, options.maxTokens * LONG_SHARE));
      const cut = beginning(pin, { maxTokens, count, originals });
      if (cut === null) continue;
      left -= count(`${cut}\n`);
      quotes.push({ seq: pin.seq, text: cut });
    }
  }
  if (quotes.length === 0) return { text: "", tokens: 0, shown: [] };
  const text = [HEADING, ...quotes.sort((a, b) => a.seq - b.seq).map((entry) => entry.text)].join("\n");
  return { text, tokens: options.maxTokens - left, shown: fitting };
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
