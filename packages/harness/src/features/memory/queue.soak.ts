import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type PostgresServer, startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { until } from "@palimpsest/testing/internal/queue-kit";
import { learn, learned, takeTurn } from "@palimpsest/testing/internal/queue-learner";
import { writeThread } from "@palimpsest/testing/internal/thread-writer";
import { checkQueueCrashes } from "../../../test/memory/queue-crash-check.ts";
import { openPostgres } from "../../stores/postgres.ts";
import { createMemoryQueue } from "./queue.ts";

const folder = mkdtempSync(join(tmpdir(), "palimpsest-queue-"));
let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true });
});

const delays = Array.from({ length: 200 }, (_, index) => (index * 41) % 330);

test("[F51] kill -9 between a turn and its learning, 200 times, on SQLite: nothing lost, nothing twice", async (t) => {
  const { turns } = await checkQueueCrashes(t, join(folder, "log.db"), delays);
  assert.ok(turns >= 200, `only ${turns} turns in all`);
});

test("[F51] kill -9 between a turn and its learning, 200 times, on PostgreSQL: nothing lost, nothing twice", async (t) => {
  const { turns } = await checkQueueCrashes(t, server.url(), delays);
  assert.ok(turns >= 200, `only ${turns} turns in all`);
});

test("a worker that has just started outlives sixty restarts and crashes of its server, under two busy loops", async (t) => {
  const busy = [1, 2].map(() => spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }));
  t.after(() => {
    for (const loop of busy) loop.kill("SIGKILL");
  });
  for (let round = 1; round <= 60; round++) {
    const store = (await openPostgres(server.url(), { reconnectMs: 180_000 })).forUser("ada");
    const queue = createMemoryQueue(store, { process: (job) => learn(store, job), pollMs: 20, leaseMs: 1000 });
    try {
      const threadId = `round-${round}`;
      const writer = await writeThread(store, threadId);
      await takeTurn(writer, queue, "I own a boat.");
      await queue.makeDue({ userId: "ada", threadId });
      await (round % 2 === 0 ? server.halt() : server.crash());
      await server.start();
      await until(async () => (await learned(store, threadId)).texts.length === 1, `round ${round} is learned`);
      t.diagnostic(`round ${round} of 60`);
    } finally {
      await queue.stop();
      await store.close();
    }
  }
});
