/**
 * The embedded store: Node's own SQLite, one file, write-ahead log, every commit on the disk before it is acknowledged.
 * The port is asynchronous, the calls beneath are not: each is one short transaction.
 */

import { type ChainedRecord, DEFAULT_USER } from "@palimpsest/core/internal/log";
import { pace } from "../long-work.ts";
import { assertUser, ownHeader } from "./driver-rules.ts";
import { zipLong } from "./pack-record.ts";
import { type Connection, connect, type SqliteOptions, upkeep } from "./sqlite/connection.ts";
import { outbox } from "./sqlite/outbox.ts";
import { append, appendFirst, load, records, redact } from "./sqlite/records.ts";
import { findThread, headNamed } from "./sqlite/rows.ts";
import { searchTables } from "./sqlite/search.ts";
import {
  acquireLease,
  drafts,
  keyRows,
  matchRows,
  memoryRows,
  promptTexts,
  releaseLease,
  renewLease,
} from "./sqlite/tables.ts";
import { createThread, deleteThread, fork, sharers, threads, users, writeHead } from "./sqlite/threads.ts";
import type { FullStore } from "./store.ts";

/** Throws a `StoreError` when the file can't be used; a file that isn't ours, or is newer, is left as it is. */
export function openSqlite(options: SqliteOptions): FullStore {
  return seenBy(DEFAULT_USER, connect(options));
}

function seenBy(userId: string, database: Connection): FullStore {
  const connection = { ...database, userId };
  const { guard } = connection;
  /** A large transaction has a turn of the event loop to itself, so that others wait for nothing but it. */
  const write = async <T>(
    records: readonly ChainedRecord[] = [],
    work: (records: readonly ChainedRecord[]) => T,
  ): Promise<T> => {
    if (!isLarge(records)) return guard(() => work(records));
    const { turn } = pace();
    // Hashing them, or copying them to where they are compressed, is enough for one turn.
    await turn();
    const ready = await zipLong(records);
    await turn();
    const result = await guard(() => connection.checkpointLater(() => work(ready)));
    await turn();
    return result;
  };
  return {
    userId,
    forUser: (other) => seenBy(assertUser(other), database),
    users: (after) => guard(() => users(connection, after)),
    createThread: (header, head, records) =>
      write(records, (ready) => createThread(connection, ownHeader(userId, header), head, ready)),
    header: (threadId) => guard(() => findThread(connection, threadId)?.header),
    head: (threadId) => guard(() => headNamed(connection, threadId)),
    append: (threadId, batch) =>
      write(batch.records, (ready) => append(connection, threadId, { ...batch, records: ready })),
    appendFirst: (threadId, batch, claim) =>
      write(batch.records, (ready) => appendFirst(connection, threadId, { ...batch, records: ready }, claim)),
    records: (threadId, query) => records(connection, threadId, query),
    load: (threadId) => guard(() => load(connection, threadId)),
    threads: (query) => guard(() => threads(connection, query)),
    fork: (request) => guard(() => fork(connection, { ...request, header: ownHeader(userId, request.header) })),
    sharers: (threadId, seq) => guard(() => sharers(connection, threadId, seq)),
    deleteThread: (threadId, ownLease) => guard(() => deleteThread(connection, threadId, ownLease)),
    redact: (request) => guard(() => redact(connection, request)),
    acquireLease: (threadId, owner, ttlMs) => guard(() => acquireLease(connection, threadId, owner, ttlMs)),
    renewLease: (lease, ttlMs) => guard(() => renewLease(connection, lease, ttlMs)),
    releaseLease: (lease) => guard(() => releaseLease(connection, lease)),
    writeHead: (threadId, head) => guard(() => writeHead(connection, threadId, head)),
    close: async () => connection.close(),
    // Made when they are asked for: most programs use few of them.
    get drafts() {
      return drafts(connection);
    },
    get search() {
      return searchTables(connection);
    },
    get memories() {
      return memoryRows(connection);
    },
    get outbox() {
      return outbox(connection);
    },
    get prompts() {
      return promptTexts(connection);
    },
    get keys() {
      return keyRows(connection);
    },
    get matches() {
      return matchRows(connection);
    },
    get upkeep() {
      return upkeep(connection);
    },
  };
}

const LARGE_CHARACTERS = 1_000_000;

function isLarge(records: readonly ChainedRecord[]): boolean {
  let characters = 0;
  for (const { body } of records) characters += body?.length ?? 0;
  return characters > LARGE_CHARACTERS;
}
