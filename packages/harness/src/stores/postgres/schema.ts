/**
 * Our tables in PostgreSQL and the steps that led there. Steps are only ever added: an older schema is brought up one
 * step at a time, in one transaction, by one process at a time (advisory lock). From the step that counts `least` on, a
 * step only adds, so that programs of before and after it may work on one database while they are being exchanged; one
 * that can't must raise `least`. What a program can't read it refuses, untouched.
 */
import { type Connection, LONG } from "./connection.ts";
import { carryOver, oldQueueFunction } from "./old-queue.ts";
import { partitionTables, refuseOther } from "./partitions.ts";
import { searchSteps } from "./posting-pool.ts";
import { refuseNewer, schemaVersion } from "./schema-version.ts";
import { refuseServer, upkeepSettings } from "./server-settings.ts";
import { vectorTables } from "./vectors.ts";

/** `made`: there were no tables before. */
export async function migrate(connection: Connection, steps = STEPS, partitions?: number): Promise<"made" | "kept"> {
  const { schema } = connection;
  const current = await connection.run((query) => schemaVersion(query, schema));
  refuseNewer(current, steps.length, schema);
  if (partitions !== undefined && current.version > 0)
    await connection.run((query) => refuseOther(query, schema, partitions));
  if (current.version >= steps.length) return "kept";
  return connection.transaction(async (query) => {
    await query("SELECT pg_advisory_xact_lock(hashtext('palimpsest'), hashtext($1))", [schema]);
    await refuseServer(query);
    // Another process may have done the work while this one waited for the lock.
    const there = await schemaVersion(query, schema);
    refuseNewer(there, steps.length, schema);
    const { version } = there;
    if (version >= steps.length) return "kept";
    if (version === 0) {
      await query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
      await query(`CREATE TABLE ${schema}.schema_version (version int NOT NULL)`);
      await query(`INSERT INTO ${schema}.schema_version VALUES (0)`);
    }
    for (const step of steps.slice(version)) {
      for (const statement of step(schema)) await query(statement);
    }
    if (version === 0 && partitions !== undefined) await partitionTables(query, schema, partitions);
    await query(`UPDATE ${schema}.schema_version SET version = $1`, [steps.length]);
    return version === 0 ? "made" : "kept";
  }, LONG);
}

type Step = (schema: string) => readonly string[];

/**
 * Texts are TEXT, never jsonb, which would reorder keys and drop bytes; ids sort by code point on every server.
 * `base` says whose records a fork reads before its own, through `base_at`. `state` stands apart from the head: an append
 * that leaves it alone doesn't write it again.
 */
