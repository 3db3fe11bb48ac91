/**
 * How much evidence one question may get. Evidence stays in the prompt until the next compaction, so in a small window a
 * full share for every question would bring that compaction about: the more the prompt shows, the less is added. Pure.
 */

export interface EvidenceRoom {
  /** The most that is configured. */
  readonly limit: number;
  readonly window: number;
  /** Evidence of earlier questions that the prompt still shows, in tokens. */
  readonly current: number;
}

export function evidenceBudget({ limit, window, current }: EvidenceRoom): number {
  const share = Math.max(window * LEAST, (window * ALL - current) / 2);
  return Math.floor(Math.min(limit, window * ONE, share));
}

/** Shares of the window: for one question, for all of them together, and what every question may have all the same. */
const ONE = 1 / 16;
const ALL = 1 / 8;
const LEAST = 1 / 64;
