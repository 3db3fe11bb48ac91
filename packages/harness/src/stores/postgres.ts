/**
 * The PostgreSQL store: the same port as SQLite's, for several processes and machines at once. This file only puts the
 * parts together; the driver (`pg`) is loaded when the first store of this kind is opened.
 */
import { DEFAULT_USER } from "@palimpsest/core/log";
import { type Connection, type ConnectionOptions, connectPostgres, LONG } from "./postgres/connection.ts";
import { drafts } from "./postgres/drafts.ts";
import { memoryJobs } from "./postgres/jobs.ts";
import { acquireLease, releaseLease, renewLease } from "./postgres/leases.ts";
import { load } from "./postgres/load.ts";
import { memoryRows } from "./postgres/memories.ts";
import { recallTables } from "./postgres/recall.ts";
import { append, records, redact } from "./postgres/records.ts";
import { migrate } from "./postgres/schema.ts";
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
import type { Store } from "./store.ts";
import { assertUser, ownHeader } from "./users.ts";

/** Throws a `StoreError` when the database can't be used; one that is newer is left as it is. */
export async function openPostgres(url: string, options: ConnectionOptions = {}): Promise<Store> {
  const connection = await connectPostgres(url, options);
  try {
    await migrate(connection);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return seenBy(DEFAULT_USER, connection);
}

function seenBy(user: string, database: Connection): Store {
  const connection = { ...database, user };
  const { schema } = connection;
  return {
    user,
    forUser: (other) => seenBy(assertUser(other), database),
    users: (after) => users(connection, after),
    createThread: async (header, head, records) => createThread(connection, ownHeader(user, header), head, records),
    header: (thread) => header(connection, thread),
    head: (thread) => head(connection, thread),
    append: (thread, batch) => append(connection, thread, batch),
    records: (thread, query) => records(connection, thread, query),
    load: (thread) => load(connection, thread),
    threads: (query) => threads(connection, query),
    fork: async (request) => fork(connection, { ...request, header: ownHeader(user, request.header) }),
    sharers: (thread, seq) => sharers(connection, thread, seq),
    deleteThread: (thread, held) => deleteThread(connection, thread, held),
    redact: (request) => redact(connection, request),
    // Freed rows and the server's own log are the server's to clean (docs/stores.md).
    scrub: async () => ({ kind: "clean" }),
    acquireLease: (thread, owner, ttlMs) => acquireLease(connection, thread, owner, ttlMs),
    renewLease: (lease, ttlMs) => renewLease(connection, lease, ttlMs),
    releaseLease: (lease) => releaseLease(connection, lease),
    writeHead: (thread, head) => writeHead(connection, thread, head),
    drafts: drafts(connection),
    recall: recallTables(connection),
    memories: memoryRows(connection),
    jobs: memoryJobs(connection),
    async check() {
      const sql = `SELECT current_setting('server_version') AS version, count(*) AS threads FROM ${schema}.threads`;
      const [row] = await connection.run((query) => query<{ version: string; threads: number }>(sql));
      return { ok: true, detail: `PostgreSQL ${row!.version} answers; ${row!.threads} threads` };
    },
    async vacuum() {
      for (const table of ["threads", "records", "drafts", "memory_jobs", "recall_entries", "recall_postings"])
        await connection.run((query) => query(`VACUUM (ANALYZE) ${schema}.${table}`), LONG);
    },
    close: () => connection.close(),
  };
}
