/**
 * Memory as JSON files that other tools can read. A save is a new file, flushed and renamed over the old one, under a lock
 * and only over what was read; a crash leaves the old or the new document, whole. A file that can't be read is moved
 * aside and reported, never taken for an empty memory.
 */

import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { type MemoryDocument, parseDocument, writeDocument } from "@palimpsest/core/internal/memory";
import { errorCode } from "@palimpsest/core/internal/text";
import { makeFile, makeFolder, PRIVATE_FILE, PRIVATE_FOLDER } from "../../home-folders.ts";
import { openDatabase } from "../../stores/sqlite/connection.ts";
import { type MemoryPlace, type MemoryScope, memoryPath } from "./repository.ts";
import { type MemoryStorage, MemoryStorageError } from "./storage.ts";

export interface FileStorageOptions extends MemoryPlace {
  /** Writes and flushes a new file; replaced by tests of a full disk. */
  readonly writeNew?: (path: string, text: string) => Promise<void>;
}

interface CachedDocument {
  readonly stamp: string;
  readonly digest: string;
  readonly document: MemoryDocument;
}

export function fileStorage(options: FileStorageOptions): MemoryStorage {
  const { writeNew = writeFlushed, ...given } = options;
  const cache = new Map<string, CachedDocument>();
  const place = (scope: MemoryScope): string => memoryPath(scope, given);
  const read = async (path: string, from: "cache" | "disk"): Promise<MemoryDocument | null> => {
    const stamp = await stampOf(path);
    if (stamp === null) {
      cache.delete(path);
      return null;
    }
    const cached = cache.get(path);
    if (from === "cache" && cached?.stamp === stamp) return cached.document;
    const text = await readText(path);
    const parsed = parseDocument(text);
    if (parsed.kind === "unreadable") throw await setAside(path, parsed.reason, text);
    cache.set(path, { stamp, digest: digestOf(text), document: parsed.document });
    return parsed.document;
  };
  return {
    place,
    load: (scope) => read(place(scope), "cache"),
    reload: (scope) => read(place(scope), "disk"),
    async save(document, { scope, expectRevision }) {
      const path = place(scope);
      const before = cache.get(path)?.digest;
      return guarded(path, () =>
        withFileLock(`${path}.lock`, async () => {
          const now = await read(path, "disk");
          // Another tool may have written the file and left our revision in it as it was.
          const changed = before !== undefined && cache.get(path)?.digest !== before;
          if ((now?.revision ?? 0) !== expectRevision || changed) return { kind: "conflict" };
          const text = writeDocument(document);
          await replace(path, text, writeNew);
          cache.set(path, { stamp: (await stampOf(path)) ?? "", digest: digestOf(text), document });
          return { kind: "saved" };
        }),
      );
    },
    async scopes(userId) {
      const own: MemoryScope = { userId, agentName: null };
      const agents = await readdir(dirname(dirname(place({ userId, agentName: "x" })))).catch(() => [] as string[]);
      return [own, ...agents.map((agentName) => ({ userId, agentName }))];
    },
    forgetCopies: (scope, texts) => deleteCopies(place(scope), texts),
  };
}

/** Copies of the file that hold one of these texts. */
async function deleteCopies(path: string, texts: readonly string[]): Promise<readonly string[]> {
  const needles = texts.map((text) => JSON.stringify(text).slice(1, -1));
  const deleted: string[] = [];
  for (const copy of await copiesOf(path, /^\.(?:corrupt-[\da-f]+|[\da-f-]+\.tmp)$/)) {
    const backup = await readText(copy);
    if (!needles.some((needle) => backup.includes(needle))) continue;
    await rm(copy, { force: true });
    deleted.push(copy);
  }
  return deleted;
}

async function replace(path: string, text: string, writeNew: (path: string, text: string) => Promise<void>) {
  await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
  // We hold the lock, so any temporary file is left from a killed process.
  for (const left of await copiesOf(path, /^\.[\da-f-]+\.tmp$/)) await rm(left, { force: true });
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await writeNew(temporary, text);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await flushFolder(dirname(path));
}

/** Files beside the document whose names go on like this. */
async function copiesOf(path: string, ending: RegExp): Promise<string[]> {
  const name = basename(path);
  const beside = await readdir(dirname(path)).catch(() => [] as string[]);
  const copies = beside.filter((one) => one.startsWith(name) && ending.test(one.slice(name.length)));
  return copies.map((one) => join(dirname(path), one));
}

async function writeFlushed(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", PRIVATE_FILE);
  try {
    await file.writeFile(text, "utf8");
    await file.sync();
  } finally {
    await file.close();
  }
}

/** So that the rename itself survives a power cut; not every system can open a folder. */
async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => null);
  try {
    await handle?.sync();
  } catch {
    // Windows and some network file systems refuse this; the data itself is flushed.
  } finally {
    await handle?.close();
  }
}

/** The clock may stand still or run backwards: every replacement is a new file with a number of its own. */
async function stampOf(path: string): Promise<string | null> {
  try {
    const { mtimeMs, size, ino } = await stat(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw translated(error, path);
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw translated(error, path);
  }
}

async function setAside(path: string, reason: string, text: string): Promise<MemoryStorageError> {
  // A database was never a memory: where one is named as such by mistake, it is not ours to move.
  if (text.startsWith("SQLite format 3"))
    return new MemoryStorageError("corrupt", `${path} is a database, not a memory: see memory.storage_path`);
  const name = `${basename(path)}.corrupt-${randomUUID().slice(0, 8)}`;
  const aside = join(dirname(path), name);
  const moved = await rename(path, aside).then(
    () => `It was moved to ${aside}: repair it and move it back, or go on with a new memory.`,
    () => "It could not be moved aside: repair it or move it away.",
  );
  return new MemoryStorageError("corrupt", `${path} can't be read as memory: ${reason}. ${moved}`);
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

async function guarded<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translated(error, path);
  }
}

function translated(error: unknown, path: string): unknown {
  if (error instanceof MemoryStorageError) return error;
  const { code, errcode } = error as { code?: string; errcode?: number };
  const failed = (kind: MemoryStorageError["code"], what: string) =>
    new MemoryStorageError(kind, `${path} ${what} (${(error as Error).message})`, error);
  switch (errcode === undefined ? code : SQLITE[errcode & 0xff]) {
    case "ENOSPC":
    case "EDQUOT":
      return failed("full", "was not changed: no room is left on its disk");
    case "EACCES":
    case "EPERM":
    case "EROFS":
    case "ENOTDIR":
    case "EISDIR":
    case "EEXIST":
      return failed("unwritable", "can't be read or written: check the permissions of the file and its folder");
    default:
      return error;
  }
}

/** What the lock file's engine says, in the system's words. */
const SQLITE: Readonly<Record<number, string>> = { 8: "EROFS", 13: "ENOSPC", 14: "EACCES" };

/*
 * A lock between processes that the system itself gives back when its holder dies: a write transaction on an empty
 * SQLite file beside the document. Nothing is ever stale, so nothing has to guess. Within a process a queue comes first.
 */

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
