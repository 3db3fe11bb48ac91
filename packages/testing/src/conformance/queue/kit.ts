/** What the queue's tests share: an engine whose hours can be made to pass, and a queue on a thread of its own. */
import { setTimeout as pause } from "node:timers/promises";
import { createMemoryQueue, type MemoryQueueOptions, memoryLogLine } from "palimpsest/internal/memory";
import type { Job, JobEvent, JobStatus, Store } from "palimpsest/stores";
import { writeThread } from "../thread-writer.ts";
import { learn, takeTurn } from "./learner.ts";

/** A store as user `ada` sees it, and its time. */
export interface QueueEngine {
  readonly store: Store & Required<Pick<Store, "outbox">>;
  readonly clock: () => Date;
  elapse(ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface QueueKit {
  readonly engine: () => QueueEngine;
  /** Its queue is stopped when the test ends. */
  readonly setUp: (threadId: string, options?: Partial<MemoryQueueOptions>) => ReturnType<typeof setUpQueue>;
}

export const MINUTE = 60_000;

/** A queue that waits an hour and is started by the test, on a thread of its own, with a record of what it ran. */
export async function setUpQueue(engine: QueueEngine, threadId: string, options: Partial<MemoryQueueOptions> = {}) {
  const writer = await writeThread(engine.store, threadId);
  const events: JobEvent[] = [];
  const lines: string[] = [];
  const queue = createMemoryQueue(engine.store, {
    process: (job) => learn(engine.store, job),
    debounceSeconds: 3600,
    starts: "by-hand",
    clock: engine.clock,
    pollMs: 20,
    stopMs: 100,
    onEvent: (event) => events.push(event),
    emit: (event) => lines.push(memoryLogLine(event)),
    ...options,
  });
  const of = (type: JobEvent["type"]): Job[] =>
    events.flatMap((event) =>
      "job" in event && event.type === type && event.job.threadId === threadId ? [event.job] : [],
    );
  const mine = async (): Promise<readonly JobStatus[]> =>
    (await engine.store.outbox.list()).filter((job) => job.threadId === threadId);
  const idle = () => until(async () => (await mine()).length === 0, `no job left of ${threadId}`);
  return {
    queue,
    lines,
    of,
    mine,
    idle,
    turn: (text: string) => takeTurn(writer, queue, text),
    writer,
  };
}

/** Generous: what is awaited comes in milliseconds on a machine that has nothing else to do. */
export async function until(done: () => Promise<boolean>, what: string): Promise<void> {
  for (const start = performance.now(); performance.now() - start < 120_000; await pause(10)) {
    if (await done()) return;
  }
  throw new Error(`waited in vain: ${what}`);
}

/** Long enough for a job that is wrongly due to be taken. */
export const aFewPolls = () => pause(150);
