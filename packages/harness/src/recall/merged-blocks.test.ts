/** PostgreSQL's merged blocks are a copy: searches are the same without them, and nothing outlives in them what was erased. */
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { indexEntry, type Placement, place } from "@palimpsest/core/internal/recall";
import { differences } from "@palimpsest/core/internal/recall-conformance";
import { type PostgresServer, startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { say, writeThread } from "@palimpsest/testing/internal/thread-writer";
import { Client } from "pg";
import { hashOf } from "../stores/postgres/posting-buckets.ts";
import { openPostgres } from "../stores/postgres.ts";
import { postingWriter } from "../stores/posting-text.ts";
import type { FullStore } from "../stores/store.ts";
import { fork } from "../thread/acts.ts";
import { redact } from "../thread/redact.ts";
import { threadDeps } from "../thread/writer.ts";
import { startIndexing } from "./indexing.ts";
import { searchThread } from "./search.ts";
import { INDEX_QUEUE, storedIndex } from "./stored-index.ts";

let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());

const PART = 16 * 4096;
/** Where the five messages that are in the log stand, in the second part: the third is erased, and a fork leaves after the fourth. */
const LOGGED = 77_000;
const PATIENT = { answerMs: 180_000, reconnectMs: 180_000 };

test("a search is the same with blocks that are merged as without, with lists that are long, and in a fork that leaves in a part", async (t) => {
  const { store } = await longThread(t, { schema: "alike", step: 7 });
  assert.notDeepEqual(await sql(`SELECT 1 FROM ${lines("alike")} WHERE block < 0 AND list = ''`), [], "a long list");
  await assertAlike(store);
  assert.deepEqual(await mergedRows("alike"), { "-1": "copied", "-2": "copied" });
});

for (const partitions of [undefined, 3])
  test(`what is erased leaves no word in merged blocks, ${partitions ? "in a store in parts" : "whoever erases"}; they are merged again without it`, async (t) => {
    const schema = partitions ? "erased_parted" : "erased";
    const { store, erase } = await longThread(t, { schema, ...(partitions && { partitions }) });
    assert.equal((await rowsOf(schema, "secret")).length, 2);
    await erase();
    assert.deepEqual(await rowsOf(schema, "secret"), []);
    assert.deepEqual(await mergedRows(schema), { "-1": "copied" });
    assert.equal((await store.search.lineage("t"))[0]!.merged, 16);
    await assertAlike(store);
    assert.equal(await store.search.merging!.merge("t"), "merged");
    assert.deepEqual(await rowsOf(schema, "secret"), []);
    assert.deepEqual(await mergedRows(schema), { "-1": "copied", "-2": "copied" });
    await assertAlike(store);
    await store.search.clear("t");
    assert.deepEqual(await mergedRows(schema), {});
  });

test("who erases while blocks are being merged waits, and takes the word out of what was merged", async (t) => {
  const { store, erase } = await longThread(t, { schema: "merging", parts: 1 });
  const held = await hold(
    t,
    `INSERT INTO merging.recall_postings (owner, thread, block, bucket, lines) SELECT owner, thread, -2, ${hashOf("w3")}, '' FROM merging.recall_threads LIMIT 1`,
  );
  const merging = store.search.merging!.merge("t");
  await waiting(1);
  const erasing = erase();
  await waiting(2);
  await held.query("ROLLBACK");
  assert.equal(await merging, "merged");
  await erasing;
  assert.deepEqual(await rowsOf("merging", "secret"), []);
  assert.deepEqual(await mergedRows("merging"), { "-1": "copied" });
  await assertAlike(store);
});

