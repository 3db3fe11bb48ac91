/**
 * A summary in very little room: the stub, and behind it the most important lines that fit, the first one cut if it has
 * to be. No headings: they would cost more than the words.
 */
import type { SummaryFormat } from "../../log/record.ts";
import { clip } from "../../text/clip.ts";
import type { Originals } from "./originals.ts";
import { stubSummary } from "./wording.ts";

export interface ShortOptions {
  readonly maxTokens: number;
  readonly count: (text: string) => number;
  /** The last message it stands for. */
  readonly through: number;
  readonly originals: Originals;
  readonly format: SummaryFormat;
}

export interface ShortSummary {
  readonly text: string;
  /** Places in the list of the lines that are shown. */
  readonly shown: ReadonlySet<number>;
}

/** `lines` most important first. */
export function shortSummary(lines: readonly string[], options: ShortOptions): ShortSummary {
  const { maxTokens, count } = options;
  let text = stubSummary(options.through, options.originals, options.format);
  const indexes = new Set<number>();
  for (const [index, line] of lines.entries()) {
    const longer = `${text}\n- ${line}`;
    if (count(longer) > maxTokens) continue;
    text = longer;
    indexes.add(index);
  }
  const first = lines[0];
  if (indexes.size > 0 || first === undefined) return { text, shown: indexes };
  for (let chars = Math.min(first.length, maxTokens * 4); chars >= LEAST_CHARS; chars = Math.floor(chars * 0.8)) {
    const cut = `${text}\n- ${clip(first, chars)}`;
    if (count(cut) <= maxTokens) return { text: cut, shown: new Set([0]) };
  }
  return { text, shown: indexes };
}

const LEAST_CHARS = 24;

/** Tokens left for words. */
export function wordRoom({ maxTokens, count, through, originals, format }: ShortOptions): number {
  return maxTokens - count(`${stubSummary(through, originals, format)}\n- `);
}
