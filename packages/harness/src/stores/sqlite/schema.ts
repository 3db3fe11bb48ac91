/**
 * The tables, as a list of migrations. A migration that has been released is never edited: a change is a new one at the
 * end.
 */
import { StoreError } from "../store-error.ts";
import type { Connection } from "./connection.ts";

/**
 * An append rewrites whole pages, each of them in full: the leaf that takes the record, the head row, index leaves.
 * Small pages keep that in proportion to a short message; a long body fills pages of its own.
 */
export const PAGE_SIZE = 512;

export const MIGRATIONS: readonly string[] = [
  `
  -- base, base_seq: whose records this thread shares and up to where. Apart from the header, which is what people see.
  CREATE TABLE threads (
    num INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, user TEXT NOT NULL, kind TEXT NOT NULL,
    header TEXT NOT NULL, base INTEGER REFERENCES threads (num), base_seq INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX threads_base ON threads (base) WHERE base IS NOT NULL;

  CREATE TABLE heads (
    num INTEGER PRIMARY KEY, version INTEGER NOT NULL, messages INTEGER NOT NULL, updated TEXT NOT NULL, head TEXT NOT NULL
  ) STRICT;
  CREATE INDEX heads_updated ON heads (updated, num);

  -- Apart from the head row, so that an append that doesn't touch the state doesn't rewrite it.
  CREATE TABLE states (num INTEGER PRIMARY KEY, state TEXT NOT NULL, title TEXT) STRICT;

  -- Rows in the order they came, whatever their thread: an append fills the last leaf and never splits one between
  -- full neighbours, which would rewrite them all. The thread's own order is in a narrow index.
  CREATE TABLE records (
    row INTEGER PRIMARY KEY, num INTEGER NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, header TEXT NOT NULL,
    body TEXT, body_hash TEXT, hash TEXT NOT NULL, redacted INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE UNIQUE INDEX records_place ON records (num, seq);
  CREATE INDEX records_structure ON records (num, seq)
    WHERE kind IN ('compaction', 'prune', 'undo', 'evidence');

  CREATE TABLE leases (
    num INTEGER PRIMARY KEY, owner TEXT NOT NULL, epoch INTEGER NOT NULL, expires INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE drafts (
    num INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, created TEXT NOT NULL, PRIMARY KEY (num, key)
  ) STRICT;
  `,
  `
  -- The search index: derived, filled behind the log (recall/catch-up.ts). A posting row is a term's places in one block.
  CREATE TABLE recall_threads (
    num INTEGER PRIMARY KEY, indexed INTEGER NOT NULL, ordinal INTEGER, session INTEGER, at TEXT,
    entries INTEGER NOT NULL, length INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE recall_entries (
    num INTEGER NOT NULL, ordinal INTEGER NOT NULL, seq INTEGER NOT NULL, session INTEGER NOT NULL, at TEXT NOT NULL,
    speaker TEXT NOT NULL, length INTEGER NOT NULL, asks INTEGER NOT NULL, PRIMARY KEY (num, ordinal)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX recall_entries_seq ON recall_entries (num, seq);
  CREATE TABLE recall_postings (
    num INTEGER NOT NULL, term TEXT NOT NULL, block INTEGER NOT NULL, count INTEGER NOT NULL, list TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX recall_postings_place ON recall_postings (num, term, block);
  CREATE TABLE recall_blocks (
    num INTEGER NOT NULL, block INTEGER NOT NULL, newest TEXT NOT NULL, PRIMARY KEY (num, block)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE recall_stale (
    num INTEGER NOT NULL, block INTEGER NOT NULL, PRIMARY KEY (num, block)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Memory documents, one row per user and agent; an empty agent is the user's own.
  CREATE TABLE memories (
    user TEXT NOT NULL, agent TEXT NOT NULL, revision INTEGER NOT NULL, document TEXT NOT NULL, PRIMARY KEY (user, agent)
  ) STRICT;
  `,
  `
  -- What memory has still to learn from: one row for each thread, user and agent. Times are milliseconds.
  CREATE TABLE memory_jobs (
    row INTEGER PRIMARY KEY, num INTEGER NOT NULL, user TEXT NOT NULL, agent TEXT NOT NULL, through INTEGER NOT NULL,
    first INTEGER NOT NULL, queued INTEGER NOT NULL, run INTEGER NOT NULL, revision INTEGER NOT NULL DEFAULT 1,
    attempts INTEGER NOT NULL DEFAULT 0, max_attempts INTEGER NOT NULL, error TEXT,
    owner TEXT, leased INTEGER, until INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX memory_jobs_key ON memory_jobs (num, user, agent);
  `,
  `
  -- Postings by block before term: what is indexed together lies together. The index is derived and fills itself anew.
  DROP TABLE recall_postings;
  CREATE TABLE recall_postings (
    num INTEGER NOT NULL, block INTEGER NOT NULL, term TEXT NOT NULL, count INTEGER NOT NULL, list TEXT NOT NULL,
    PRIMARY KEY (num, block, term)
  ) STRICT, WITHOUT ROWID;
  -- An entry is one text, taken apart by its reader.
  DROP TABLE recall_entries;
  CREATE TABLE recall_entries (
    num INTEGER NOT NULL, ordinal INTEGER NOT NULL, seq INTEGER NOT NULL, length INTEGER NOT NULL, packed TEXT NOT NULL,
    PRIMARY KEY (num, ordinal)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX recall_entries_seq ON recall_entries (num, seq);
  DELETE FROM recall_threads; DROP TABLE recall_blocks; DROP TABLE recall_stale;
  `,
  `
  -- A thread is named by its user and its id: two users may have the same id. Numbers are never given twice.
  CREATE TABLE threads_by_user (
    num INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL,
    header TEXT NOT NULL, base INTEGER, base_seq INTEGER NOT NULL DEFAULT 0, UNIQUE (user, id)
  ) STRICT;
  INSERT INTO threads_by_user (num, user, id, kind, header, base, base_seq)
    SELECT num, user, id, kind, header, base, base_seq FROM threads ORDER BY num;
  DELETE FROM sqlite_sequence WHERE name = 'threads_by_user';
  INSERT INTO sqlite_sequence (name, seq) SELECT 'threads_by_user', seq FROM sqlite_sequence WHERE name = 'threads';
  DROP TABLE threads;
  ALTER TABLE threads_by_user RENAME TO threads;
  CREATE INDEX threads_base ON threads (base) WHERE base IS NOT NULL;
  -- Memories were kept under lower-cased users. One that can only be of a single user gets that user's own spelling.
  UPDATE memories SET user = (SELECT t.user FROM threads t WHERE lower(t.user) = memories.user)
    WHERE user <> 'default' AND user NOT IN (SELECT user FROM threads)
    AND (SELECT count(DISTINCT t.user) FROM threads t WHERE lower(t.user) = memories.user) = 1;
  `,
  `
  -- When a lease was taken: one from the future is void. Those of before don't say so and are free.
  ALTER TABLE leases ADD COLUMN taken INTEGER;
  `,
  `
  -- Jobs of any kind, one row for each thread, queue and key. Memory's key is the agent.
  CREATE TABLE outbox (
    row INTEGER PRIMARY KEY, num INTEGER NOT NULL, queue TEXT NOT NULL, key TEXT NOT NULL, payload TEXT NOT NULL,
    first INTEGER NOT NULL, queued INTEGER NOT NULL, run INTEGER NOT NULL, revision INTEGER NOT NULL DEFAULT 1,
    attempts INTEGER NOT NULL DEFAULT 0, max_attempts INTEGER NOT NULL, error TEXT,
    owner TEXT, leased INTEGER, until INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX outbox_key ON outbox (num, queue, key);
  INSERT OR IGNORE INTO outbox (num, queue, key, payload, first, queued, run, revision, attempts, max_attempts, error, owner, leased, until)
    SELECT num, 'memory', agent, json_object('throughSeq', through), first, queued, run, revision, attempts,
      max_attempts, error, owner, leased, until
    FROM memory_jobs ORDER BY row;
  DROP TABLE memory_jobs;
  `,
  `
  -- Texts that requests repeat, once for each user, and which threads name them, from which record on.
  CREATE TABLE prompts (
    user TEXT NOT NULL, hash TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (user, hash)
  ) STRICT;
  CREATE TABLE prompt_uses (
    num INTEGER NOT NULL, hash TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (num, hash)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX prompt_uses_hash ON prompt_uses (hash);
  `,
  `
  -- Keys to a gateway: what they are known by, never the keys themselves.
  CREATE TABLE keys (
    id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, prefix TEXT NOT NULL, user TEXT NOT NULL, role TEXT NOT NULL,
    created TEXT NOT NULL, expires TEXT, revoked TEXT
  ) STRICT;
  `,
  `
  -- What conversations are known by after answers, so that one that is sent again finds its thread.
  CREATE TABLE matches (
    num INTEGER NOT NULL, seq INTEGER NOT NULL, user TEXT NOT NULL, hash TEXT NOT NULL, answer TEXT NOT NULL,
    grp TEXT, fixed TEXT, PRIMARY KEY (num, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX matches_hash ON matches (user, hash);
  CREATE INDEX matches_group ON matches (user, grp, num, seq) WHERE grp IS NOT NULL;
  `,
  `
  -- Blocks of postings that are full become one row a term, by 16, under the block -1, -2, ...; so many of them are there.
  ALTER TABLE recall_threads ADD COLUMN merged INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- Records in fewer bytes (packed-record.ts): where packed is given, header, body_hash and hash may be in it. Rows of
  -- before stay as they are.
  CREATE TABLE shapes (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
  ALTER TABLE records ADD COLUMN shape INTEGER;
  ALTER TABLE records ADD COLUMN packed BLOB;
  ALTER TABLE records ADD COLUMN zipped BLOB;
  `,
  `
  -- What an embedder made of indexed messages, and for each thread which one and how far it has come.
  CREATE TABLE recall_embedders (
    num INTEGER PRIMARY KEY, model TEXT NOT NULL, dimension INTEGER NOT NULL, through INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE recall_vectors (num INTEGER NOT NULL, seq INTEGER NOT NULL, vector BLOB NOT NULL) STRICT;
  CREATE UNIQUE INDEX recall_vectors_place ON recall_vectors (num, seq);
  `,
  `
  -- Rows that programs of before can't read: kinds are letters, a usage record leans on its answer, an entry's packed text
  -- leaves out what is in its columns. Rows of before stay as they are.
  `,
  `
  -- Lists of postings that are too long to share a page with others in their own table. Merged ones are spelled as distances.
  CREATE TABLE recall_lists (id INTEGER PRIMARY KEY, list TEXT NOT NULL) STRICT;
  -- Seqs rise with ordinals: an entry is found by its seq without an index of its own.
  DROP INDEX recall_entries_seq;
  `,
  `
  -- Hashes of prompts that a thread's usage records have only the beginning of.
  CREATE TABLE usage_prompts (num INTEGER NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (num, hash)) STRICT, WITHOUT ROWID;
  `,
  `
  -- A user's threads by when they changed: one page of the list reads one page of this index, however many threads there are.
  -- From here on postings of long messages also say in which passages a term stands, which programs of before can't read.
  ALTER TABLE heads ADD COLUMN user TEXT;
  UPDATE heads SET user = (SELECT t.user FROM threads t WHERE t.num = heads.num);
  DROP INDEX heads_updated;
  CREATE INDEX heads_recent ON heads (user, updated, num);
  `,
  `
  -- Which lock beside the file its owner keeps (owners.ts), and with which epoch: programs of before write neither.
  ALTER TABLE leases ADD COLUMN holder TEXT;
  ALTER TABLE leases ADD COLUMN holder_epoch INTEGER;
  `,
  `
  -- Small threads of a user share blocks of postings, under a negative number (posting-pool.ts). The index is derived and fills itself anew.
  DELETE FROM recall_threads; DELETE FROM recall_entries; DELETE FROM recall_postings; DELETE FROM recall_lists;
  CREATE TABLE recall_users (
    user TEXT PRIMARY KEY, num INTEGER NOT NULL UNIQUE, next INTEGER NOT NULL DEFAULT 0,
    entries INTEGER NOT NULL DEFAULT 0, length INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE recall_slots (
    pool INTEGER NOT NULL, first INTEGER NOT NULL, size INTEGER NOT NULL, num INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    PRIMARY KEY (pool, first)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX recall_slots_thread ON recall_slots (num, ordinal);
  -- The pool's number, if the thread has blocks of its own.
  ALTER TABLE recall_threads ADD COLUMN large INTEGER;
  CREATE INDEX recall_threads_large ON recall_threads (large) WHERE large IS NOT NULL;
  -- Threads whose index may lack records: a search over all of a user's threads looks at these only.
  CREATE TABLE recall_late (user TEXT NOT NULL, num INTEGER NOT NULL, PRIMARY KEY (user, num)) STRICT, WITHOUT ROWID;
  INSERT INTO recall_late (user, num) SELECT user, num FROM threads;
  `,
];