test("blocks are merged after an erasure that is under way, and without its words", async (t) => {
  const { store, erase } = await longThread(t, { schema: "erasing", parts: 1 });
  const held = await hold(t, "SELECT 1 FROM erasing.recall_postings WHERE lines LIKE '%secret%' FOR UPDATE");
  const erasing = erase();
  await waiting(1);
  const merging = store.search.merging!.merge("t");
  await waiting(2);
  await held.query("ROLLBACK");
  await erasing;
  assert.equal(await merging, "merged");
  assert.deepEqual(await rowsOf("erasing", "secret"), []);
  assert.deepEqual(await mergedRows("erasing"), { "-1": "copied", "-2": "copied" });
  await assertAlike(store);
});

test("a connection that ends while blocks are merged leaves nothing half done, and the next one merges them", async (t) => {
  const { store } = await longThread(t, { schema: "ended", parts: 1 });
  const held = await hold(
    t,
    `INSERT INTO ended.recall_postings (owner, thread, block, bucket, lines) SELECT owner, thread, -2, ${hashOf("w3")}, '' FROM ended.recall_threads LIMIT 1`,
  );
  const merging = store.search.merging!.merge("t");
  const [first] = await waiting(1);
  assert.equal((await sql(`SELECT pg_terminate_backend(${first})`)).length, 1);
  let next = first;
  while (next === first) [next] = await waiting(1);
  assert.deepEqual(await mergedRows("ended"), { "-1": "copied" });
  await held.query("ROLLBACK");
  assert.equal(await merging, "merged");
  assert.deepEqual(await mergedRows("ended"), { "-1": "copied", "-2": "copied" });
  await assertAlike(store);
});

test("whoever searches leaves the merging to a job, which is asked for once; a thread that is deleted takes what was merged with it", async (t) => {
  const { store } = await longThread(t, { schema: "queued", parts: 0, ordinals: 4 * PART + 1 });
  for (let round = 0; round < 2; round += 1) await searchThread(store, "t", "always");
  assert.deepEqual(
    (await store.outbox.list(INDEX_QUEUE)).map(({ threadId }) => threadId),
    ["t"],
  );
  assert.deepEqual(await mergedRows("queued"), {});
  const ended = Promise.withResolvers<void>();
  const onEvent = ({ type }: { readonly type: string }) => type === "index-end" && ended.resolve();
  const indexing = await startIndexing(store, { pollMs: 20, onEvent });
  const alive = setInterval(() => {}, 1000);
  t.after(() => clearInterval(alive));
  await ended.promise;
  await indexing.stop();
  assert.deepEqual(Object.keys(await mergedRows("queued")).sort(), ["-1", "-2", "-3", "-4"]);
  assert.equal(await store.deleteThread("fork"), "deleted");
  assert.equal(await store.deleteThread("t"), "deleted");
  assert.deepEqual(await rowsOf("queued", "w3"), []);
});

interface LongThread {
  readonly schema: string;
  readonly partitions?: number;
  /** Every so many messages one is there; the rest was erased. */
  readonly step?: number;
  /** 140,000 unless told. */
  readonly ordinals?: number;
  /** So many are merged. */
  readonly parts?: number;
}

/** With a fork. */
async function longThread(
  t: TestContext,
  { schema, partitions, step = 70, ordinals = 140_000, parts = 2 }: LongThread,
) {
  const store = await openPostgres(`${server.url()}&schema=${schema}`, {
    ...PATIENT,
    ...(partitions && { partitions }),
  });
  t.after(() => store.close());
  const writer = await writeThread(store, "t");
  await say(writer, ...Array.from({ length: 5 }, (_, index) => `kept ${index}`));
  await fill(store, step, ordinals);
  await fork(writer, "t", { as: "fork", at: 4 });
  await store.releaseLease(writer.lease);
  for (let part = 0; part < parts; part += 1) assert.equal(await store.search.merging!.merge("t"), "merged");
  const erase = async () => assert.equal((await redact(threadDeps(store), "t", 3)).kind, "redacted");
  return { store, erase };
}

