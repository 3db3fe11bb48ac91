/**
 * One PostgreSQL store with its large tables whole and one with them in parts, the same work on both, by turns: appends one by
 * one, loads, searches, and what the server has to clean up behind them; then jobs beside many that wait, with and without the
 * index that came later. `npm run bench -- partitions [--messages N] [--threads N] [--parts N] [--waiting N]`
 */

import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { say, writeThread } from "@palimpsest/testing/internal/thread-writer";
import { searchThread } from "palimpsest/session";
import { type FullStore, openStore } from "palimpsest/stores";
import { Client } from "pg";
import { catchUp } from "../packages/harness/src/recall/catch-up.ts";
import { type Bench, quantile } from "./bench.ts";

const partitions: Bench = async (_args, options) => {
  const number = (name: string, other: number) => Number(options[name] ?? other);
  const [messages, threads, parts] = [number("messages", 200_000), number("threads", 100), number("parts", 16)];
  const server = await startPostgres();
  const database = new Client({ connectionString: server.url() });
  await database.connect();
  try {
    const stores = [];
    for (const count of [0, parts]) {
      const store = await openStore(`${server.url()}&schema=parts_${count}`, count === 0 ? {} : { partitions: count });
      stores.push({ count, store, names: await fill(store, messages, threads) });
    }
    await database.query("VACUUM ANALYZE");
    const times = stores.map(() => ({ append: [] as number[], load: [] as number[], search: [] as number[] }));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [at, { store, names }] of stores.entries()) {
        const writer = names[round % names.length]!;
        const { threadId } = writer.lease;
        times[at]!.append.push(await timed(() => say(writer, `round ${round} of ${words(round)}`)));
        times[at]!.load.push(await timed(() => store.load(threadId)));
        times[at]!.search.push(await timed(() => searchThread(store, threadId, words(round * 7))));
      }
    }
    const rows = [];
    for (const [at, { count, store }] of stores.entries()) {
      const [append, load, search] = (["append", "load", "search"] as const).map((name) =>
        quantile(times[at]![name], 0.5),
      );
      rows.push({
        partitions: count,
        appendMs: append,
        loadMs: load,
        searchMs: search,
        ...(await upkeep(database, count)),
      });
      if (count === parts) await store.close();
    }
    const jobs = await jobsBeside(stores[0]!.store, database, number("waiting", 20_000));
    await stores[0]!.store.close();
    return { messages, threads, rounds: ROUNDS, rows, ...jobs };
  } finally {
    await database.end();
    await server.stop();
  }
};

export default partitions;

const ROUNDS = 300;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function fill(store: FullStore, messages: number, threads: number) {
  const writers = [];
  for (let thread = 0; thread < threads; thread += 1) {
    const writer = await writeThread(store, `t${thread}`, {}, 3_600_000);
    for (let done = 0; done < messages / threads; done += 500)
      await say(writer, ...Array.from({ length: 500 }, (_, index) => `${words(thread + done + index)} ${index}`));
    await catchUp(store, writer.lease.threadId);
    writers.push(writer);
  }
  return writers;
}

/** A few common words and a rare one. */
function words(seed: number): string {
  return Array.from({ length: 12 }, (_, n) => `w${Math.floor(((seed * 31 + n * 17) % 97) ** 2 / 20)}`).join(" ");
}

/** Since the tables were made: how many updates of threads' heads touched no index, and what is dead. */
async function upkeep(database: Client, count: number) {
  await database.query("SELECT pg_stat_force_next_flush()");
  const { rows } = await database.query(
    `SELECT sum(n_tup_hot_upd) FILTER (WHERE relname = 'threads')::float8 / nullif(sum(n_tup_upd) FILTER (WHERE relname = 'threads'), 0)::float8 AS "hotShare",
      sum(n_dead_tup)::int AS "deadRows", sum(pg_total_relation_size(relid))::float8 / 1e6 AS "megabytes"
    FROM pg_stat_user_tables WHERE schemaname = $1`,
    [`parts_${count}`],
  );
  return rows[0] as object;
}

/** What one job takes while others wait for their time. */
async function jobsBeside(store: FullStore, database: Client, waiting: number) {
  await database.query(
    `INSERT INTO parts_0.outbox (owner, thread, queue, key, payload, first, queued, run, max_attempts)
    SELECT t.owner, t.num, 'later', 'k' || n, '{}', at, at, at + 86400000, 3
    FROM generate_series(1, $1) AS n, (SELECT owner, num FROM parts_0.threads LIMIT 1) t, ${NOW_MS}`,
    [waiting],
  );
  await database.query("VACUUM ANALYZE parts_0.outbox");
  const withIndex = await jobMs(store, database);
  await database.query("DROP INDEX parts_0.outbox_held");
  return { waiting, jobMs: withIndex, jobMsWithoutIndex: await jobMs(store, database) };
}

const JOBS = 200;
const NOW_MS = "(SELECT extract(epoch FROM now())::float8 * 1000 AS at) AS clock";

async function jobMs(store: FullStore, database: Client): Promise<number> {
  await database.query(
    `INSERT INTO parts_0.outbox (owner, thread, queue, key, payload, first, queued, run, max_attempts)
    SELECT t.owner, t.num, 'now', 'j' || n, '{}', at, at, at, 3
    FROM generate_series(1, $1) AS n, (SELECT owner, num FROM parts_0.threads LIMIT 1) t, ${NOW_MS}`,
    [JOBS],
  );
  let left = JOBS;
  const started = performance.now();
  await new Promise<void>((done, failed) => {
    const options = {
      queue: "now",
      process: async () => {},
      now: Date.now,
      leaseMs: 30_000,
      pollMs: 1000,
      concurrency: 1,
      stopMs: 1000,
      onEvent: ({ type }: { readonly type: string }) => {
        if (type === "job-end") left -= 1;
        if (left === 0) worker.then((one) => one.stop()).then(done, failed);
      },
    };
    const worker = store.outbox.work(options);
    worker.catch(failed);
  });
  return (performance.now() - started) / JOBS;
}
