import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { openPostgres } from "../stores/postgres.ts";
import { type PostgresServer, startPostgres } from "../testing/postgres-server.ts";
import { writeThread } from "../testing/thread-writer.ts";
import { createMemoryQueue } from "./queue.ts";
import { checkQueueCrashes, startQueueProcess } from "./queue-crash-check.ts";
import { learn, learned, takeTurn } from "./queue-learner.ts";
import { until } from "./queue-suite/kit.ts";

let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());

test("two processes on one PostgreSQL: a burst on one key runs once", async () => {
  const store = await openPostgres(server.url());
  const queue = createMemoryQueue(store, { process: (job) => learn(store, job), debounceSeconds: 3600 });
  const writer = await writeThread(store, "shared", { user: "ada" });
  const workers = [1, 2].map(() => startQueueProcess(server.url(), "shared", "work"));
  const probe = await writeThread(store, "probe", { user: "ada" });
  // Both are up when each has had something to do.
  await until(async () => {
    await takeTurn(probe, queue, "Is anybody there?");
    await queue.hurry("probe");
    return workers.every((worker) => worker.reported().length > 0);
  }, "both workers run");
  await until(async () => (await store.jobs.list()).length === 0, "the probes are done");
  const reports = () => workers.flatMap((worker) => worker.reported());
  const earlier = reports().length;
  let last = 0;
  for (let turn = 1; turn <= 20; turn++) last = await takeTurn(writer, queue, `I own book number ${turn}.`);
  await queue.hurry("shared");
  await until(async () => (await learned(store, "shared")).watermark === last, "the burst is learned");
  await until(async () => (await store.jobs.list()).length === 0, "the job is gone");
  assert.equal(reports().length - earlier, 1);
  assert.equal((await learned(store, "shared")).texts.length, 20);
  for (const worker of workers) await worker.kill();
  await store.close();
});

test("two processes on one PostgreSQL: a killed worker's job is taken over", async () => {
  const store = await openPostgres(server.url());
  const queue = createMemoryQueue(store, { process: (job) => learn(store, job), pollMs: 20, leaseMs: 1000 });
  const writer = await writeThread(store, "orphaned", { user: "ada" });
  const victim = startQueueProcess(server.url(), "orphaned", "hang");
  await takeTurn(writer, queue, "I have a parrot.");
  await queue.hurry("orphaned");
  await until(async () => victim.reported().length === 1, "the victim has the job");
  await queue.start();
  await victim.kill();
  await until(async () => (await store.jobs.list()).length === 0, "the job is taken over");
  assert.deepEqual((await learned(store, "orphaned")).texts, ["I have a parrot."]);
  await queue.stop();
  await store.close();
});

test("a worker outlives its server: after a crash and a restart it learns on", async () => {
  const store = await openPostgres(server.url(), { reconnectMs: 180_000 });
  const queue = createMemoryQueue(store, { process: (job) => learn(store, job), pollMs: 20, leaseMs: 1000 });
  const writer = await writeThread(store, "outlived", { user: "ada" });
  await queue.start();
  for (const [round, end] of [server.halt, server.crash].entries()) {
    await takeTurn(writer, queue, `I own boat number ${round}.`);
    await end();
    await pause(300);
    await server.start();
    await queue.hurry("outlived");
    await until(async () => (await learned(store, "outlived")).texts.length === round + 1, "it is learned");
  }
  await queue.stop();
  await store.close();
});

test("[F51] kill -9 between a turn and its learning, 20 times, on PostgreSQL: nothing lost, nothing twice", async () => {
  const delays = Array.from({ length: 20 }, (_, index) => (index * 37) % 260);
  const { turns } = await checkQueueCrashes(server.url(), delays);
  assert.ok(turns >= 20, `only ${turns} turns in all`);
});
