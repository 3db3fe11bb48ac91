/** What processes that share one store promise each other; every engine runs it with real processes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "@palimpsest/testing/internal/queue-kit";
import { learn, learned, takeTurn } from "@palimpsest/testing/internal/queue-learner";
import { writeThread } from "@palimpsest/testing/internal/thread-writer";
import { createMemoryQueue } from "../../src/features/memory/queue.ts";
import { openStore } from "../../src/stores/open.ts";
import { startQueueProcess } from "./queue-crash-check.ts";

export function sharing(name: string, target: () => string): void {
  test(`two processes on one ${name}: a burst on one key runs once`, async (t) => {
    const store = (await openStore(target())).forUser("ada");
    t.after(() => store.close());
    const queue = createMemoryQueue(store, {
      process: (job) => learn(store, job),
      debounceSeconds: 3600,
      starts: "by-hand",
    });
    const writer = await writeThread(store, "shared");
    const workers = [1, 2].map(() => startQueueProcess(target(), "shared", "work"));
    t.after(() => Promise.all(workers.map((worker) => worker.kill())));
    const probe = await writeThread(store, "probe");
    // Both are up when each has had something to do.
    await until(async () => {
      await takeTurn(probe, queue, "Is anybody there?");
      await queue.makeDue({ userId: "ada", threadId: "probe" });
      return workers.every((worker) => worker.reported().length > 0);
    }, "both workers run");
    await until(async () => (await store.outbox.list()).length === 0, "the probes are done");
    let last = 0;
    for (let turn = 1; turn <= 20; turn++) last = await takeTurn(writer, queue, `I own book number ${turn}.`);
    await queue.makeDue({ userId: "ada", threadId: "shared" });
    await until(async () => (await learned(store, "shared")).watermark === last, "the burst is learned");
    await until(async () => (await store.outbox.list()).length === 0, "the job is gone");
    assert.equal(workers.flatMap((worker) => worker.reported("shared")).length, 1);
    assert.equal((await learned(store, "shared")).texts.length, 20);
  });

  test(`two processes on one ${name}: a killed worker's job is taken over`, async (t) => {
    const store = (await openStore(target())).forUser("ada");
    const queue = createMemoryQueue(store, {
      process: (job) => learn(store, job),
      pollMs: 20,
      leaseMs: 1000,
      starts: "by-hand",
    });
    t.after(async () => {
      await queue.stop();
      await store.close();
    });
    const writer = await writeThread(store, "orphaned");
    const victim = startQueueProcess(target(), "orphaned", "hang");
    await takeTurn(writer, queue, "I have a parrot.");
    await queue.makeDue({ userId: "ada", threadId: "orphaned" });
    await until(async () => victim.reported().length === 1, "the victim has the job");
    await queue.start();
    await victim.kill();
    await until(async () => (await store.outbox.list()).length === 0, "the job is taken over");
    assert.deepEqual((await learned(store, "orphaned")).texts, ["I have a parrot."]);
  });
}
