/** Deletes threads that were not changed for `gateway.retention_days`, of every user, with everything that belongs to them. */

import { randomUUID } from "node:crypto";
import { deleteInHome } from "palimpsest/internal/assistant";
import type { Home } from "palimpsest/internal/home";
import { type IndexingEvent, startIndexing } from "palimpsest/session";
import { everyThread, everyUser } from "palimpsest/stores";
import type { IndexLine } from "./log.ts";

interface Swept {
  readonly deleted: number;
  /** Those that were being written to: the next time. */
  readonly busy: number;
}

/** A sub-agent's thread goes with its parent's; a fork keeps what it shares. */
export async function deleteOldThreads(home: Home, before: Date): Promise<Swept> {
  const limit = before.toISOString();
  const swept = { deleted: 0, busy: 0 };
  for await (const { userId } of everyUser(home.store)) {
    const own = home.forUser(userId);
    const old: string[] = [];
    for await (const { header, updatedAt } of everyThread(own.store, { kind: "main" }))
      if (updatedAt < limit) old.push(header.id);
    for (const id of old) {
      const { kind } = await deleteInHome(own, id);
      if (kind === "deleted") swept.deleted += 1;
      if (kind === "busy") swept.busy += 1;
    }
  }
  return swept;
}

interface SweepingOptions {
  readonly clock: () => Date;
  readonly onSwept: (deleted: number) => void;
  readonly onError: (error: unknown) => void;
}

/** Deletes threads from a home that were not changed for so many days. */
export function sweepingOf(home: Home, days: number, { clock, onSwept, onError }: SweepingOptions): Sweeping {
  const sweep = async () => {
    const { deleted } = await deleteOldThreads(home, new Date(clock().getTime() - days * DAY_MS));
    onSwept(deleted);
  };
  return keepSweeping(sweep, onError);
}

const DAY_MS = 86_400_000;

export interface Sweeping {
  /** Waits for the sweep that is under way. */
  stop(): Promise<void>;
}

/** Now and once an hour. One that fails is told and tried again with the next. */
function keepSweeping(sweep: () => Promise<unknown>, onError: (error: unknown) => void): Sweeping {
  let current = Promise.resolve();
  const next = () => {
    current = current.then(async () => {
      await sweep().catch(onError);
    });
  };
  next();
  const timer = setInterval(next, HOUR_MS);
  timer.unref();
  return {
    stop() {
      clearInterval(timer);
      return current;
    },
  };
}

const HOUR_MS = 3_600_000;

/* Builds search indexes behind a gateway or a worker, and says how far it is. */

interface BuildingOptions {
  readonly clock: () => Date;
  readonly log: (line: IndexLine) => void;
}

/** Where the store can't be asked, that is told, and nothing is built here. */
export function buildIndexes({ store }: Home, { clock, log }: BuildingOptions): Sweeping {
  const tellTenths = tenths();
  const tell = (event: IndexingEvent): void => {
    const line = tellTenths(event);
    if (line !== null) log({ time: clock().toISOString(), ...line });
  };
  const started = startIndexing(store, { clock, onEvent: tell }).catch((error: unknown) => {
    tell({ type: "index-fail", userId: store.userId, threadId: null, reason: String(error) });
    return null;
  });
  return {
    async stop() {
      await (await started)?.stop();
    },
  };
}

/** What of the events is worth a line: each tenth of a thread's records, its end, and what failed. */
export function tenths(): (event: IndexingEvent) => Omit<IndexLine, "time"> | null {
  const told = new Map<string, number>();
  return (event) => {
    const { threadId: thread, userId: user } = event;
    const name = JSON.stringify([user, thread]);
    if (event.type === "index-fail") return { level: "error", user, thread, index: "failed", error: event.reason };
    if (event.type === "index-end") return told.delete(name) ? { level: "info", user, thread, index: "built" } : null;
    const { indexed, records } = event;
    const tenth = Math.floor((indexed * 10) / Math.max(1, records));
    // What is built at once, or was already, is no news.
    if (indexed >= records || told.get(name) === tenth) return null;
    told.set(name, tenth);
    return { level: "info", user, thread, index: "building", indexed, records };
  };
}

/*
 * What a gateway does behind its answers, in a process of its own: learning from turns, building search indexes, deleting
 * old threads. Any number of them may work on one store; a job is held by one at a time, and taken over when its process is
 * gone.
 */

export interface WorkerOptions {
  /** An open home; the caller closes it after the worker. */
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
