/**
 * What a report can teach: whether it can be true at all, and the factor between what a provider reports and what the
 * counter estimates, learned from growth within one view only. Pure arithmetic; the account keeps the state.
 */

/** Sums of what prompts grew by between two reports of one view. Their quotient is the factor. */
export interface Growth {
  readonly reported: number;
  readonly estimated: number;
}

export type ImpossibleReport = "not-a-number" | "zero" | "negative" | "over-window" | "implausible";

/** Further off than this is a wrong report or a broken counter, not a tokenizer. */
export const FACTOR_BOUNDS: readonly [number, number] = [0.5, 2];

/** A new view starts from the factor known so far, with the weight of this many tokens. */
const CARRIED_WEIGHT = 2000;

/** A prompt may hold this much that we can't see: the provider's own preamble, tool schemas not given to us. */
const UNSEEN = 50_000;

export function boundedFactor(factor: number): number {
  return Number.isFinite(factor) ? Math.min(FACTOR_BOUNDS[1], Math.max(FACTOR_BOUNDS[0], factor)) : 1;
}

export function factorOf(growth: Growth): number {
  return boundedFactor(growth.reported / growth.estimated);
}

export function startGrowth(factor: number): Growth {
  return { reported: CARRIED_WEIGHT * boundedFactor(factor), estimated: CARRIED_WEIGHT };
}

/** Whether growth says something about the tokenizer; if not, a message missed the prompt or isn't in the log. */
export function isPlausibleGrowth(by: Growth): boolean {
  const ratio = by.reported / by.estimated;
  return by.estimated > 0 && ratio >= 0.25 && ratio <= 4;
}

export function addGrowth(growth: Growth, by: Growth): Growth {
  return { reported: growth.reported + by.reported, estimated: growth.estimated + by.estimated };
}

/**
 * Why a reported prompt size can't be that of a prompt expected to be so large; null when it can. Far too small is the
 * uncached part alone, or the report on a view that the log doesn't know (a session compacted elsewhere, then imported);
 * far too large is usage summed over many calls.
 */
export function impossibleReport(input: number, expected: number, window: number | null): ImpossibleReport | null {
  if (!Number.isFinite(input)) return "not-a-number";
  if (input === 0) return "zero";
  if (input < 0) return "negative";
  if (window !== null && input > window * 1.25) return "over-window";
  return input < expected * 0.6 - 256 || input > expected * 4 + UNSEEN ? "implausible" : null;
}

/** How far off each way to foretell an answer's size has been lately, in tokens. */
export interface AnswerTrust {
  readonly output: number;
  readonly estimate: number;
}

export const NO_TRUST_YET: AnswerTrust = { output: 0, estimate: 0 };

/** What an answer added, as far as the next report shows it, against the two ways to foretell it. */
export function compareAnswer(
  trust: AnswerTrust,
  answer: { readonly reported: number; readonly output: number; readonly estimated: number },
): AnswerTrust {
  return {
    output: 0.8 * trust.output + Math.abs(answer.reported - answer.output),
    estimate: 0.8 * trust.estimate + Math.abs(answer.reported - answer.estimated),
  };
}

/**
 * The reported output says what the answer adds to the next prompt, unless it plainly doesn't: an aborted call reports
 * less than was streamed, and some models are billed for reasoning that never enters a prompt, as they have shown lately.
 */
export function isCredibleAnswer(output: number, estimated: number, trust: AnswerTrust): boolean {
  return trust.output <= trust.estimate && output >= estimated * 0.5 - 16 && output <= estimated * 2.5 + 64;
}
