/**
 * Waiting for work that may have to be stopped: by a signal, or by a limit of time. Every such race is made here, so that
 * none of them leaves a listener or a timer behind: a signal that outlives the work would keep all of it in memory.
 */

/** Rejects with the signal's reason once it aborts, also when the work doesn't listen to it; that is then left alone. */
export async function untilAborted<T>(signal: AbortSignal, work: () => Promise<T> | T): Promise<T> {
  signal.throwIfAborted();
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work(), stopped.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/**
 * Work with a signal of its own, which the work may abort itself; it also aborts with the caller's and when the work has
 * failed, so that nothing the work has begun goes on. Rejects with the reason of the abort.
 */
export async function scoped<T>(signal: AbortSignal, work: (own: AbortController) => Promise<T> | T): Promise<T> {
  signal.throwIfAborted();
  const own = new AbortController();
  const stop = (): void => own.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await untilAborted(own.signal, () => work(own));
  } catch (error) {
    // Work that is stopped by its signal throws an error of its own; ours says why it was stopped.
    own.abort(error ?? new Error("it failed without saying why"));
    throw own.signal.reason;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Yields to other work, so that a request to stop is noticed. */
export function nextTask(): Promise<void> {
  return new Promise(nextTurn);
}

/** Resolves after so long; rejects with the signal's reason. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return;
  let timer: NodeJS.Timeout | undefined;
  const wait = (): Promise<void> =>
    new Promise((resolve) => {
      timer = startTimer(ms, resolve);
    });
  await untilAborted(signal, wait).finally(() => clearTimeout(timer));
}

export interface TimeLimit {
  /** Null: no limit. */
  readonly ms: number | null;
  readonly signal: AbortSignal;
  /** What to reject with when the time is up. */
  readonly tooLong: () => Error;
}

/** The work's own signal aborts when the time is up or the caller stops; the rejection says which of them it was. */
export async function within<T>(
  { ms, signal, tooLong }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T> | T,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await scoped(signal, (own) => {
      timer = startTimer(ms, () => own.abort(tooLong()));
      return work(own.signal);
    });
  } finally {
    clearTimeout(timer);
  }
}

/** A timer that may be none, and may be longer than what a timer can hold, which would fire at once. */
export function startTimer(ms: number | null, ring: () => void): NodeJS.Timeout | undefined {
  return ms === null ? undefined : setTimeout(ring, Math.min(ms, LONGEST_TIMER_MS));
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

// Long work in short turns. SQLite answers at once, so a loop that awaits it may run for seconds without the event
// loop getting a turn; timers, sockets and other requests then wait for it. Such a loop asks its pace between two
// steps.

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
        waiting.push(() => {
          clock.turnedAt = clock.now();
          resolve();
        });
        if (idle) nextTurn(resumeOne);
        idle = false;
      });
      began = clock.turnedAt;
      signal?.throwIfAborted();
    },
  };
}

/** Loops that wait for a turn. Only one goes on in each: what can't be cut of many loops would otherwise add up. */
const waiting: (() => void)[] = [];
let idle = true;

function resumeOne(): void {
  const resume = waiting.shift();
  idle = resume === undefined;
  if (resume === undefined) return;
  // From a socket's callback the first task comes before any other socket is looked at.
  nextTurn(() => {
    resume();
    nextTurn(resumeOne);
  });
}

function nextTurn(act: () => void): void {
  (globalThis.setImmediate ?? setTimeout)(act);
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

/** Characters of a text that are written in one step. */
const STEP = 1_000_000;

/** What `JSON.stringify` gives for a plain value, a long text piece by piece. Plain: nothing in it has a `toJSON`. */
export function* jsonSteps(value: unknown): Generator<void, string | undefined> {
  if (value === undefined) return undefined;
  let json = "";
  for (const piece of jsonPieces(value)) {
    json += piece;
    if (json.length > STEP) yield;
  }
  return json;
}

/** The same in pieces that are short, one after the other. Nothing is written as null. */
export function* jsonPieces(value: unknown): Generator<string, void> {
  if (typeof value === "string" && value.length > STEP) return yield* textPieces(value);
  if (typeof value !== "object" || value === null || !holdsLong(value)) return yield JSON.stringify(value ?? null);
  const isList = Array.isArray(value);
  let before = isList ? "[" : "{";
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined && !isList) continue;
    yield isList ? before : `${before}${JSON.stringify(name)}:`;
    yield* jsonPieces(member);
    before = ",";
  }
  yield isList ? "]" : "}";
}

function* textPieces(text: string): Generator<string, void> {
  yield '"';
  for (const slice of slices(text)) yield JSON.stringify(slice).slice(1, -1);
  yield '"';
}

/** A long text in slices; no character is cut in half, since half of one can't be written. */
export function* slices(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const end = from + STEP;
    const isPair = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    const to = isPair ? end + 1 : end;
    yield text.slice(from, to);
    from = to;
  }
}

function holdsLong(value: unknown): boolean {
  if (typeof value === "string") return value.length > STEP;
  return typeof value === "object" && value !== null && Object.values(value).some(holdsLong);
}
