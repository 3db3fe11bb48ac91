/**
 * What a queue on a store's outbox promises, as tests that every engine runs. Hours pass by `elapse`: the embedded engine's
 * clock is moved; PostgreSQL's own can't be, so its rows are moved the other way.
 */
import { after, afterEach, before, describe } from "node:test";
import type { MemoryQueue } from "palimpsest/internal/memory";
import { draining, exactness, givingUp, retrying } from "./queue/faults.ts";
import { type QueueEngine, type QueueKit, setUpQueue } from "./queue/kit.ts";
import { clocks, debouncing, makingDue } from "./queue/timing.ts";

export type { QueueEngine };

export function queueConformance(name: string, open: () => Promise<QueueEngine>): void {
  describe(`the memory queue on ${name}`, () => {
    let engine: QueueEngine;
    before(async () => {
      engine = await open();
    });
    after(() => engine?.close());
    const queues: MemoryQueue[] = [];
    afterEach(async () => {
      for (const queue of queues.splice(0)) await queue.stop();
    });
    const kit: QueueKit = {
      engine: () => engine,
      setUp: async (threadId, options) => {
        const made = await setUpQueue(engine, threadId, options);
        queues.push(made.queue);
        return made;
      },
    };
    for (const part of [debouncing, makingDue, clocks, retrying, givingUp, draining, exactness]) part(kit);
  });
}
