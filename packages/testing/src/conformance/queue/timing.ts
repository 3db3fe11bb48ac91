/** When a job runs: a delay after the last turn, not for ever later, at once when asked, and never beside itself. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aFewPolls, MINUTE, type QueueKit, until } from "./kit.ts";
import { learn, learned } from "./learner.ts";

export function debouncing({ engine, setUp }: QueueKit): void {
  test("a burst of turns runs once, a delay after the last, through the last", async () => {
    const { queue, of, turn, mine, idle } = await setUp("burst");
    await queue.start();
    await turn("I live in Oslo.");
    await engine().elapse(40 * MINUTE);
    await turn("I work at a bakery.");
    const last = await turn("I like rye bread.");
    await engine().elapse(40 * MINUTE);
    await aFewPolls();
    assert.deepEqual([of("job-start"), (await mine()).length], [[], 1]);
    await engine().elapse(30 * MINUTE);
    await idle();
    assert.deepEqual(of("job-start"), [
      { queue: "memory", key: "default", userId: "ada", threadId: "burst", payload: { throughSeq: last } },
    ]);
    const { texts } = await learned(engine().store, "burst");
    assert.deepEqual(texts, ["I live in Oslo.", "I work at a bakery.", "I like rye bread."]);
  });

  test("turns that never pause are learned from after ten delays at the latest", async () => {
    const { queue, of, turn, idle } = await setUp("endless");
    await queue.start();
    for (let round = 1; round <= 12; round++) {
      assert.deepEqual(of("job-start"), [], `before turn ${round}`);
      await turn(`I did thing number ${round} today.`);
      await engine().elapse((round < 12 ? 50 : 40) * MINUTE);
    }
    await aFewPolls();
    assert.deepEqual(of("job-start"), []);
    await engine().elapse(11 * MINUTE);
    await idle();
    assert.equal(of("job-start").length, 1);
  });
}

export function makingDue({ engine, setUp }: QueueKit): void {
  test("a compaction makes its thread's job due at once, and a turn after it doesn't put it off", async () => {
    const { queue, turn, idle } = await setUp("compacted");
    const other = await setUp("not-compacted");
    await turn("I have two cats.");
    await other.turn("I have a dog.");
    await queue.makeDue({ userId: "ada", threadId: "compacted" });
    await turn("They are called Ada and Alan.");
    await queue.start();
    await idle();
    assert.equal((await learned(engine().store, "compacted")).texts.length, 2);
    assert.deepEqual(
      (await other.mine()).map(({ state }) => state),
      ["waiting"],
    );
  });

  test("a turn that comes while its job runs is learned from next, never at the same time", async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let inside = 0;
    let most = 0;
    const { queue, turn, of, idle } = await setUp("overlap", {
      process: async (job) => {
        if (job.threadId !== "overlap") return learn(engine().store, job);
        most = Math.max(most, ++inside);
        await gate;
        const outcome = await learn(engine().store, job);
        inside -= 1;
        return outcome;
      },
    });
    await queue.start();
    await turn("I play the cello.");
    await queue.makeDue({ userId: "ada", threadId: "overlap" });
    await until(async () => inside === 1, "the first job runs");
    await turn("I also play the flute.");
    await queue.makeDue({ userId: "ada", threadId: "overlap" });
    await aFewPolls();
    assert.equal(of("job-start").length, 1);
    open();
    await until(async () => of("job-end").length === 2, "the second job ran");
    await idle();
    assert.equal(most, 1);
    assert.deepEqual((await learned(engine().store, "overlap")).texts, ["I play the cello.", "I also play the flute."]);
  });
}

export function clocks({ engine, setUp }: QueueKit): void {
  test("a clock that is set back doesn't hold a job up", async () => {
    const { queue, turn, idle } = await setUp("backwards", { leaseMs: 300 });
    await turn("I was born in May.");
    await engine().elapse(-600 * MINUTE);
    await queue.start();
    await idle();
    assert.deepEqual((await learned(engine().store, "backwards")).texts, ["I was born in May."]);
  });

  test("says what it queues and how long it waits", async () => {
    const { lines, turn, queue } = await setUp("told", { debounceSeconds: 30 });
    await turn("I like maps.");
    assert.deepEqual(lines, [
      "[MemoryMiddleware] Queued conversation for told (2 messages)",
      "[MemoryQueue] Debouncing update for told (30s wait)",
    ]);
    await queue.drain(60_000);
  });
}
