/**
 * Our tables in PostgreSQL. What belongs to a user has the user as the first column of its key, of every unique index and in
 * every statement, so that Citus can spread users over servers (distribution.ts); what belongs to no user, or lives for minutes,
 * is small and stays on one server. Steps are only ever added: an older schema is brought up one step at a time, in one
 * transaction, by one process at a time (advisory lock). A step only adds, so that programs of before and after it may work on
 * one database while they are being exchanged; one that can't must raise `least`. What a program can't read it refuses, untouched.
 */
import { LONG, type PostgresConnection } from "./connection.ts";
import { distributeTables, isDistributed, refuseUndistributed } from "./distribution.ts";
import { MINUTE } from "./head.ts";
import { partitionTables, refuseOther } from "./partitions.ts";
import { RARE_KINDS } from "./record-row.ts";
import { FIRST_VERSION, refuseOthers, schemaVersion } from "./schema-version.ts";
import { refuseServer, upkeepSettings } from "./server-settings.ts";

interface LayoutOptions {
  readonly partitions?: number | undefined;
  /** Undefined: as it is. */
  readonly distributed?: boolean | undefined;
}

/** `made`: there were no tables before. */
export async function migrate(
  connection: PostgresConnection,
  steps = STEPS,
  { partitions, distributed }: LayoutOptions = {},
): Promise<"made" | "kept"> {
  const { schema } = connection;
  const newest = FIRST_VERSION - 1 + steps.length;
  const current = await connection.run((query) => schemaVersion(query, schema));
  refuseOthers(current, newest, schema);
  if (current.version > 0) {
    if (partitions !== undefined) await connection.run((query) => refuseOther(query, schema, partitions));
    if (distributed === true) await connection.run((query) => refuseUndistributed(query, schema));
  }
  if (current.version >= newest) return "kept";
  return connection.transaction(async (query) => {
    await query("SELECT pg_advisory_xact_lock(hashtext('palimpsest'), hashtext($1))", [schema]);
    await refuseServer(query);
    // Another process may have done the work while this one waited for the lock.
    const there = await schemaVersion(query, schema);
    refuseOthers(there, newest, schema);
    const { version } = there;
    if (version >= newest) return "kept";
    if (version === 0) {
      await query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
      await query(`CREATE TABLE ${schema}.schema_version (version int NOT NULL, least int NOT NULL)`);
      await query(`INSERT INTO ${schema}.schema_version VALUES (0, ${FIRST_VERSION})`);
    }
    for (const step of steps.slice(version === 0 ? 0 : version - FIRST_VERSION + 1)) {
      for (const statement of step(schema)) await query(statement);
    }
    if (version === 0 && partitions !== undefined) await partitionTables(query, schema, partitions);
    if (version === 0 ? distributed : await isDistributed(query, schema)) await distributeTables(query, schema);
    await query(`UPDATE ${schema}.schema_version SET version = $1`, [newest]);
    return version === 0 ? "made" : "kept";
  }, LONG);
}

type SchemaStep = (schema: string) => readonly string[];

export const STEPS: readonly SchemaStep[] = [
  (schema) => [
    ...threadTables(schema),
    ...searchTables(schema),
    ...besideTheLog(schema),
    ...sharedTables(schema),
    ...upkeepSettings(schema),
  ],
];

/**
 * Texts are TEXT, never jsonb, which would reorder keys and drop bytes; ids sort by code point on every server. `num` counts a
 * user's threads in the order they were made (`users`); everything else names a thread by it. `base` says whose records a fork
 * reads before its own, through `base_at`. `state` stands apart from the head: an append that leaves it alone doesn't write it
 * again. `late`: the search index may lack records. The list of recent threads is indexed by the minute: appends within one change no
 * index of the thread's row.
 */
function threadTables(schema: string): string[] {
  return [
    `CREATE TABLE ${schema}.users (
      owner text COLLATE "C" PRIMARY KEY,
      threads bigint NOT NULL
    ) WITH (fillfactor = 50)`,
    `CREATE TABLE ${schema}.threads (
      owner text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      num bigint NOT NULL,
      base bigint,
      base_at bigint NOT NULL,
      version bigint NOT NULL,
      messages bigint NOT NULL,
      lease_epoch bigint NOT NULL DEFAULT 0,
      lease_taken timestamptz,
      lease_until timestamptz,
      late boolean NOT NULL DEFAULT true,
      lease_owner text,
      kind text NOT NULL,
      updated_at text COLLATE "C" NOT NULL,
      minute text COLLATE "C" NOT NULL GENERATED ALWAYS AS (left(updated_at, ${MINUTE})) STORED,
      title text,
      header text NOT NULL,
      head text NOT NULL,
      state text NOT NULL,
      PRIMARY KEY (owner, id)
    ) WITH (fillfactor = 70)`,
    `CREATE UNIQUE INDEX threads_created ON ${schema}.threads (owner, num)`,
    `CREATE INDEX threads_recent ON ${schema}.threads (owner, minute DESC)`,
    `CREATE INDEX threads_base ON ${schema}.threads (owner, base) WHERE base IS NOT NULL`,
    `CREATE INDEX threads_late ON ${schema}.threads (owner, num) WHERE late`,
    // Packed (record-row.ts). The largest tables have what is of a fixed length first and as few bytes of it as will do.
    `CREATE TABLE ${schema}.records (
      thread int NOT NULL,
      seq int NOT NULL,
      redacted boolean NOT NULL DEFAULT false,
      owner text COLLATE "C" NOT NULL,
      kind text NOT NULL,
      header text NOT NULL,
      packed bytea NOT NULL,
      zipped bytea NOT NULL,
      body text,
      PRIMARY KEY (owner, thread, seq)
    )`,
    `ALTER TABLE ${schema}.records ALTER COLUMN zipped SET STORAGE EXTERNAL`,
    `CREATE INDEX records_of_kind ON ${schema}.records (owner, thread, kind, seq) WHERE ${RARE_KINDS}`,
  ];
}

