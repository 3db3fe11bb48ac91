/**
 * Long work in short turns. SQLite answers at once, so a loop that awaits it may run for seconds without the event loop
 * getting a turn; timers, sockets and other requests then wait for it. Such a loop asks its pace between two steps.
 */

/** How long work may keep the event loop to itself. */
const TURN_MS = 10;

/** Tells the time, and when the event loop last had a turn: loops on one clock share it. */
interface TurnClock {
  now(): number;
  turnedAt: number;
}

/** Message arrays are compacted in browsers too, and where there is no clock at all: there nothing is ever due. */
const REAL_CLOCK: TurnClock = { now: () => (typeof performance === "object" ? performance.now() : 0), turnedAt: 0 };

export interface Pace {
  /** True when the current turn has lasted long enough: then await `turn`. Costs next to nothing. */
  isDue(): boolean;
  /** Resolves in the next turn of the event loop. Throws if the signal has aborted by then. */
  turn(): Promise<void>;
}

export function pace(signal?: AbortSignal, clock: TurnClock = REAL_CLOCK): Pace {
  let began = clock.now();
  return {
    isDue: () => clock.now() - Math.max(began, clock.turnedAt) >= TURN_MS,
    async turn() {
      await new Promise<void>((resolve) => {
        const turned = (): void => {
          clock.turnedAt = clock.now();
          resolve();
        };
        if (typeof setImmediate === "function") setImmediate(turned);
        else setTimeout(turned, 0);
      });
      began = clock.turnedAt;
      signal?.throwIfAborted();
    },
  };
}

/** Runs the generator to its end; the event loop gets its turns between two steps. */
export async function inTurns<T>(work: Generator<unknown, T>, signal?: AbortSignal): Promise<T> {
  const steps = pace(signal);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (steps.isDue()) await steps.turn();
  }
}
