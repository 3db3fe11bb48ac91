/** What a call took, on the account of its key: as its provider reports it, and by length where that is missing. */
import type { Meter } from "../metrics/metrics.ts";

type Usage = Parameters<Meter["tokens"]>[0];

/** Tokens by length. */
export interface Estimate {
  readonly input: number;
  readonly output: number;
}

/** `estimate`: of an answer that broke off, or reported nothing; null: what is reported is all. */
export function countSpent(
  meter: Pick<Meter, "tokens" | "estimated">,
  reported: Usage | null,
  estimate: Estimate | null,
): void {
  if (reported !== null) meter.tokens(reported);
  if (estimate === null) return;
  const known = reported === null ? 0 : reported.input + reported.output;
  meter.estimated(Math.max(0, estimate.input + estimate.output - known));
}

const BYTES_PER_TOKEN = 4;

export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