/**
 * The search index: derived, filled behind the log (recall/catch-up.ts). A row of postings holds some of a block's terms
 * (posting-buckets.ts). Their lists stay in it: to fetch the long ones of common words from elsewhere would be most of a search. An
 * entry is one text, taken apart by its reader. Thread 0 is what a user's small threads share (posting-pool.ts).
 */
function searchTables(schema: string): string[] {
  return [
    `CREATE TABLE ${schema}.recall_users (
      owner text COLLATE "C" PRIMARY KEY,
      next bigint NOT NULL DEFAULT 0,
      entries bigint NOT NULL DEFAULT 0,
      length bigint NOT NULL DEFAULT 0
    ) WITH (fillfactor = 50)`,
    `CREATE TABLE ${schema}.recall_slots (
      owner text COLLATE "C" NOT NULL,
      first bigint NOT NULL,
      thread bigint NOT NULL,
      size int NOT NULL,
      ordinal int NOT NULL,
      PRIMARY KEY (owner, first)
    )`,
    `CREATE INDEX recall_slots_thread ON ${schema}.recall_slots (owner, thread, ordinal)`,
    `CREATE TABLE ${schema}.recall_threads (
      owner text COLLATE "C" NOT NULL,
      thread bigint NOT NULL,
      indexed bigint NOT NULL,
      entries bigint NOT NULL,
      length bigint NOT NULL,
      ordinal int,
      session int,
      at text,
      large boolean NOT NULL DEFAULT false,
      merged int[] NOT NULL DEFAULT '{}',
      PRIMARY KEY (owner, thread)
    ) WITH (fillfactor = 70)`,
    `CREATE INDEX recall_threads_large ON ${schema}.recall_threads (owner, thread) WHERE large`,
    `CREATE TABLE ${schema}.recall_entries (
      thread int NOT NULL,
      seq int NOT NULL,
      ordinal int NOT NULL,
      length int NOT NULL,
      owner text COLLATE "C" NOT NULL,
      packed text NOT NULL,
      PRIMARY KEY (owner, thread, ordinal)
    )`,
    `CREATE INDEX recall_entries_seq ON ${schema}.recall_entries (owner, thread, seq)`,
    `CREATE TABLE ${schema}.recall_postings (
      thread int NOT NULL,
      block int NOT NULL,
      bucket int NOT NULL,
      owner text COLLATE "C" NOT NULL,
      lines text NOT NULL,
      PRIMARY KEY (owner, thread, block, bucket)
    ) WITH (fillfactor = 80, toast_tuple_target = 8160)`,
    `ALTER TABLE ${schema}.recall_postings ALTER COLUMN lines SET STORAGE EXTERNAL`,
    // For each thread which embedder and how far it has come, and what it made of indexed messages.
    `CREATE TABLE ${schema}.recall_embedders (
      owner text COLLATE "C" NOT NULL,
      thread bigint NOT NULL,
      through bigint NOT NULL,
      dimension int NOT NULL,
      model text NOT NULL,
      PRIMARY KEY (owner, thread)
    )`,
    `CREATE TABLE ${schema}.recall_vectors (
      owner text COLLATE "C" NOT NULL,
      thread bigint NOT NULL,
      seq bigint NOT NULL,
      vector bytea NOT NULL,
      PRIMARY KEY (owner, thread, seq)
    )`,
    `ALTER TABLE ${schema}.recall_vectors ALTER COLUMN vector SET STORAGE EXTERNAL`,
  ];
}

