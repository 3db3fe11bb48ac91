import assert from "node:assert/strict";
import { test } from "node:test";
import { inTurns, pace } from "./pace.ts";

/** Keeps the thread busy for as long as a turn may last. */
function work(steps: ReturnType<typeof pace>): void {
  while (!steps.isDue());
}

/** A clock that the test moves, so that a busy machine changes nothing. */
function handMoved() {
  const clock = { ms: 0, turnedAt: 0, now: () => clock.ms };
  return clock;
}

test("work that lasts gives the event loop a turn between two steps, and short work doesn't", async () => {
  const clock = handMoved();
  const steps = pace(undefined, clock);
  clock.ms += 9;
  assert.equal(steps.isDue(), false);
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  clock.ms += 1;
  assert.equal(steps.isDue(), true);
  await steps.turn();
  assert.equal(turned, true);
  assert.equal(steps.isDue(), false, "the next turn begins");
});

test("loops that run at once share one turn", async () => {
  const clock = handMoved();
  const [first, second] = [pace(undefined, clock), pace(undefined, clock)];
  clock.ms += 10;
  assert.deepEqual([first.isDue(), second.isDue()], [true, true]);
  await first.turn();
  assert.equal(second.isDue(), false);
});

test("a generator runs to its end in turns, and stops when its signal aborts", async () => {
  function* counting(to: number): Generator<number, string> {
    const steps = pace();
    for (let at = 0; at < to; at += 1) {
      work(steps);
      yield at;
    }
    return "done";
  }
  assert.equal(await inTurns(counting(3)), "done");
  const stopped = new AbortController();
  setImmediate(() => stopped.abort(new Error("left")));
  await assert.rejects(inTurns(counting(1_000_000), stopped.signal), /left/);
});