export const STEPS: readonly Step[] = [
  (schema) => [
    `CREATE TABLE ${schema}.threads (
      id text COLLATE "C" PRIMARY KEY,
      place bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
      owner text COLLATE "C" NOT NULL,
      kind text NOT NULL,
      header text NOT NULL,
      base text COLLATE "C" REFERENCES ${schema}.threads,
      base_at bigint NOT NULL DEFAULT 0,
      version bigint NOT NULL,
      messages bigint NOT NULL,
      updated_at text COLLATE "C" NOT NULL,
      head text NOT NULL,
      state text NOT NULL,
      title text,
      lease_owner text,
      lease_epoch bigint NOT NULL DEFAULT 0,
      lease_until timestamptz
    ) WITH (fillfactor = 70)`,
    `CREATE INDEX threads_recent ON ${schema}.threads (owner, updated_at DESC, place DESC)`,
    `CREATE INDEX threads_base ON ${schema}.threads (base) WHERE base IS NOT NULL`,
    `CREATE TABLE ${schema}.records (
      thread text COLLATE "C" NOT NULL,
      seq bigint NOT NULL,
      kind text NOT NULL,
      header text NOT NULL,
      body text,
      body_hash text,
      hash text NOT NULL,
      redacted boolean NOT NULL DEFAULT false,
      PRIMARY KEY (thread, seq)
    )`,
    `CREATE INDEX records_of_kind ON ${schema}.records (thread, kind, seq) WHERE kind <> 'message'`,
    `CREATE TABLE ${schema}.drafts (
      thread text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      value text NOT NULL,
      created text NOT NULL,
      PRIMARY KEY (thread, key)
    )`,
  ],
  // The search index: derived, filled behind the log (recall/catch-up.ts). A posting row is a term's places in one block.
  (schema) => [
    `CREATE TABLE ${schema}.recall_threads (
      thread text COLLATE "C" PRIMARY KEY,
      indexed bigint NOT NULL,
      ordinal int,
      session int,
      at text,
      entries bigint NOT NULL,
      length bigint NOT NULL
    ) WITH (fillfactor = 70)`,
    `CREATE TABLE ${schema}.recall_entries (
      thread text COLLATE "C" NOT NULL,
      ordinal int NOT NULL,
      seq bigint NOT NULL,
      session int NOT NULL,
      length int NOT NULL,
      asks boolean NOT NULL,
      at text COLLATE "C" NOT NULL,
      speaker text NOT NULL,
      PRIMARY KEY (thread, ordinal)
    )`,
    `CREATE INDEX recall_entries_seq ON ${schema}.recall_entries (thread, seq)`,
    `CREATE TABLE ${schema}.recall_postings (
      thread text COLLATE "C" NOT NULL,
      term text COLLATE "C" NOT NULL,
      block int NOT NULL,
      count int NOT NULL,
      list text NOT NULL,
      PRIMARY KEY (thread, term, block)
    ) WITH (fillfactor = 80)`,
    `CREATE TABLE ${schema}.recall_blocks (
      thread text COLLATE "C" NOT NULL,
      block int NOT NULL,
      newest text COLLATE "C" NOT NULL,
      PRIMARY KEY (thread, block)
    )`,
    `CREATE TABLE ${schema}.recall_stale (
      thread text COLLATE "C" NOT NULL,
      block int NOT NULL,
      PRIMARY KEY (thread, block)
    )`,
  ],
  // Memory documents, one row per user and agent; an empty agent is the user's own.
  (schema) => [
    `CREATE TABLE ${schema}.memories (
      owner text COLLATE "C" NOT NULL,
      agent text COLLATE "C" NOT NULL,
      revision bigint NOT NULL,
      document text NOT NULL,
      PRIMARY KEY (owner, agent)
    )`,
  ],
  // The first queue, whose other tables were a library's (old-queue.ts).
  (schema) => [
    `CREATE TABLE ${schema}.memory_workers (id text PRIMARY KEY, seen timestamptz NOT NULL)`,
    oldQueueFunction(schema),
  ],
  // graphile-worker's statements would be planned anew for every turn, which takes longer than running them.
  (schema) => [
    `ALTER FUNCTION ${schema}.queue_memory(text, text, float8, int) SET plan_cache_mode = force_generic_plan`,
  ],
  // Postings by block before term: what is indexed together lies together. The index is derived and fills itself anew.
  // A list stays in its row: to fetch the long ones of common words from elsewhere would be most of a search.
  (schema) => [
    `DROP TABLE ${schema}.recall_postings`,
    `CREATE TABLE ${schema}.recall_postings (
      thread text COLLATE "C" NOT NULL,
      block int NOT NULL,
      term text COLLATE "C" NOT NULL,
      count int NOT NULL,
      list text NOT NULL,
      PRIMARY KEY (thread, block, term)
    ) WITH (fillfactor = 80, toast_tuple_target = 8160)`,
    `ALTER TABLE ${schema}.recall_postings ALTER COLUMN list SET STORAGE EXTERNAL`,
    // An entry is one text, taken apart by its reader.
    `DROP TABLE ${schema}.recall_entries`,
    `CREATE TABLE ${schema}.recall_entries (
      thread text COLLATE "C" NOT NULL,
      ordinal int NOT NULL,
      seq bigint NOT NULL,
      length int NOT NULL,
      packed text NOT NULL,
      PRIMARY KEY (thread, ordinal)
    )`,
    `CREATE INDEX recall_entries_seq ON ${schema}.recall_entries (thread, seq)`,
    ...["stale", "blocks"].map((table) => `DROP TABLE ${schema}.recall_${table}`),
    `TRUNCATE ${schema}.recall_threads`,
  ],
  // What memory has still to learn from: one row for each thread, user and agent. `place` is the thread's.
  (schema) => [
    `CREATE TABLE ${schema}.memory_jobs (
      place bigint NOT NULL,
      owner text COLLATE "C" NOT NULL,
      agent text COLLATE "C" NOT NULL,
      through bigint NOT NULL,
      first timestamptz NOT NULL,
      queued timestamptz NOT NULL,
      run timestamptz NOT NULL,
      revision bigint NOT NULL DEFAULT 1,
      attempts int NOT NULL DEFAULT 0,
      max_attempts int NOT NULL,
      error text,
      holder text,
      leased timestamptz,
      until timestamptz,
      PRIMARY KEY (place, owner, agent)
    ) WITH (fillfactor = 70)`,
    carryOver(schema),
    `DROP FUNCTION ${schema}.queue_memory(text, text, float8, int)`,
    `DROP TABLE ${schema}.memory_workers`,
  ],
  // A thread is named by its user and its id: two users may have the same id. Everything else refers to its number.
  (schema) => [
    `ALTER TABLE ${schema}.threads RENAME COLUMN place TO num`,
    `ALTER TABLE ${schema}.memory_jobs RENAME COLUMN place TO num`,
    `ALTER TABLE ${schema}.threads RENAME COLUMN base TO base_id`,
    `ALTER TABLE ${schema}.threads ADD COLUMN base bigint REFERENCES ${schema}.threads (num)`,
    `UPDATE ${schema}.threads t SET base = b.num FROM ${schema}.threads b WHERE b.id = t.base_id`,
    // With the column go its index and its reference to the old key.
    `ALTER TABLE ${schema}.threads DROP COLUMN base_id`,
    `ALTER TABLE ${schema}.threads DROP CONSTRAINT threads_pkey, ADD PRIMARY KEY (owner, id)`,
    `CREATE INDEX threads_base ON ${schema}.threads (base) WHERE base IS NOT NULL`,
    `CREATE INDEX threads_created ON ${schema}.threads (owner, num)`,
    `CREATE TABLE ${schema}.records_by_num (
      thread bigint NOT NULL,
      seq bigint NOT NULL,
      kind text NOT NULL,
      header text NOT NULL,
      body text,
      body_hash text,
      hash text NOT NULL,
      redacted boolean NOT NULL DEFAULT false
    )`,
    `INSERT INTO ${schema}.records_by_num
      SELECT t.num, r.seq, r.kind, r.header, r.body, r.body_hash, r.hash, r.redacted
      FROM ${schema}.records r JOIN ${schema}.threads t ON t.id = r.thread`,
    `DROP TABLE ${schema}.records`,
    `ALTER TABLE ${schema}.records_by_num RENAME TO records`,
    `ALTER TABLE ${schema}.records ADD PRIMARY KEY (thread, seq)`,
    `CREATE INDEX records_of_kind ON ${schema}.records (thread, kind, seq) WHERE kind <> 'message'`,
    // Drafts and the index are made anew where they are needed.
    ...["drafts", "recall_threads", "recall_entries", "recall_postings"].flatMap((table) => [
      `TRUNCATE ${schema}.${table}`,
      `ALTER TABLE ${schema}.${table} ALTER COLUMN thread TYPE bigint USING 0`,
    ]),
    // Memories were kept under lower-cased users. One that can only be of a single user gets that user's own spelling.
    `UPDATE ${schema}.memories m SET owner = t.owner
      FROM (SELECT lower(owner) AS folded, min(owner) AS owner FROM ${schema}.threads
        GROUP BY lower(owner) HAVING count(DISTINCT owner) = 1) t
      WHERE m.owner = t.folded AND m.owner <> t.owner AND m.owner <> 'default'`,
  ],
  // When a lease was taken: one from the future is void. Those of before don't say so and are free.
  (schema) => [`ALTER TABLE ${schema}.threads ADD COLUMN lease_taken timestamptz`],
  // Jobs of any kind, one row for each thread, queue and key. Memory's key is the agent.
  (schema) => [
    `CREATE TABLE ${schema}.outbox (
      num bigint NOT NULL,
      queue text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      payload text NOT NULL,
      first timestamptz NOT NULL,
      queued timestamptz NOT NULL,
      run timestamptz NOT NULL,
      revision bigint NOT NULL DEFAULT 1,
      attempts int NOT NULL DEFAULT 0,
      max_attempts int NOT NULL,
      error text,
      holder text,
      leased timestamptz,
      until timestamptz,
      PRIMARY KEY (num, queue, key)
    ) WITH (fillfactor = 70)`,
    `INSERT INTO ${schema}.outbox
      SELECT num, 'memory', agent, json_build_object('throughSeq', through)::text, first, queued, run, revision,
        attempts, max_attempts, error, holder, leased, until
      FROM ${schema}.memory_jobs
      ON CONFLICT DO NOTHING`,
    `DROP TABLE ${schema}.memory_jobs`,
  ],
  // Texts that requests repeat, once for each user, and which threads name them, from which record on.
  (schema) => [
    `CREATE TABLE ${schema}.prompts (
      owner text COLLATE "C" NOT NULL,
      hash text COLLATE "C" NOT NULL,
      text text NOT NULL,
      PRIMARY KEY (owner, hash)
    )`,
    `CREATE TABLE ${schema}.prompt_uses (
      num bigint NOT NULL,
      hash text COLLATE "C" NOT NULL,
      seq bigint NOT NULL,
      PRIMARY KEY (num, hash)
    )`,
    `CREATE INDEX prompt_uses_hash ON ${schema}.prompt_uses (hash)`,
  ],
  // Keys to a gateway: what they are known by, never the keys themselves.
  (schema) => [
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
  ],
  // What conversations are known by after answers, so that one that is sent again finds its thread.
  (schema) => [
    `CREATE TABLE ${schema}.matches (
      num bigint NOT NULL,
      seq bigint NOT NULL,
      owner text COLLATE "C" NOT NULL,
      hash text COLLATE "C" NOT NULL,
      answer text COLLATE "C" NOT NULL,
      grp text COLLATE "C",
      fixed text,
      PRIMARY KEY (num, seq)
    )`,
    `CREATE INDEX matches_hash ON ${schema}.matches (owner, hash)`,
    `CREATE INDEX matches_group ON ${schema}.matches (owner, grp, num, seq) WHERE grp IS NOT NULL`,
  ],
  // Who may work with these tables: a step that only adds leaves it as it is.
  (schema) => [`ALTER TABLE ${schema}.schema_version ADD COLUMN least int NOT NULL DEFAULT 14`],
  // What instances tell each other (stores/shared.ts). Unlogged: nothing of it has to outlive the server.
  (schema) => [
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
  ],
  upkeepSettings,
  vectorTables,
  ...searchSteps,
];
