/**
 * The embedded store: Node's own SQLite, one file, write-ahead log, every commit on the disk before it is acknowledged.
 * The port is asynchronous, the calls beneath are not: each is one short transaction.
 */

import { DEFAULT_USER } from "@palimpsest/core/log";
import { type Connection, connect, type SqliteOptions } from "./sqlite/connection.ts";
import { drafts } from "./sqlite/drafts.ts";
import { keyRows } from "./sqlite/keys.ts";
import { acquireLease, releaseLease, renewLease } from "./sqlite/leases.ts";
import { matchRows } from "./sqlite/matches.ts";
import { memoryRows } from "./sqlite/memories.ts";
import { outbox } from "./sqlite/outbox.ts";
import { promptTexts } from "./sqlite/prompts.ts";
import { append, load, records, redact } from "./sqlite/records.ts";
import { findThread, headNamed } from "./sqlite/rows.ts";
import { searchTables } from "./sqlite/search.ts";
import { createThread, deleteThread, fork, sharers, threads, users, writeHead } from "./sqlite/threads.ts";
import { upkeep } from "./sqlite/upkeep.ts";
import type { FullStore } from "./store.ts";
import { assertUser, ownHeader } from "./users.ts";

/** Throws a `StoreError` when the file can't be used; a file that isn't ours, or is newer, is left as it is. */
export function openSqlite(options: SqliteOptions): FullStore {
  return seenBy(DEFAULT_USER, connect(options));
}

function seenBy(userId: string, database: Connection): FullStore {
  const connection = { ...database, userId };
  const { guard } = connection;
  return {
    userId,
    forUser: (other) => seenBy(assertUser(other), database),
    users: (after) => guard(() => users(connection, after)),
    createThread: (header, head, records) =>
      guard(() => createThread(connection, ownHeader(userId, header), head, records)),
    header: (threadId) => guard(() => findThread(connection, threadId)?.header),
    head: (threadId) => guard(() => headNamed(connection, threadId)),
    append: (threadId, batch) => guard(() => append(connection, threadId, batch)),
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
