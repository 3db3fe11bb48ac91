/**
 * A lock between processes that the system itself gives back when its holder dies: a write transaction on an empty
 * SQLite file beside the document. Nothing is ever stale, so nothing has to guess. Within a process a queue comes first.
 */
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { makeFile, makeFolder } from "../home-folders.ts";
import { openDatabase } from "../stores/sqlite/database.ts";
import { MemoryStorageError } from "./storage.ts";

const queues = new Map<string, Promise<unknown>>();

/** One at a time in this process, in the order of the calls. */
export async function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
  const before = queues.get(key) ?? Promise.resolve();
  const mine = before.then(work, work);
  const settled = mine.catch(() => {});
  queues.set(key, settled);
  try {
    return await mine;
  } finally {
    if (queues.get(key) === settled) queues.delete(key);
  }
}

/** One at a time among all processes on this machine. */
export function withFileLock<T>(path: string, work: () => Promise<T>, patienceMs = 20_000): Promise<T> {
  return inTurn(path, async () => {
    makeFolder(dirname(path));
    makeFile(path);
    const lock = openDatabase(path, { timeout: 0 });
    try {
      await take(lock, path, patienceMs);
      return await work();
    } finally {
      // Closing ends the transaction, and with it the lock.
      lock.close();
    }
  });
}

async function take(lock: DatabaseSync, path: string, patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (let pause = 1; ; pause = Math.min(pause * 1.5, 50)) {
    try {
      lock.exec("BEGIN IMMEDIATE");
      return;
    } catch (error) {
      const busy = (error as { errcode?: number }).errcode === SQLITE_BUSY;
      if (!busy) throw error;
      if (performance.now() > deadline)
        throw new MemoryStorageError("locked", `${path} is held by another process: wait for it or end it.`, error);
    }
    await wait(pause * (0.5 + Math.random()));
  }
}

const SQLITE_BUSY = 5;
