/**
 * A child process for tests of the queue. `turns`: takes turns and learns from them for ever, and reports each turn once it
 * was acknowledged. `work`: only learns, and reports each job. `hang`: takes a job and never comes back from it. It is
 * killed from outside; it must not tidy up.
 */
import { writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { learn, takeTurn } from "@palimpsest/testing/internal/queue-learner";
import { writeThread } from "@palimpsest/testing/internal/thread-writer";
import { createMemoryQueue } from "../../src/features/memory/queue.ts";
import { openStore } from "../../src/stores/open.ts";

const [target, threadId, mode] = process.argv.slice(2) as [string, string, "turns" | "work" | "hang"];
const store = (await openStore(target)).forUser("ada");
const queue = createMemoryQueue(store, {
  debounceSeconds: 0.01,
  pollMs: 5,
  // Workers that share a server must not take each other for dead on a busy machine.
  leaseMs: mode === "work" ? 30_000 : 500,
  onEvent: (event) => {
    if (event.type === "job-start" && mode !== "turns")
      writeSync(1, `${JSON.stringify(event.job.payload)} ${event.job.threadId}\n`);
  },
  process: (job) => (mode === "hang" ? new Promise(() => {}) : learn(store, job, () => pause(3))),
});
await queue.start();
if (mode === "turns") {
  const writer = await writeThread(store, threadId);
  for (let turn = (await store.head(threadId))!.messages / 2 + 1; ; turn += 1) {
    await takeTurn(writer, queue, `I own book number ${turn}.`);
    writeSync(1, `${turn}\n`);
    await pause(2);
  }
}
// The worker alone doesn't keep a process alive.
setInterval(() => {}, 1000);
