/**
 * Whether an agent goes round in circles. Pure: it sees what was called and what came back, in order, and says whether
 * the next call would repeat a cycle. The same call with another result is progress, not a repetition. A compaction
 * or a prune hides results from the model, so what came before one doesn't count: to read again is legitimate [F33].
 */

export interface SeenCall {
  /** Name and arguments. */
  readonly call: string;
  readonly result: string;
}

export interface RepetitionPolicy {
  /** The repetition that is warned about, and the one that is not carried out any more. */
  readonly warnAt: number;
  readonly stopAt: number;
  /** The longest cycle that is looked for. */
  readonly maxPeriod: number;
}

export const REPETITION_DEFAULTS: RepetitionPolicy = { warnAt: 3, stopAt: 5, maxPeriod: 4 };

export type Verdict =
  | { readonly kind: "fine" }
  | { readonly kind: "warn" | "stop"; readonly period: number; readonly times: number };

/** What to say of `next`, given everything since the last compaction. */
export function judgeCall(
  seen: readonly SeenCall[],
  next: string,
  policy: RepetitionPolicy = REPETITION_DEFAULTS,
): Verdict {
  for (let period = 1; period <= policy.maxPeriod; period++) {
    const times = cycles(seen, next, period);
    if (times >= policy.stopAt) return { kind: "stop", period, times };
    if (times >= policy.warnAt) return { kind: "warn", period, times };
  }
  return { kind: "fine" };
}

/** How often the cycle of this length has come round, the one that `next` completes or goes on with included. */
function cycles(seen: readonly SeenCall[], next: string, period: number): number {
  const last = seen.at(-period);
  if (last?.call !== next) return 1;
  let same = 1;
  for (let index = seen.length - 1; index >= period; index--) {
    const [one, before] = [seen[index]!, seen[index - period]!];
    if (one.call !== before.call || one.result !== before.result) break;
    same++;
  }
  // `same` steps stand exactly one period after their likes.
  return 1 + Math.floor((same + period - 1) / period);
}
