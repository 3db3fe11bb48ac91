/**
 * The PostgreSQL store: the same port as SQLite's, for several processes and machines at once. This file only puts the
 * parts together; the driver (`pg`) is loaded when the first store of this kind is opened.
 */
import { DEFAULT_USER } from "@palimpsest/core/internal/log";
import { assertUser, ownHeader } from "./driver-rules.ts";
import { type ConnectionOptions, connectPostgres, type PostgresConnection } from "./postgres/connection.ts";
import { drafts } from "./postgres/drafts.ts";
import { makeLateIndexes } from "./postgres/indexes.ts";
import { keyRows } from "./postgres/keys.ts";
import { acquireLease, releaseLease, renewLease } from "./postgres/leases.ts";
import { load } from "./postgres/load.ts";
import { matchRows } from "./postgres/matches.ts";
import { memoryRows } from "./postgres/memories.ts";
import { outbox } from "./postgres/outbox.ts";
import { assertPartitions } from "./postgres/partitions.ts";
import { promptTexts } from "./postgres/prompts.ts";
import { append, appendFirst, records, redact } from "./postgres/records.ts";
import { migrate, STEPS } from "./postgres/schema.ts";
import { searchTables } from "./postgres/search.ts";
import { sharedLimits } from "./postgres/shared-limits.ts";
import { sharedRuns } from "./postgres/shared-runs.ts";
import {
  createThread,
  deleteThread,
  fork,
  head,
  header,
  sharers,
  threads,
  users,
  writeHead,
} from "./postgres/threads.ts";
import { upkeep } from "./postgres/upkeep.ts";
import { wakes } from "./postgres/wakes.ts";
import type { FullStore } from "./store.ts";

/** Throws a `StoreError` when the database can't be used; one that is newer is left as it is. */
export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<FullStore> {
  const { listenUrl = null, partitions, distributed, ...limits } = options;
  if (partitions !== undefined) assertPartitions(partitions, distributed);
  const connection = await connectPostgres(url, limits);
  try {
    if ((await migrate(connection, STEPS, { partitions, distributed })) === "made") await makeLateIndexes(connection);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return seenBy(DEFAULT_USER, connection, listenUrl);
}

export interface PostgresOptions extends ConnectionOptions {
  /** Where wake-ups are listened for, past any pooler; without it waiting means polling. */
  readonly listenUrl?: string | null;
  /** Into how many parts the large tables are cut when the schema is made. */
  readonly partitions?: number;
  /** The tables of users are spread over the nodes of Citus when the schema is made. Unless told, a store is taken as it is. */
  readonly distributed?: boolean;
}

function seenBy(userId: string, database: PostgresConnection, listenUrl: string | null): FullStore {
  const connection = { ...database, userId };
  return {
    userId,
    forUser: (other) => seenBy(assertUser(other), database, listenUrl),
    users: (after) => users(connection, after),
    createThread: async (header, head, records) => createThread(connection, ownHeader(userId, header), head, records),
    header: (threadId) => header(connection, threadId),
    head: (threadId) => head(connection, threadId),
    append: (threadId, batch) => append(connection, threadId, batch),
    appendFirst: (threadId, batch, claim) => appendFirst(connection, threadId, batch, claim),
    records: (threadId, query) => records(connection, threadId, query),
    load: (threadId) => load(connection, threadId),
    threads: (query) => threads(connection, query),
    fork: async (request) => fork(connection, { ...request, header: ownHeader(userId, request.header) }),
    sharers: (threadId, seq) => sharers(connection, threadId, seq),
    deleteThread: (threadId, ownLease) => deleteThread(connection, threadId, ownLease),
    redact: (request) => redact(connection, request),
    acquireLease: (threadId, owner, ttlMs) => acquireLease(connection, threadId, owner, ttlMs),
    renewLease: (lease, ttlMs) => renewLease(connection, lease, ttlMs),
    releaseLease: (lease) => releaseLease(connection, lease),
    writeHead: (threadId, head) => writeHead(connection, threadId, head),
    close: () => connection.close(),
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
    get shared() {
      return {
        runs: sharedRuns(connection),
        limits: sharedLimits(connection),
        wakes: wakes(connection, listenUrl),
      };
    },
    get upkeep() {
      return upkeep(connection);
    },
  };
}