async function fill(store: FullStore, step: number, ordinals: number): Promise<void> {
  let newest: Placement | null = null;
  const postings = postingWriter(store.search.blockSize);
  const entries = [];
  for (let index = 0; (index - 1) * step < ordinals; index += 1) {
    const ordinal = index * step;
    const words = ["always", `w${index % 11}`, `x${index % 257}`, `y${(index * 31) % 4999}`];
    if (ordinal === LOGGED + 2 * step) words.push("secret", "x3");
    const at = new Date(Date.UTC(2020, 0, 1) + ordinal * 60_000).toISOString();
    const { terms, speaker, length, asks } = indexEntry({ text: `${words.join(" ")}.`, speaker: "user", at });
    newest = { ...place(newest, at), ordinal };
    postings.add(ordinal, terms);
    const seq = ordinal < LOGGED ? ordinal - LOGGED : (ordinal - LOGGED) / step + 1;
    const { session } = newest;
    entries.push({
      ordinal,
      seq,
      session,
      at,
      speaker,
      length,
      asks,
    });
  }
  const batch = { expect: 0, indexed: 5, newest, entries, postings: postings.rows() };
  assert.equal(await store.search.write("t", batch), "written");
}

/** As without what was merged. */
async function assertAlike(store: FullStore): Promise<void> {
  const questions = ["secret", "x3 secret", "always w3", "y7 always", "w1 w2 x5 always", "x9", "nowhere always"];
  const { merging: _, ...single } = store.search;
  for (const threadId of ["t", "fork"]) {
    const scope = { kind: "thread", threadId } as const;
    const segments = await store.search.lineage(threadId);
    const [index, reference] = [
      storedIndex(store.search, { kind: "thread", segments }),
      storedIndex(single, { kind: "thread", segments }),
    ];
    assert.deepEqual(await differences(index, reference, { scopes: [scope], questions, limit: 50 }), []);
  }
}

async function rowsOf(schema: string, term: string): Promise<object[]> {
  return sql(`SELECT block FROM ${lines(schema)} WHERE term = '${term}'`);
}

/** A row for each line of a bucket. */
function lines(schema: string): string {
  return `(SELECT p.thread, p.block, split_part(l.line, E'\\t', 1) AS term, split_part(split_part(l.line, E'\\t', 2), ' ', 1)::int AS count,
    split_part(split_part(l.line, E'\\t', 2), ' ', 2) AS list
    FROM ${schema}.recall_postings p CROSS JOIN LATERAL string_to_table(substr(p.lines, 2), E'\\n') AS l (line)) p`;
}

/** Of each merged part whether every count is that of its blocks. */
async function mergedRows(schema: string): Promise<Record<string, string>> {
  const rows = await sql(`SELECT block, CASE WHEN (SELECT merged FROM ${schema}.recall_threads
      WHERE thread = p.thread) @> ARRAY[-1 - block] AND bool_and(count = (SELECT sum(count) FROM
      (SELECT * FROM ${lines(schema)}) s WHERE s.thread = p.thread AND s.term = p.term AND s.block / 16 = -1 - p.block AND s.block >= 0))
      THEN 'copied' ELSE 'wrong' END AS state
    FROM ${lines(schema)} WHERE block < 0 AND term IN ('always', 'secret', 'w3', 'x3') GROUP BY thread, block`);
  return Object.fromEntries(rows.map((row) => [String(row["block"]), String(row["state"])]));
}

async function sql(text: string): Promise<Record<string, unknown>[]> {
  const client = new Client(server.url());
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** In a transaction that stays open. */
async function hold(t: TestContext, text: string): Promise<Client> {
  const client = new Client(server.url());
  client.on("error", () => {});
  await client.connect();
  t.after(() => client.end());
  await client.query("BEGIN");
  assert.notEqual((await client.query(text)).rowCount, 0);
  return client;
}

/** Until so many of the store's connections wait for each other; which. */
async function waiting(count: number): Promise<unknown[]> {
  const blocked = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'palimpsest'";
  for (;;) {
    const rows = await sql(blocked);
    if (rows.length >= count) return rows.map((row) => row["pid"]);
    await pause(20);
  }
}
