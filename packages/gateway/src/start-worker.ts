/**
 * What a gateway does behind its answers, in a process of its own: learning from turns, building search indexes, deleting
 * old threads. Any number of them may work on one store; a job is held by one at a time, and taken over when its process is
 * gone.
 */
import { randomUUID } from "node:crypto";
import type { Home } from "palimpsest/internal/home";
import { buildIndexes } from "./server/index-building.ts";
import { type Sweeping, sweepingOf } from "./server/retention.ts";

export interface WorkerOptions {
  /** An open home; whoever opened it closes it after the worker. */
  readonly home: Home;
  /** A line of what happens, as far as `log_level` asks for it. */
  readonly log?: (line: string) => void;
  readonly clock?: () => Date;
}

export interface Worker {
  /** Gives back what is under way, and takes nothing new. */
  close(): Promise<void>;
}

const BEAT_MS = 10_000;

export async function startWorker({ home, log = () => {}, clock = () => new Date() }: WorkerOptions): Promise<Worker> {
  const { gateway } = await home.settings();
  const { memory } = await home.agent({ log });
  await memory?.queue.start();
  const sweeping: Sweeping[] = [];
  if (gateway.retention_days !== null)
    sweeping.push(
      sweepingOf(home, gateway.retention_days, {
        clock,
        onSwept: (deleted) => log(`deleted ${deleted} old threads`),
        onError: (error) => log(`old threads could not be deleted: ${error instanceof Error ? error.message : error}`),
      }),
    );
  sweeping.push(
    buildIndexes(home, { clock, log: ({ time: _, ...line }) => log(`search index: ${JSON.stringify(line)}`) }),
  );
  const { shared } = home.store;
  const name = randomUUID();
  const beat = () => void shared?.limits.beat(name, "worker").catch(() => {});
  beat();
  // Also what keeps the process: a queue that waits doesn't.
  const beating = setInterval(beat, BEAT_MS);
  return {
    async close() {
      clearInterval(beating);
      await memory?.queue.stop();
      await Promise.all(sweeping.map((one) => one.stop()));
    },
  };
}
