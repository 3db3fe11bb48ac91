import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { inTurns, jsonSteps, pace } from "./long-work.ts";

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

test("a turn passes the sockets, also one that begins in a socket's callback", async () => {
  // Nothing waits for a turn any more.
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  // After such a callback the immediates come first; sockets are read before those that an immediate asks for.
  let sockets = "waiting";
  setImmediate(() =>
    setImmediate(() => {
      sockets = "read";
    }),
  );
  await pace().turn();
  assert.equal(sockets, "read");
});

test("loops that run at once share one turn", async () => {
  const clock = handMoved();
  const [first, second] = [pace(undefined, clock), pace(undefined, clock)];
  clock.ms += 10;
  assert.deepEqual([first.isDue(), second.isDue()], [true, true]);
  await first.turn();
  assert.equal(second.isDue(), false);
});

test("of loops that wait for a turn one goes on in each, first come first", async () => {
  let [turns, counting] = [0, true];
  const count = (): void => {
    turns += 1;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  const went: { readonly loop: string; readonly turn: number }[] = [];
  const waits = async (loop: string): Promise<void> => {
    const steps = pace();
    for (const _ of [1, 2]) {
      await steps.turn();
      went.push({ loop, turn: turns });
    }
  };
  await Promise.all(["a", "b", "c"].map(waits));
  counting = false;
  assert.deepEqual(
    went.map(({ loop }) => loop),
    ["a", "b", "c", "a", "b", "c"],
  );
  assert.equal(new Set(went.map(({ turn }) => turn)).size, 6);
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

/** What a generator gives, and in how many steps. */
function run<T>(work: Generator<unknown, T>): { readonly value: T; readonly steps: number } {
  for (let steps = 1; ; steps += 1) {
    const step = work.next();
    if (step.done === true) return { value: step.value, steps };
  }
}

test("JSON is written as JSON.stringify writes it, also around texts that take several steps", () => {
  const long = fc.constantFrom("\u{1f600}", "a\n", '\\"', "\ud800").map((unit) => unit.repeat(1_000_001));
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      fc.jsonValue(),
      fc.constant(undefined),
      fc.array(tie("any"), { maxLength: 3 }),
      fc.dictionary(fc.string(), tie("any"), { maxKeys: 3 }),
    ),
  })).any;
  fc.assert(
    fc.property(value, long, (first, text) => {
      for (const whole of [first, [first, text, undefined], { a: first, b: { c: text, d: undefined } }])
        assert.equal(run(jsonSteps(whole)).value, JSON.stringify(whole));
    }),
    { numRuns: 20 },
  );
});

test("a text of many megabytes is written in many steps, a short one in a single step", () => {
  assert.equal(run(jsonSteps({ role: "user", content: "hello" })).steps, 1);
  assert.ok(run(jsonSteps({ role: "user", content: "word ".repeat(2_000_000) })).steps >= 10);
});
