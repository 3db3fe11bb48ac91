import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { untilAborted, within } from "./long-work.ts";

const never = (): Promise<never> => new Promise(() => {});
const listening = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;
const noLimit = (signal: AbortSignal) => ({ ms: null, signal, tooLong: () => new Error("too long") });

const races = {
  untilAborted,
  within: <T>(signal: AbortSignal, work: () => Promise<T>) => within(noLimit(signal), work),
};
for (const [name, race] of Object.entries(races)) {
  test(`${name} leaves no listener behind, however the work ends`, async () => {
    const { signal } = new AbortController();
    assert.equal(await race(signal, async () => "done"), "done");
    await assert.rejects(
      race(signal, () => Promise.reject(new Error("failed"))),
      /failed/,
    );
    await assert.rejects(
      race(signal, (): Promise<string> => {
        throw new Error("at once");
      }),
      /at once/,
    );
    assert.equal(listening(signal), 0);
  });

  test(`${name} doesn't wait for work that ignores its signal, nor starts any that is stopped already`, async () => {
    const stop = new AbortController();
    const reason = new Error("stopped");
    const waiting = race(stop.signal, never);
    stop.abort(reason);
    await assert.rejects(waiting, reason);
    assert.equal(listening(stop.signal), 0);
    await assert.rejects(
      race(stop.signal, () => assert.fail("started")),
      reason,
    );
  });
}

test("within a limit: the work's signal aborts, and the rejection says that it took too long", async () => {
  const { signal } = new AbortController();
  let own: AbortSignal | undefined;
  const tooLong = new Error("no answer");
  const work = (given: AbortSignal): Promise<never> => {
    own = given;
    return new Promise((_, reject) => given.addEventListener("abort", () => reject(new Error("mine"))));
  };
  await assert.rejects(within({ ms: 1, signal, tooLong: () => tooLong }, work), tooLong);
  assert.equal(own?.reason, tooLong);
  assert.equal(listening(signal), 0);
});

test("work that fails without a reason isn't taken for stopped", async () => {
  const { signal } = new AbortController();
  await assert.rejects(
    within(noLimit(signal), () => Promise.reject(undefined)),
    /failed without saying why/,
  );
});

test("a limit beyond what a timer holds is as good as none", async () => {
  const { signal } = new AbortController();
  const limit = { ms: Number.MAX_SAFE_INTEGER, signal, tooLong: () => new Error("at once") };
  assert.equal(await within(limit, () => new Promise((resolve) => setImmediate(resolve, "done"))), "done");
});
