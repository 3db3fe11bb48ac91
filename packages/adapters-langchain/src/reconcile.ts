/**
 * A graph's state against the log of its thread. The state is given whole each time and may have been edited, cut or taken
 * back to an earlier checkpoint; the log only grows. Decides what to do about the difference.
 */

/** A message in the log. */
export interface Logged {
  readonly id: string;
  readonly seq: number;
  readonly bodyHash: string | null;
}

export interface Stated {
  readonly id: string;
  readonly bodyHash: string;
}

/** `append`: the state goes on from the log. `branch`: it went another way after the record `keep`. Both from this place on. */
export type Difference =
  | { readonly kind: "append"; readonly from: number }
  | { readonly kind: "branch"; readonly from: number; readonly keep: number };

export function difference(log: readonly Logged[], state: readonly Stated[]): Difference {
  const split = log.findIndex(({ id, bodyHash }, at) => state[at]?.id !== id || state[at]?.bodyHash !== bodyHash);
  if (split < 0) return { kind: "append", from: log.length };
  return { kind: "branch", from: split, keep: log[split]!.seq - 1 };
}