/** Refuses a database that isn't ours or is newer, before anything in it is changed. */
export function readVersion(connection: Connection): number {
  const tables = connection.all("SELECT name FROM sqlite_master WHERE type = 'table'").map((row) => row["name"]);
  if (tables.length === 0) return 0;
  if (!tables.includes("migrations")) {
    throw new StoreError(
      "corrupt",
      `${connection.path} is a database of another program: choose another home, or move the file away`,
    );
  }
  const version = Number(connection.get("SELECT max(version) AS version FROM migrations")?.["version"] ?? 0);
  if (version > MIGRATIONS.length) {
    throw new StoreError(
      "newer-version",
      `${connection.path} has schema version ${version}, this program knows up to ${MIGRATIONS.length}: update palimpsest; the file was not changed`,
    );
  }
  return version;
}

/** For a file that can't be written: its tables must be of this version already. */
export function requireCurrent(connection: Connection): void {
  const version = readVersion(connection);
  if (version === MIGRATIONS.length) return;
  throw new StoreError(
    "unwritable",
    `${connection.path} has tables of the older version ${version} and can't be written to bring them up to date: copy it to where it can, and open the copy`,
  );
}

export function migrate(connection: Connection): void {
  if (readVersion(connection) === MIGRATIONS.length) return;
  connection.transaction("IMMEDIATE", () => {
    connection.exec(
      "CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, applied TEXT NOT NULL) STRICT",
    );
    // Read again: another process may have migrated while we waited for the lock.
    for (let version = readVersion(connection) + 1; version <= MIGRATIONS.length; version += 1) {
      connection.exec(MIGRATIONS[version - 1]!);
      connection.run("INSERT INTO migrations (version, applied) VALUES (?, datetime('now'))", version);
    }
  });
}
