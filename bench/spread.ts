/**
 * How evenly users lie on the nodes of a Citus: turns of many users, then what each node and each shard holds.
 * `PALIMPSEST_CITUS_URL=postgres://... npm run bench -- spread [--users 300] [--turns 20000]`; the schema is dropped at the end.
 */

import { scriptedModel } from "@palimpsest/testing";
import { citusStore, noCitus } from "@palimpsest/testing/internal/citus";
import { createDeepAgent } from "palimpsest";
import { openStore } from "palimpsest/stores";
import { type Bench, BenchInputError } from "./bench.ts";
import { generator, sentence } from "./search.ts";

const spread: Bench = async (_args, options) => {
  if (noCitus !== null) throw new BenchInputError(noCitus);
  const [users, turns] = [Number(options["users"] ?? 300), Number(options["turns"] ?? 20_000)];
  const place = await citusStore();
  const store = await openStore(place.url);
  try {
    const random = generator(24);
    const model = scriptedModel(() => sentence(random));
    const agent = createDeepAgent({ model, store, window: 8000, summarizer: null });
    let next = 0;
    const talk = async (): Promise<void> => {
      for (let turn = next++; turn < turns; turn = next++) {
        // Whole rounds of all users: two turns of one thread never meet.
        const userId = `user-${turn % users}`;
        const { end } = await agent.generate({ threadId: "t", userId, prompt: sentence(random) });
        if (end.kind !== "answered") throw new Error(`turn ${turn} ended as ${end.kind}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, talk));
    return { users, turns, ...(await weigh(place.schema, place.sql)) };
  } finally {
    await store.close();
    await place.drop();
  }
};

export default spread;

const AT_ONCE = 8;

async function weigh(schema: string, sql: (text: string, values?: readonly unknown[]) => Promise<object[]>) {
  const ours = "split_part(table_name::text, '.', 1) = $1";
  const nodes = await sql(
    `SELECT nodename || ':' || nodeport AS node, count(*)::int AS shards, sum(shard_size)::float8 AS bytes
    FROM citus_shards WHERE ${ours} GROUP BY 1 ORDER BY 1`,
    [schema],
  );
  // The shards of all tables that hold the same users are one place.
  const places = (await sql(
    `SELECT s.shardminvalue AS place, sum(c.shard_size)::float8 AS bytes FROM citus_shards c
    JOIN pg_dist_shard s USING (shardid) WHERE ${ours} AND s.shardminvalue IS NOT NULL GROUP BY 1 ORDER BY 2`,
    [schema],
  )) as { bytes: number }[];
  const sizes = places.map(({ bytes }) => bytes);
  const mean = sizes.reduce((sum, bytes) => sum + bytes, 0) / sizes.length;
  const [smallest, median, largest] = [sizes[0]!, sizes[Math.floor(sizes.length / 2)]!, sizes.at(-1)!];
  return { nodes, places: { count: sizes.length, smallest, median, mean, largest } };
}
