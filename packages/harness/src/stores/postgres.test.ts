import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type PostgresServer, startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { say, writeThread } from "@palimpsest/testing/internal/thread-writer";
import { Client } from "pg";
import { searchThread } from "../recall/search.ts";
import { fork } from "../thread/acts.ts";
import { redact } from "../thread/redact.ts";
import { prepare, threadDeps } from "../thread/writer.ts";
import { openStore } from "./open.ts";
import { connectPostgres } from "./postgres/connection.ts";
import { userTables } from "./postgres/distribution.ts";
import { migrate, STEPS } from "./postgres/schema.ts";
import { FIRST_VERSION } from "./postgres/schema-version.ts";
import { refuseServer } from "./postgres/server-settings.ts";
import { openPostgres } from "./postgres.ts";
import type { FullStore } from "./store.ts";
import { StoreError } from "./store-error.ts";

let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());

test("several processes may open an empty database at once: the schema is made once", async () => {
  await sql("CREATE DATABASE together");
  const stores = await Promise.all(Array.from({ length: 8 }, () => openPostgres(server.url("together"))));
  assert.deepEqual(
    await Promise.all(stores.map(async (store) => (await store.upkeep.check()).ok)),
    Array(8).fill(true),
  );
  assert.equal((await sql("SELECT version FROM palimpsest.schema_version", "together")).length, 1);
  await Promise.all(stores.map((store) => store.close()));
});

test("a store takes no more connections than it was given, however much is asked of it at once", async (t) => {
  await sql("CREATE DATABASE narrow");
  await assert.rejects(openStore(server.url("narrow"), { connections: 0 }), /connections 0 must be a whole number/);
  const store = await openStore(server.url("narrow"), { connections: 2 });
  t.after(() => store.close());
  await Promise.all(Array.from({ length: 20 }, (_, index) => store.header(`t${index}`)));
  const held = await sql("SELECT 1 FROM pg_stat_activity WHERE datname = 'narrow' AND application_name = 'palimpsest'");
  assert.equal(held.length, 2);
});

test("a schema of its own is named in the URL, and two of them share nothing", async () => {
  const [one, two] = await Promise.all([openPostgres(inSchema("one")), openPostgres(inSchema("two"))]);
  await writeThread(one, "t");
  assert.equal(await two.header("t"), undefined);
  await Promise.all([one.close(), two.close()]);
});

test("an older schema is brought up to date with its data, by whichever of two processes comes first", async () => {
  const first = (schema: string) => [
    `CREATE TABLE ${schema}.things (name text)`,
    `INSERT INTO ${schema}.things VALUES ('old')`,
  ];
  const second = (schema: string) => [`ALTER TABLE ${schema}.things ADD COLUMN size int DEFAULT 3`];
  const connections = await Promise.all([1, 2].map(() => connectPostgres(inSchema("aged"))));
  await migrate(connections[0]!, [first]);
  await Promise.all(connections.map((connection) => migrate(connection, [first, second])));
  assert.deepEqual(await sql("SELECT * FROM aged.things"), [{ name: "old", size: 3 }]);
  await Promise.all(connections.map((connection) => connection.close()));
});

test("a schema of another layout is refused untouched, with the commands that convert it", async () => {
  await sql("CREATE SCHEMA former");
  await sql("CREATE TABLE former.schema_version (version int NOT NULL, least int NOT NULL DEFAULT 14)");
  await sql("INSERT INTO former.schema_version VALUES (20, 20)");
  await fails(openPostgres(inSchema("former")), "unsuitable", /version 20.*store backup.*store copy/s);
  assert.deepEqual(await sql("SELECT tablename FROM pg_tables WHERE schemaname = 'former'"), [
    { tablename: "schema_version" },
  ]);
});

test("a schema written by a newer program is refused and left alone", async () => {
  const store = await openPostgres(inSchema("future"));
  await store.close();
  await sql("UPDATE future.schema_version SET version = 999, least = 999");
  await fails(openPostgres(inSchema("future")), "newer-version", /version 999.*update palimpsest/s);
  assert.deepEqual(await sql("SELECT version FROM future.schema_version"), [{ version: 999 }]);
});

test("while programs are exchanged, one of before and one of after a step work on one database", async (t) => {
  const before = await openPostgres(inSchema("rolling"));
  t.after(() => before.close());
  const writer = await writeThread(before, "t");
  await say(writer, "one");
  const after = await connectPostgres(inSchema("rolling"));
  t.after(() => after.close());
  const adds = (schema: string) => [`ALTER TABLE ${schema}.threads ADD COLUMN color text DEFAULT 'blue'`];
  await migrate(after, [...STEPS, adds]);
  assert.equal((await say(writer, "two")).kind, "committed");
  const restarted = await openPostgres(inSchema("rolling"));
  t.after(() => restarted.close());
  assert.equal((await restarted.head("t"))!.version, 2);
  await migrate(after, [...STEPS, adds]);
  const [row] = await sql("SELECT version FROM rolling.schema_version");
  assert.deepEqual(
    row,
    { version: FIRST_VERSION + STEPS.length },
    "the older program has left the newer tables as they are",
  );
});

