import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { bothEngines, ENGINES } from "@palimpsest/testing/internal/both-engines";
import { until } from "@palimpsest/testing/internal/queue-kit";
import { learn, learned, takeTurn } from "@palimpsest/testing/internal/queue-learner";
import { writeThread } from "@palimpsest/testing/internal/thread-writer";
import { checkQueueCrashes } from "../../../test/memory/queue-crash-check.ts";
import { sharing } from "../../../test/memory/queue-sharing.ts";
import { openPostgres } from "../../stores/postgres.ts";
import { createMemoryQueue } from "./queue.ts";

const engines = bothEngines();

for (const engine of ENGINES) sharing(engine, () => engines.target(engine, "shared"));

test("a worker outlives its server: after a crash and a restart it learns on", async (t) => {
  const server = engines.server();
  const store = (await openPostgres(server.url(), { reconnectMs: 180_000 })).forUser("ada");
  const queue = createMemoryQueue(store, { process: (job) => learn(store, job), pollMs: 20, leaseMs: 1000 });
  t.after(async () => {
    await queue.stop();
    await store.close();
  });
  const writer = await writeThread(store, "outlived");
  await queue.start();
  for (const [round, end] of [server.halt, server.crash].entries()) {
    await takeTurn(writer, queue, `I own boat number ${round}.`);
    await end();
    await pause(300);
    await server.start();
    await queue.makeDue({ userId: "ada", threadId: "outlived" });
    await until(async () => (await learned(store, "outlived")).texts.length === round + 1, "it is learned");
  }
});

for (const engine of ENGINES) {
  test(`[F51] kill -9 between a turn and its learning, 20 times, on ${engine}: nothing lost, nothing twice`, async (t) => {
    const delays = Array.from({ length: 20 }, (_, index) => (index * 37) % 260);
    const { turns } = await checkQueueCrashes(t, engines.fresh(engine), delays);
    assert.ok(turns >= 20, `only ${turns} turns in all`);
  });
}
