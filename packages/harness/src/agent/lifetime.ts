/**
 * An agent's working life: what is under way on its threads, and how all of it is brought to an end. Closing first asks
 * everything to stop and waits; what doesn't stop in time loses its thread, which is then free for the next process.
 */
import { AgentError } from "./errors.ts";

export interface Lifetime {
  /** Aborted once the agent is being closed: what is under way stops, nothing new begins. */
  readonly closing: AbortSignal;
  /** Aborted when the time for that has passed: leases are given back whoever still works under them. */
  readonly over: AbortSignal;
  /** The caller's signal together with `closing`. */
  signalWith(given: AbortSignal | undefined): AbortSignal;
  /** Keeps work in mind until it has ended, so that closing can wait for it. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Stops everything and waits for it and for `others`, so long at most. Once: a second call waits for the first. */
  end(withinMs: number, others: () => readonly Promise<unknown>[]): Promise<void>;
}

export function createLifetime(): Lifetime {
  const closing = new AbortController();
  const over = new AbortController();
  const active = new Set<Promise<unknown>>();
  let ending: Promise<void> | undefined;
  const end = async (withinMs: number, others: readonly Promise<unknown>[]): Promise<void> => {
    closing.abort(new AgentError("closed", CLOSED));
    if ((await settled([...active, ...others], withinMs)) === "settled") return;
    over.abort(new AgentError("closed", CLOSED));
    await settled([...active], GIVING_BACK_MS);
  };
  return {
    closing: closing.signal,
    over: over.signal,
    signalWith: (given) => (given === undefined ? closing.signal : AbortSignal.any([given, closing.signal])),
    track(work) {
      active.add(work);
      const forget = (): boolean => active.delete(work);
      work.then(forget, forget);
      return work;
    },
    end(withinMs, others) {
      ending ??= end(withinMs, others());
      return ending;
    },
  };
}

/** For a store to take a lease back. */
const GIVING_BACK_MS = 1_000;

async function settled(work: readonly Promise<unknown>[], withinMs: number): Promise<"settled" | "late"> {
  const { promise: late, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(resolve, withinMs, "late");
  const all = Promise.allSettled(work).then(() => "settled" as const);
  return Promise.race([all, late]).finally(() => clearTimeout(timer));
}

export const CLOSED = "this agent was closed: make another one to go on";