function besideTheLog(schema: string): string[] {
  return [
    `CREATE TABLE ${schema}.drafts (
      owner text COLLATE "C" NOT NULL,
      thread bigint NOT NULL,
      key text COLLATE "C" NOT NULL,
      value text NOT NULL,
      created text NOT NULL,
      PRIMARY KEY (owner, thread, key)
    )`,
    // Memory documents, one row per user and agent; an empty agent is the user's own.
    `CREATE TABLE ${schema}.memories (
      owner text COLLATE "C" NOT NULL,
      agent text COLLATE "C" NOT NULL,
      revision bigint NOT NULL,
      document text NOT NULL,
      PRIMARY KEY (owner, agent)
    )`,
    // Jobs of any kind, one row for each thread, queue and key. Memory's key is the agent. Times are milliseconds: Citus lets an
    // upsert reckon with numbers only.
    `CREATE TABLE ${schema}.outbox (
      owner text COLLATE "C" NOT NULL,
      thread bigint NOT NULL,
      queue text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      payload text NOT NULL,
      first float8 NOT NULL,
      queued float8 NOT NULL,
      run float8 NOT NULL,
      revision bigint NOT NULL DEFAULT 1,
      attempts int NOT NULL DEFAULT 0,
      max_attempts int NOT NULL,
      error text,
      holder text,
      leased float8,
      until float8,
      PRIMARY KEY (owner, thread, queue, key)
    ) WITH (fillfactor = 70)`,
    // Texts that requests repeat, once for each user, and which threads name them, from which record on.
    `CREATE TABLE ${schema}.prompts (
      owner text COLLATE "C" NOT NULL,
      hash text COLLATE "C" NOT NULL,
      text text NOT NULL,
      PRIMARY KEY (owner, hash)
    )`,
    `CREATE TABLE ${schema}.prompt_uses (
      owner text COLLATE "C" NOT NULL,
      thread bigint NOT NULL,
      seq bigint NOT NULL,
      hash text COLLATE "C" NOT NULL,
      PRIMARY KEY (owner, thread, hash)
    )`,
    `CREATE INDEX prompt_uses_hash ON ${schema}.prompt_uses (owner, hash)`,
    // What conversations are known by after answers, so that one that is sent again finds its thread.
    `CREATE TABLE ${schema}.matches (
      owner text COLLATE "C" NOT NULL,
      thread bigint NOT NULL,
      seq bigint NOT NULL,
      hash text COLLATE "C" NOT NULL,
      answer text COLLATE "C" NOT NULL,
      grp text COLLATE "C",
      fixed text,
      PRIMARY KEY (owner, thread, seq)
    )`,
    `CREATE INDEX matches_hash ON ${schema}.matches (owner, hash)`,
    `CREATE INDEX matches_group ON ${schema}.matches (owner, grp, thread, seq) WHERE grp IS NOT NULL`,
    // Keys to a gateway: what they are known by, never the keys themselves.
    `CREATE TABLE ${schema}.keys (
      id text COLLATE "C" PRIMARY KEY,
      hash text COLLATE "C" NOT NULL UNIQUE,
      prefix text NOT NULL,
      owner text COLLATE "C" NOT NULL,
      role text NOT NULL,
      created text NOT NULL,
      expires text,
      revoked text
    )`,
  ];
}

/** What instances tell each other (stores/shared.ts). Unlogged: nothing of it has to outlive the server. */
function sharedTables(schema: string): string[] {
  return [
    `CREATE UNLOGGED TABLE ${schema}.runs (
      owner text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      thread text COLLATE "C" NOT NULL,
      model text,
      request text COLLATE "C",
      holder text COLLATE "C" NOT NULL,
      asked timestamptz NOT NULL,
      leased timestamptz NOT NULL,
      until timestamptz NOT NULL,
      cancel_at timestamptz,
      follow_at timestamptz,
      ended timestamptz,
      outcome text,
      PRIMARY KEY (owner, id)
    ) WITH (fillfactor = 70)`,
    `CREATE UNIQUE INDEX runs_request ON ${schema}.runs (owner, request) WHERE request IS NOT NULL AND ended IS NULL`,
    `CREATE INDEX runs_held ON ${schema}.runs (holder) WHERE ended IS NULL`,
    `CREATE UNLOGGED TABLE ${schema}.run_events (
      owner text COLLATE "C" NOT NULL,
      run text COLLATE "C" NOT NULL,
      n bigint NOT NULL,
      first bigint NOT NULL,
      chunk text NOT NULL,
      PRIMARY KEY (owner, run, n)
    )`,
    `CREATE UNLOGGED TABLE ${schema}.instances (
      id text COLLATE "C" PRIMARY KEY,
      kind text NOT NULL,
      seen timestamptz NOT NULL
    ) WITH (fillfactor = 50)`,
    `CREATE UNLOGGED TABLE ${schema}.accounts (
      account text COLLATE "C" PRIMARY KEY,
      until timestamptz NOT NULL,
      tokens_until timestamptz NOT NULL
    ) WITH (fillfactor = 50)`,
    `CREATE UNLOGGED TABLE ${schema}.account_running (
      account text COLLATE "C" NOT NULL,
      instance text COLLATE "C" NOT NULL,
      running int NOT NULL,
      seen timestamptz NOT NULL,
      PRIMARY KEY (account, instance)
    ) WITH (fillfactor = 50)`,
    `CREATE TABLE ${schema}.stated_windows (
      endpoint text COLLATE "C" PRIMARY KEY,
      tokens bigint NOT NULL,
      learned bigint NOT NULL
    )`,
  ];
}
