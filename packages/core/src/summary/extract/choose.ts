/**
 * Chooses sentences under a token budget: the most news per token, where news is names nothing chosen so far holds.
 * Greedy over a bounded number of candidates, ties by position, so the choice is the same every time.
 */

import { isSpaceless } from "../../text/analyze.ts";
import { namesIn } from "../../text/names.ts";
import type { NewItem } from "../state/state.ts";

export interface Candidate {
  readonly text: string;
  readonly seq: number;
  /** Added to the score: position, cue, the user's first words. */
  readonly bonus: number;
}

interface Weighed extends Candidate {
  readonly base: number;
  readonly tokens: number;
  readonly news: readonly string[];
}

export interface ChooseOptions {
  readonly maxTokens: number;
  readonly count: (text: string) => number;
  readonly frequency: ReadonlyMap<string, number>;
  /** Names already shown; grows by what is chosen. */
  readonly covered: Set<string>;
}

const MAX_CANDIDATES = 1500;
/** Seqs, bullet, line break. */
const ITEM_OVERHEAD = 8;

/** A step is a thousand candidates, or one that is chosen. */
export function* choose(
  candidates: readonly Candidate[],
  options: ChooseOptions,
): Generator<void, { readonly items: NewItem[]; readonly tokens: number }> {
  const score = (weighed: Weighed) => {
    let value = weighed.base;
    for (const name of weighed.news) if (!options.covered.has(name)) value += worth(options.frequency.get(name) ?? 1);
    return value / (weighed.tokens + ITEM_OVERHEAD) ** 0.6;
  };
  const scored: { readonly weighed: Weighed; readonly score: number }[] = [];
  for (const [index, candidate] of distinct(candidates).entries()) {
    if (index % 1000 === 0) yield;
    const weighed = weigh(candidate, options.count);
    scored.push({ weighed, score: score(weighed) });
  }
  const pool = new Set(
    scored
      .sort((a, b) => b.score - a.score || a.weighed.seq - b.weighed.seq)
      .slice(0, MAX_CANDIDATES)
      .map(({ weighed }) => weighed),
  );
  const chosen: Weighed[] = [];
  let left = options.maxTokens;
  for (;;) {
    yield;
    let best: Weighed | null = null;
    let bestScore = 0;
    for (const weighed of pool) {
      if (weighed.tokens + ITEM_OVERHEAD > left) pool.delete(weighed);
      else if (best === null || score(weighed) > bestScore) [best, bestScore] = [weighed, score(weighed)];
    }
    if (best === null) break;
    pool.delete(best);
    left -= best.tokens + ITEM_OVERHEAD;
    chosen.push(best);
    for (const name of best.news) options.covered.add(name);
  }
  chosen.sort((a, b) => a.seq - b.seq);
  return { items: chosen.map(({ text, seq }) => ({ text, seqs: [seq] })), tokens: options.maxTokens - left };
}

function weigh(candidate: Candidate, count: (text: string) => number): Weighed {
  const base = candidate.bonus + plainWorth(candidate.text);
  return { ...candidate, base, tokens: count(candidate.text), news: newsOf(candidate.text) };
}

/** What comes back is likely to be needed again. */
function worth(frequency: number): number {
  return frequency >= 2 ? 1 + Math.min(frequency, 8) / 4 : 0.5;
}

/** The names in a text, each once. */
export function newsOf(text: string): string[] {
  return [...new Set(namesIn(text).map((name) => name.text))];
}

/** Prose carries something too: its longer words, or its length where words aren't spaced. */
function plainWorth(text: string): number {
  const words = isSpaceless(text) ? text.length / 4 : text.split(/\s+/).filter((word) => word.length > 5).length;
  return Math.min(words, 12) * 0.08;
}

function distinct(candidates: readonly Candidate[]): Candidate[] {
  const seen = new Map<string, Candidate>();
  // Of repeated words the newest utterance counts.
  for (const candidate of candidates) {
    const old = seen.get(candidate.text);
    if (old === undefined || candidate.bonus >= old.bonus) seen.set(candidate.text, candidate);
  }
  return [...seen.values()];
}
