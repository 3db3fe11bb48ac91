/**
 * Which of the processes on a database file are alive. An open store that takes a lease keeps a small file of its own locked,
 * beside the database. The system drops the lock with the process, however it ends: whoever can take the lock has proof
 * that its owner is gone. The locks are SQLite's, because Node has no others; SQLite also counts them within a process, so
 * that closing one handle doesn't drop another's lock. For the same reason nothing else may open these files.
 */
import { randomUUID } from "node:crypto";
import { readdirSync, realpathSync, rmdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { makeFile, makeFolder } from "../../home-folders.ts";
import { openDatabase } from "./database.ts";

export interface Owners {
  /** The name of this store's own lock; null if none can be kept: then its leases end by their time alone. */
  own(): string | null;
  /** Whether the owner of this lock is proven to be gone. */
  isGone(name: string): boolean;
  close(): void;
}

interface Lock {
  readonly name: string;
  readonly path: string;
  readonly handle: DatabaseSync;
}

export function ownersOf(databasePath: string): Owners {
  let lock: Lock | null = null;
  let folder: string | null = null;
  return {
    own() {
      folder ??= folderOf(databasePath);
      lock ??= folder === null ? null : takeLock(folder);
      return lock?.name ?? null;
    },
    isGone(name) {
      folder ??= folderOf(databasePath);
      return folder !== null && name !== lock?.name && NAME.test(name) && isFree(join(folder, name), "keep");
    },
    close() {
      if (lock === null) return;
      lock.handle.close();
      rmSync(lock.path, { force: true });
      lock = null;
      removeEmpty(folder!);
    },
  };
}

const NAME = /^[0-9a-f-]{36}$/;

/** Whoever knows the database by another name must find the same folder. Null if it is in memory, or gone. */
function folderOf(databasePath: string): string | null {
  try {
    return databasePath === ":memory:" ? null : `${realpathSync(databasePath)}-owners`;
  } catch {
    return null;
  }
}

/** Once more if it fails: whoever was the last to leave may have removed the folder meanwhile. */
function takeLock(folder: string, attempts = 2): Lock | null {
  try {
    makeFolder(folder);
    clear(folder);
    const name = randomUUID();
    const path = join(folder, name);
    makeFile(path);
    const handle = openDatabase(path, { timeout: 0 });
    try {
      // No journal: nothing is ever written to it.
      handle.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
      // Another process that cleared the folder may have taken it for a dead one's before it was locked.
      statSync(path);
      return { name, path, handle };
    } catch (error) {
      handle.close();
      throw error;
    }
  } catch {
    return attempts > 1 ? takeLock(folder, attempts - 1) : null;
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Others have theirs in it.
  }
}

function clear(folder: string): void {
  for (const name of readdirSync(folder)) if (NAME.test(name)) isFree(join(folder, name), "remove");
}

/** `remove`: while the lock is ours, so that nobody can lock a file that is no longer there. */
function isFree(path: string, then: "keep" | "remove"): boolean {
  let handle: DatabaseSync | null = null;
  try {
    statSync(path);
    handle = openDatabase(path, { readOnly: true, timeout: 0 });
    handle.prepare("SELECT count(*) FROM sqlite_master").get();
    if (then === "remove") rmSync(path, { force: true });
    return true;
  } catch (error) {
    // A file that was removed had an owner that has ended. Any other failure proves nothing.
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  } finally {
    handle?.close();
  }
}
