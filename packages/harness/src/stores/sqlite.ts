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

function seenBy(user: string, database: Connection): FullStore {
  const connection = { ...database, user };
  const { guard } = connection;
  return {
    user,
    forUser: (other) => seenBy(assertUser(other), database),
    users: (after) => guard(() => users(connection, after)),
    createThread: (header, head, records) =>
      guard(() => createThread(connection, ownHeader(user, header), head, records)),
    header: (thread) => guard(() => findThread(connection, thread)?.header),
    head: (thread) => guard(() => headNamed(connection, thread)),
    append: (thread, batch) => guard(() => append(connection, thread, batch)),
    records: (thread, query) => records(connection, thread, query),
    load: (thread) => guard(() => load(connection, thread)),
    threads: (query) => guard(() => threads(connection, query)),
    fork: (request) => guard(() => fork(connection, { ...request, header: ownHeader(user, request.header) })),
    sharers: (thread, seq) => guard(() => sharers(connection, thread, seq)),
    deleteThread: (thread, ownLease) => guard(() => deleteThread(connection, thread, ownLease)),
    redact: (request) => guard(() => redact(connection, request)),
    acquireLease: (thread, owner, ttlMs) => guard(() => acquireLease(connection, thread, owner, ttlMs)),
    renewLease: (lease, ttlMs) => guard(() => renewLease(connection, lease, ttlMs)),
    releaseLease: (lease) => guard(() => releaseLease(connection, lease)),
    writeHead: (thread, head) => guard(() => writeHead(connection, thread, head)),
    drafts: drafts(connection),
    search: searchTables(connection),
    memories: memoryRows(connection),
    outbox: outbox(connection),
    prompts: promptTexts(connection),
    keys: keyRows(connection),
    matches: matchRows(connection),
    upkeep: upkeep(connection),
    close: async () => connection.close(),
  };
}