test("since programs of two versions may share a database, a step only adds, or says that they may not", () => {
  const raising = /^UPDATE \S+\.schema_version SET least = \d+$/;
  const adding =
    /^(CREATE (UNLOGGED )?TABLE|CREATE (UNIQUE )?INDEX|CREATE (FUNCTION|TRIGGER)|ALTER TABLE \S+ (ADD COLUMN|ALTER COLUMN \S+ SET STORAGE|SET \(autovacuum_\S+)) /;
  const steps = STEPS.slice(1).map((step) => step('"palimpsest"'));
  const sharing = steps.filter((statements) => !statements.some((statement) => raising.test(statement)));
  assert.deepEqual(
    sharing.flat().filter((statement) => !adding.test(statement)),
    [],
  );
});

test("a server that is older than the oldest supported one is refused with a sentence", async () => {
  const server = (version: string, number: number) => async () => [{ version, number, encoding: "UTF8" }] as never[];
  await assert.rejects(refuseServer(server("14.19", 140_019)), /PostgreSQL 14\.19; palimpsest works with 15 to 18/);
  await refuseServer(server("15.0", 150_000));
  await refuseServer(server("19beta1", 190_000));
});

test("every table either has its user first in its key and each index, and is distributed by it, or stays on the coordinator", async () => {
  await (await openPostgres(inSchema("keyed"))).close();
  const rows = (await sql(`SELECT c.relname AS table, bool_and(a.attname = 'owner') AS cut
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_index i ON i.indrelid = c.oid
    LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
    WHERE n.nspname = 'keyed' AND c.relkind = 'r' GROUP BY 1 ORDER BY 1`)) as { table: string; cut: boolean | null }[];
  const spread = await userTables(async (text, values) => (await sql(text, "postgres", values)) as never[], '"keyed"');
  const others = rows.filter(({ table }) => !spread.includes(table)).map(({ table }) => table);
  assert.deepEqual(others, [
    "account_running",
    "accounts",
    "instances",
    "keys",
    "run_events",
    "runs",
    "schema_version",
    "stated_windows",
  ]);
  const uncut = rows.filter(({ table, cut }) => spread.includes(table) && cut !== true).map(({ table }) => table);
  // Workers find their own jobs, of whichever user, on each node.
  assert.deepEqual(uncut, ["outbox"]);
});

test("appends within a minute change no index of their thread's row", async () => {
  const store = await openPostgres(inSchema("minutes"));
  await writeThread(store, "t");
  await store.close();
  /** How many of two changes, the second at this time, leave the indexes alone. */
  const quiet = async (at: string) => {
    const client = new Client({ connectionString: server.url() });
    await client.connect();
    try {
      await client.query("BEGIN");
      for (const time of ["2000-01-01T16:25:01.000Z", at])
        await client.query("UPDATE minutes.threads SET updated_at = $1, version = version + 1, late = true", [time]);
      const { rows } = await client.query(
        "SELECT n_tup_hot_upd::int AS quiet FROM pg_stat_xact_user_tables WHERE schemaname = 'minutes' AND relname = 'threads'",
      );
      return rows as object[];
    } finally {
      await client.end();
    }
  };
  assert.deepEqual(await quiet("2000-01-01T16:25:59.999Z"), [{ quiet: 1 }]);
  assert.deepEqual(await quiet("2000-01-01T16:26:00.000Z"), [{ quiet: 0 }]);
});

test("a store that is made in parts works as one that isn't, and neither becomes the other", async (t) => {
  const store = await openPostgres(inSchema("parted"), { partitions: 4 });
  t.after(() => store.close());
  const writer = await writeThread(store, "t");
  await say(writer, "the falcon sleeps", "the heron wakes", "all is well");
  await fork(writer, "t", { as: "fork", at: 2 });
  assert.deepEqual(await textsFound(store, "fork", "heron falcon"), ["the falcon sleeps", "the heron wakes"]);
  await store.releaseLease(writer.lease);
  assert.equal((await redact(threadDeps(store), "t", 2)).kind, "redacted");
  assert.deepEqual(await textsFound(store, "fork", "heron"), []);
  assert.equal(await store.deleteThread("t"), "deleted");
  assert.deepEqual(await textsFound(store, "fork", "falcon"), ["the falcon sleeps"]);
  const parts =
    (await sql(`SELECT count(*)::int AS parts, bool_and('autovacuum_vacuum_insert_scale_factor=0.02' = ANY (c.reloptions)) AS set
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'parted.records'::regclass`)) as object[];
  assert.deepEqual(parts, [{ parts: 4, set: true }]);
  assert.match((await store.upkeep.check()).detail, /; 1 threads; on one server, the large tables in 4 partitions$/);
  await (await openPostgres(inSchema("parted"))).close();
  await fails(openPostgres(inSchema("parted"), { partitions: 8 }), "unsuitable", /with 4 partitions.*store copy/s);
  const whole = await openPostgres(inSchema("whole"));
  assert.match((await whole.upkeep.check()).detail, /; 0 threads; on one server$/);
  await whole.close();
  await fails(openPostgres(inSchema("whole"), { partitions: 4 }), "unsuitable", /without partitions.*store copy/s);
  await fails(openPostgres(inSchema("never"), { partitions: 1 }), "unsuitable", /from 2 to 256/);
});

test("a distributed store needs Citus, takes no partitions, and isn't made of one that is there", async () => {
  const distributed = true;
  await fails(openPostgres(inSchema("spread"), { distributed }), "unsuitable", /CREATE EXTENSION citus/);
  assert.deepEqual(await sql("SELECT 1 FROM pg_namespace WHERE nspname = 'spread'"), [], "nothing was made");
  await fails(
    openPostgres(inSchema("spread"), { distributed, partitions: 4 }),
    "unsuitable",
    /leave the partitions out/,
  );
  await (await openPostgres(inSchema("undistributed"))).close();
  await fails(openPostgres(inSchema("undistributed"), { distributed }), "unsuitable", /on one server.*store copy/s);
});

test("an index that is missing, or was interrupted while it was built, is built beside other work; a good one is left alone", async (t) => {
  const store = await openPostgres(inSchema("indexed"));
  t.after(() => store.close());
  const state = () =>
    sql(`SELECT c.oid::int, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE i.indexrelid = 'indexed.outbox_held'::regclass`) as Promise<{ oid: number; indisvalid: boolean }[]>;
  const [first] = await state();
  assert.equal(first!.indisvalid, true);
  assert.deepEqual(await store.upkeep.index!(), []);
  assert.deepEqual(await state(), [first]);
  // As an interrupted build leaves it.
  await sql("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'indexed.outbox_held'::regclass");
  assert.deepEqual(await store.upkeep.index!(), ["outbox_held"]);
  const [again] = await state();
  assert.equal(again!.indisvalid, true);
  assert.notEqual(again!.oid, first!.oid);
  await sql("DROP INDEX indexed.outbox_held");
  assert.deepEqual(await store.upkeep.index!(), ["outbox_held"]);
});

test("a wrong password is a clear refusal that never shows the password", async () => {
  await sql("CREATE ROLE guarded LOGIN PASSWORD 'right'");
  const rules = "local all guarded scram-sha-256\nlocal all all trust\n";
  await writeFile(join(server.folder, "data", "pg_hba.conf"), rules);
  await sql("SELECT pg_reload_conf()");
  const url = server.url().replace("postgres@", "guarded:s3cret-hunter2@");
  const error = await fails(openPostgres(url), "unauthorized", /user "guarded".*store\.url/s);
  assert.doesNotMatch(everythingIn(error), /hunter2/);
  const broken = await fails(openPostgres("postgres://guarded:s3cret-hunter2@[bad/x"), "bad-url", /postgres:\/\/user/);
  assert.doesNotMatch(everythingIn(broken), /hunter2/);
});

test("a server that isn't there is reported at once, with where it was sought and what to do", async () => {
  const error = await fails(
    openPostgres("postgres://ada:s3cret-hunter2@127.0.0.1:1/x"),
    "unavailable",
    /127\.0\.0\.1:1\/x.*check/s,
  );
  assert.doesNotMatch(everythingIn(error), /hunter2/);
  await fails(openPostgres("postgres://postgres@localhost/x?host=/nowhere"), "unavailable", /\/nowhere/);
  await fails(openPostgres(server.url("no_such_database")), "unsuitable", /no database "no_such_database"/);
});

test("a database in another encoding is refused before anything is made in it", async () => {
  await sql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
  await fails(openPostgres(server.url("latin")), "unsuitable", /LATIN1.*UTF8/s);
  assert.deepEqual(await sql("SELECT 1 FROM pg_namespace WHERE nspname = 'palimpsest'", "latin"), []);
});

test("a read-only database refuses the append, keeps what it has and can still be read", async (t) => {
  await sql("CREATE DATABASE frozen");
  const store = await openPostgres(server.url("frozen"));
  const writer = await writeThread(store, "t");
  await say(writer, "one");
  const batch = await prepare(writer, (await store.head("t"))!, []);
  await store.close();
  await sql("ALTER DATABASE frozen SET default_transaction_read_only = on");
  const reopened = await openPostgres(server.url("frozen"));
  t.after(() => reopened.close());
  await fails(reopened.append("t", batch), "unwritable", /read-only.*primary/s);
  assert.equal((await reopened.load("t"))!.records.length, 1);
});

test("a write that a standby refused is tried again when the standby was promoted before it could be asked why", async (t) => {
  const connection = await connectPostgres(inSchema("promoted"));
  t.after(() => connection.close());
  let attempts = 0;
  await connection.transaction(async (query) => {
    attempts += 1;
    // As it is for a transaction that began on the standby: it stays read-only, while the server no longer is.
    if (attempts === 1) await query("SET TRANSACTION READ ONLY");
    await query("CREATE SCHEMA promoted");
  });
  assert.equal(attempts, 2);
});

test("a full disk refuses the append as a whole; once there is room the same append goes through", async (t) => {
  const store = await openPostgres(inSchema("crowded"));
  t.after(() => store.close());
  const writer = await writeThread(store, "t");
  await say(writer, "one");
  await sql(`CREATE FUNCTION crowded.no_room() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`);
  await sql(
    "CREATE TRIGGER full_disk BEFORE INSERT ON crowded.records FOR EACH ROW EXECUTE FUNCTION crowded.no_room()",
  );
  await fails(say(writer, "two"), "full", /no disk space left: nothing was written/);
  assert.equal((await store.head("t"))!.version, 1);
  await sql("DROP TRIGGER full_disk ON crowded.records");
  assert.equal((await say(writer, "two")).kind, "committed");
});

test("what is acknowledged is on disk, whatever the server's own default says", async (t) => {
  await sql("ALTER SYSTEM SET wal_writer_delay = '10s'");
  await sql("ALTER DATABASE postgres SET synchronous_commit = off");
  await sql("SELECT pg_reload_conf()");
  const store = await openPostgres(inSchema("durable"));
  t.after(async () => {
    await store.close();
    await sql("ALTER SYSTEM RESET wal_writer_delay");
    await sql("ALTER DATABASE postgres RESET synchronous_commit");
    await sql("SELECT pg_reload_conf()");
  });
  const writer = await writeThread(store, "t");
  const key = {
    id: "k",
    hash: "h",
    prefix: "pal_",
    user: "ada",
    role: "user",
    createdAt: "",
    expiresAt: null,
  } as const;
  const acts: Readonly<Record<string, () => Promise<unknown>>> = {
    "an append": () => say(writer, "one"),
    "a new thread": () => writeThread(store, "another"),
    "a new memory": () => store.memories.put("ada", "", { revision: 1, document: "{}" }, 0),
    "a changed memory": () => store.memories.put("ada", "", { revision: 2, document: "{}" }, 1),
    "a key": () => store.keys.put({ ...key, revokedAt: null }),
    "the end of a key": () => store.keys.revoke("k", "2026-11-15T12:00:00Z"),
  };
  for (const [name, act] of Object.entries(acts)) {
    const [before] = await sql("SELECT pg_current_wal_flush_lsn() AS at");
    await act();
    const [after] = await sql("SELECT pg_current_wal_flush_lsn() AS at");
    assert.notDeepEqual(after, before, name);
  }
});

test("a closed store says so", async () => {
  const store = await openPostgres(inSchema("closed"));
  await writeThread(store, "t");
  await store.close();
  await store.close();
  await fails(store.head("t"), "closed", /open it again/);
});

async function textsFound(store: FullStore, threadId: string, question: string): Promise<string[]> {
  const outcome = await searchThread(store, threadId, question);
  return outcome.kind === "found" ? outcome.hits.map(({ text }) => text).sort() : [];
}

function inSchema(schema: string): string {
  return `${server.url()}&schema=${schema}`;
}

async function sql(text: string, database = "postgres", values: readonly unknown[] = []): Promise<unknown[]> {
  const client = new Client({ connectionString: server.url(database) });
  await client.connect();
  try {
    return (await client.query(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

async function fails(work: Promise<unknown>, code: StoreError["code"], message: RegExp): Promise<StoreError> {
  const error = await work.then(
    () => assert.fail("it should have been refused"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof StoreError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, message);
  return error;
}

/** The error as any logger could print it, causes and own properties included. */
function everythingIn(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error) ?? "";
  const own = Object.getOwnPropertyNames(error).filter((name) => name !== "cause");
  const values = own.map((name) => String((error as unknown as Record<string, unknown>)[name]));
  return [...values, everythingIn(error.cause)].join("\n");
}
