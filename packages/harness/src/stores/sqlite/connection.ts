/**
 * One connection to one database file: opening it safely, prepared statements, transactions, and the translation of
 * SQLite's errors into ours. Knows nothing of threads or records.
 */

import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, realpathSync, rmdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { DatabaseSync, DatabaseSyncOptions, SQLInputValue, StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { HOME_NAME, makeFile, makeFolder } from "../../home-folders.ts";
import type { Scrubbed, Upkeep } from "../store.ts";
import { StoreError, type StoreErrorCode } from "../store-error.ts";
import { migrate, PAGE_SIZE, readVersion, requireCurrent } from "./schema.ts";

export type SqliteRow = Record<string, SQLInputValue>;

export interface Connection {
  readonly path: string;
  get(sql: string, ...values: SQLInputValue[]): SqliteRow | undefined;
  all(sql: string, ...values: SQLInputValue[]): SqliteRow[];
  /** Rows one at a time; stop early to bound memory. Use it up before the next statement. */
  each(sql: string, ...values: SQLInputValue[]): Iterable<SqliteRow>;
  run(sql: string, ...values: SQLInputValue[]): { readonly changes: number };
  exec(sql: string): void;
  /** `DEFERRED` for a consistent read, `IMMEDIATE` for a write. Rolled back when `work` throws. */
  transaction<T>(mode: "DEFERRED" | "IMMEDIATE", work: () => T): T;
  /** Commits inside `work` reach the disk with the next one outside of it: for what may be forgotten in a power cut. */
  unhurried<T>(work: () => T): T;
  /** Commits inside `work` leave moving the write-ahead log into the file to the next one outside of it. */
  checkpointLater<T>(work: () => T): T;
  /** From here on the file is read as memory: for reads from all over a large one. */
  map(): void;
  /** Runs `work` and turns what SQLite throws into a `StoreError`. */
  guard<T>(work: () => T): Promise<T>;
  /** Whose leases are those of processes that live. */
  readonly owners: Owners;
  close(): void;
}

export interface SqliteOptions {
  readonly path: string;
  /** How long to wait for another process's transaction before `locked`. */
  readonly busyTimeoutMs?: number;
  /** The most pages the file may have; an append that needs more fails as on a full disk. */
  readonly maxPages?: number;
  /** `read`: a file that can't be written is opened for reading only; every write to it is `unwritable`. */
  readonly access?: "read" | "write";
}

export function connect(options: SqliteOptions): Connection {
  try {
    return connectToWrite(options);
  } catch (error) {
    if (options.access !== "read" || !isRefusedWrite(error)) throw error;
    return connectToRead(options);
  }
}

function connectToWrite({ path, busyTimeoutMs = 5000, maxPages }: SqliteOptions): Connection {
  const open = () => {
    if (path !== ":memory:") {
      refuseNewHome(dirname(path));
      makeFolder(dirname(path));
      makeFile(path);
    }
    return openDatabase(path, { timeout: busyTimeoutMs });
  };
  return connected(path, open, (connection) => {
    prepare(connection);
    if (maxPages !== undefined) connection.exec(`PRAGMA max_page_count = ${Math.trunc(maxPages)}`);
  });
}

/** A home stands before the person's own wherever it lies above: it is made by who means one, never by a path in a program. */
function refuseNewHome(folder: string): void {
  if (basename(folder) !== HOME_NAME || existsSync(folder)) return;
  throw new StoreError(
    "unsuitable",
    `${folder} would be a home, and there is none: "palimpsest --home ${folder}" with any command that writes makes it. For a store alone name a file in another folder.`,
  );
}

/** A disk without room counts too: not even the index of the write-ahead log fits on it. */
function isRefusedWrite(error: unknown): boolean {
  return error instanceof StoreError && ["unwritable", "full", "io"].includes(error.code);
}

function connectToRead({ path, busyTimeoutMs = 5000 }: SqliteOptions): Connection {
  // Where nothing may be made beside the file, SQLite reads it only as one that never changes. That holds while there is
  // no write-ahead log: the process that has the file open for writing keeps one.
  const place = existsSync(`${path}-wal`) ? path : `${pathToFileURL(path).href}?immutable=1`;
  const open = () => openDatabase(place, { timeout: busyTimeoutMs, readOnly: true });
  return connected(path, open, (connection) => {
    requireCurrent(connection);
    connection.exec(CACHE);
  });
}

/** What can't be made ready is closed again. */
function connected(path: string, open: () => DatabaseSync, ready: (connection: Connection) => void): Connection {
  try {
    const connection = wrap(path, open());
    try {
      ready(connection);
    } catch (error) {
      connection.close();
      throw error;
    }
    return connection;
  } catch (error) {
    throw translate(error, path);
  }
}

/** Looks before it touches: a file that is not ours, or newer, stays as it is, byte for byte. */
function prepare(connection: Connection): void {
  if (readVersion(connection) === 0) connection.exec(`PRAGMA page_size = ${PAGE_SIZE}`);
  connection.exec("PRAGMA journal_mode = WAL");
  connection.exec("PRAGMA synchronous = FULL");
  // What is deleted or redacted is overwritten with zeros, not only forgotten.
  connection.exec("PRAGMA secure_delete = ON");
  connection.exec(CHECKPOINT);
  connection.exec(CACHE);
  connection.exec("PRAGMA journal_size_limit = 16777216");
  migrate(connection);
}

const CHECKPOINT = "PRAGMA wal_autocheckpoint = 8000";
/** As much as SQLite maps at most. Nothing is written through it. */
const MAPPING = "PRAGMA mmap_size = 2147418112";
/** A search reads thousands of small pages: they must not be fetched from the system one by one each time. */
const CACHE = "PRAGMA cache_size = -65536";

function wrap(path: string, database: DatabaseSync): Connection {
  const statements = new Map<string, StatementSync>();
  const owners = ownersOf(path);
  let isMapped = false;
  const statement = (sql: string): StatementSync => {
    let cached = statements.get(sql);
    if (cached === undefined) {
      cached = database.prepare(sql);
      statements.set(sql, cached);
    }
    return cached;
  };
  return {
    path,
    get: (sql, ...values) => statement(sql).get(...values),
    all: (sql, ...values) => statement(sql).all(...values),
    each: (sql, ...values) => statement(sql).iterate(...values),
    run: (sql, ...values) => ({ changes: Number(statement(sql).run(...values).changes) }),
    exec: (sql) => database.exec(sql),
    transaction: (mode, work) => {
      statement(`BEGIN ${mode}`).run();
      try {
        const result = work();
        statement("COMMIT").run();
        return result;
      } catch (error) {
        // SQLite has already rolled back by itself after a full disk or an I/O error.
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
    },
    unhurried: (work) => {
      database.exec("PRAGMA synchronous = NORMAL");
      try {
        return work();
      } finally {
        database.exec("PRAGMA synchronous = FULL");
      }
    },
    checkpointLater: (work) => {
      database.exec("PRAGMA wal_autocheckpoint = 0");
      try {
        return work();
      } finally {
        database.exec(CHECKPOINT);
      }
    },
    map: () => {
      if (!isMapped) database.exec(MAPPING);
      isMapped = true;
    },
    guard: async (work) => {
      try {
        if (!database.isOpen) throw new StoreError("closed", `${path} is closed: open the store again`);
        return work();
      } catch (error) {
        throw translate(error, path);
      }
    },
    owners,
    close: () => {
      owners.close();
      if (database.isOpen) database.close();
    },
  };
}

/** SQLite's primary result codes, and Node's for the folder, with what a person can do about each. */
const MEANING: Readonly<Record<number | string, readonly [StoreErrorCode, string]>> = {
  3: ["unwritable", "may not be opened: check the permissions of the file and its folder"],
  5: ["locked", "is locked by another process: wait for it or end it, then try again"],
  6: ["locked", "is locked by another process: wait for it or end it, then try again"],
  8: ["unwritable", "can't be written: check the permissions of the file and its folder"],
  10: ["io", "can't be read or written by the system: check the disk"],
  11: ["corrupt", "is damaged: move it aside and restore a backup"],
  13: ["full", "has no room left on its disk: free some space and try again; nothing was written"],
  14: ["unwritable", "can't be opened: check that the path is a file in a folder that can be written"],
  26: ["corrupt", "is not a database, or its start is damaged: move it aside and restore a backup"],
  EACCES: ["unwritable", "can't be created: check the permissions of its folder"],
  EPERM: ["unwritable", "can't be created: check the permissions of its folder"],
  EROFS: ["unwritable", "can't be created: its folder is on a read-only disk"],
  ENOENT: ["unwritable", "can't be created: its folder can't be made there"],
  ENOTDIR: ["unwritable", "can't be created: a part of its path is a file"],
  EEXIST: ["unwritable", "can't be created: a part of its path is a file"],
  ENOSPC: ["full", "can't be created: no room is left on the disk"],
};

function translate(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const { code, errcode = 0 }: Error & { code?: string; errcode?: number } = error;
  // The low byte is the primary code; the rest tells variants of it apart.
  const meaning = MEANING[code === "ERR_SQLITE_ERROR" ? errcode & 0xff : (code ?? "")];
  if (meaning) return new StoreError(meaning[0], `${path} ${meaning[1]} (${error.message})`, error);
  if (error instanceof SyntaxError)
    return new StoreError(
      "corrupt",
      `${path} holds a row that can't be read: run "palimpsest doctor --rebuild"`,
      error,
    );
  return error;
}

// Node's own SQLite, loaded at its first use and not with the module graph: Node 22 warns that it is experimental,
// which a program with another store must not see.

export function openDatabase(path: string, options: DatabaseSyncOptions): DatabaseSync {
  const sqlite: typeof import("node:sqlite") | undefined = process.getBuiltinModule("node:sqlite");
  if (sqlite === undefined) throw new StoreError("unsuitable", NO_SQLITE);
  return new sqlite.DatabaseSync(path, options);
}

const NO_SQLITE = `this Node (${process.versions.node}) has no SQLite: use Node 22.18 or newer, or another store`;

// Which of the processes on a database file are alive. An open store that takes a lease keeps a small file of its own
// locked, beside the database. The system drops the lock with the process, however it ends: the process that can take the lock
// has proof that its owner is gone. The locks are SQLite's, because Node has no others; SQLite also counts them
// within a process, so that closing one handle doesn't drop another's lock. For the same reason nothing else may open
// these files.

interface Owners {
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

function ownersOf(databasePath: string): Owners {
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

/** A process that knows the database by another name must find the same folder. Null if it is in memory, or gone. */
function folderOf(databasePath: string): string | null {
  try {
    return databasePath === ":memory:" ? null : `${realpathSync(databasePath)}-owners`;
  } catch {
    return null;
  }
}

/** Once more if it fails: the last process that left may have removed the folder meanwhile. */
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

/** `remove`: while the lock is ours, so that no one can lock a file that is no longer there. */
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
    return error instanceof Error && "code" in error && error.code === "ENOENT";
  } finally {
    handle?.close();
  }
}

// What keeps the database file in order: SQLite's own check, freed space, and what its write-ahead log still holds.

export function upkeep(connection: Connection): Upkeep {
  const { guard } = connection;
  return {
    scrub: () => guard(() => scrub(connection)),
    check: () =>
      guard(() => {
        const detail = String(connection.get("PRAGMA quick_check(1)")?.["quick_check"]);
        return { ok: detail === "ok", detail };
      }),
    probe: () =>
      guard(() => {
        // No thread has this number.
        connection.run(
          "INSERT OR REPLACE INTO drafts (num, key, value, created) VALUES (0, 'probe', hex(zeroblob(131072)), '')",
        );
        connection.run("DELETE FROM drafts WHERE num = 0");
      }),
    vacuum: () =>
      guard(() => {
        connection.exec("VACUUM");
        connection.all("PRAGMA wal_checkpoint(TRUNCATE)");
      }),
  };
}

/**
 * The write-ahead log holds the old pages until it is folded into the file and cut. A reader can stand in the way for as long
 * as it likes, so it is not waited for: its end, or the next of these, does the rest.
 */
function scrub(connection: Connection): Scrubbed {
  const patience = connection.get("PRAGMA busy_timeout")?.["timeout"] ?? 0;
  connection.exec(`PRAGMA busy_timeout = ${Math.min(Number(patience), SCRUB_MS)}`);
  try {
    const busy = connection.get("PRAGMA wal_checkpoint(TRUNCATE)")?.["busy"];
    return busy === 1 ? { kind: "held", file: `${connection.path}-wal` } : { kind: "clean" };
  } finally {
    connection.exec(`PRAGMA busy_timeout = ${patience}`);
  }
}

/** Long enough for a process that holds it only briefly. */
const SCRUB_MS = 200;
