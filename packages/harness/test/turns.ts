/** Whether long work gives way: counts turns of the event loop, and makes every piece of work take long. */
import type { TestContext } from "node:test";

/** The turns of the event loop so far. */
export function countTurns(t: TestContext): () => number {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  t.after(() => clearImmediate(next));
  return () => turns;
}

/** Each look at the clock comes after as long as work may keep the others waiting. */
export function slowClock(t: TestContext): void {
  let ms = performance.now();
  t.mock.method(performance, "now", () => (ms += 10));
}
