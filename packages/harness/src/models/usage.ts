/** What a provider reported for a call, and its sum over several. */

/** `input` is the whole prompt, cached part included. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** A call without a report adds nothing. */
export function addUsage(total: Usage, more: Usage | null | undefined): Usage {
  if (more == null) return total;
  return {
    input: total.input + more.input,
    output: total.output + more.output,
    cacheRead: total.cacheRead + more.cacheRead,
    cacheWrite: total.cacheWrite + more.cacheWrite,
  };
}
