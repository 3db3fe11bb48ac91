/** What becomes of a run that is asked for while its thread may have one already. One pure decision. */

/**
 * `reject`: refused while another is under way. `wait`: after it, in the order of asking. `fork`: on a fork of the thread
 * as it was before the other began. `interrupt`: the other is stopped first.
 */
export type Multitask = "reject" | "wait" | "fork" | "interrupt";

export interface LaneFacts {
  readonly server: "open" | "closing";
  /** Whether a run is under way on the thread. */
  readonly running: boolean;
  /** Runs that wait for this thread. */
  readonly waiting: number;
  /** Runs of the user that are under way or wait, on all threads. */
  readonly runs: number;
  /** How many of those there may be; null: any number. */
  readonly most: number | null;
}

export type RunAdmission =
  | { readonly kind: "start" | "wait" | "fork" | "interrupt" }
  | { readonly kind: "refused"; readonly reason: RunRefusal };

export type RunRefusal = "busy" | "queue-full" | "limited" | "closing";

/** Who would wait behind so many is better told. */
export const MOST_WAITING = 16;

export function admitRun(facts: LaneFacts, multitask: Multitask): RunAdmission {
  const { server, running, waiting, runs, most } = facts;
  if (server === "closing") return { kind: "refused", reason: "closing" };
  const replaced = multitask === "interrupt" && running ? 1 : 0;
  if (most !== null && runs - replaced >= most) return { kind: "refused", reason: "limited" };
  if (!running && waiting === 0) return { kind: "start" };
  if (multitask === "reject") return { kind: "refused", reason: "busy" };
  if (multitask === "wait" && waiting >= MOST_WAITING) return { kind: "refused", reason: "queue-full" };
  return { kind: multitask };
}
