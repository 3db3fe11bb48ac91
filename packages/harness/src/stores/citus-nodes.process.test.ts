/** A node that comes to a Citus that is in use: until shards are moved to it everything works and `doctor` says so; while they are, too. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type CitusStore, citusStore, noCitus, onCitus } from "@palimpsest/testing/internal/citus";
import { freshThread, say, textsOf } from "@palimpsest/testing/internal/kit";
import { verify } from "../thread/audit.ts";
import { openPostgres } from "./postgres.ts";

test("a node is added, holds nothing, and gets its share while users write", { skip: noCitus ?? false }, async (t) => {
  const [added] = await onCitus(
    "SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE shouldhaveshards ORDER BY nodeid DESC LIMIT 1",
  );
  // What `citus_add_node` does to a store: the node may have shards and has none of ours.
  const mayHaveShards = (may: boolean) =>
    onCitus("SELECT citus_set_node_property($1, $2, 'shouldhaveshards', $3)", [added!["host"], added!["port"], may]);
  t.after(() => mayHaveShards(true));
  await mayHaveShards(false);
  const at = await citusStore();
  const store = await openPostgres(at.url);
  t.after(async () => {
    await store.close();
    await at.drop();
  });
  await mayHaveShards(true);
  const writers = await Promise.all(USERS.map((user) => freshThread(store.forUser(user))));
  const round = (text: string) => Promise.all(writers.map((writer) => say(writer, text)));
  await round("before");
  const name = `${added!["host"]}:${added!["port"]}`;
  const before = await store.upkeep.check();
  assert.equal(before.ok, true, before.detail);
  assert.match(before.detail, new RegExp(`${name} holds nothing yet: run "SELECT citus_rebalance_start\\(\\)"`));
  const inUse = await nodesInUse(at);

  let moved = false;
  const moving = at
    .sql("SELECT rebalance_table_shards($1::regclass, shard_transfer_mode => 'block_writes')", [`${at.schema}.threads`])
    .finally(() => {
      moved = true;
    });
  let rounds = 0;
  const refused: string[] = [];
  while (!moved) {
    const results = await round(`meanwhile ${rounds}`).catch((error: unknown) => {
      refused.push(String(error));
      return [];
    });
    refused.push(...results.map(({ kind }) => kind).filter((kind) => kind !== "committed"));
    rounds += 1;
    if (refused.length > 0) break;
  }
  await moving;
  assert.deepEqual(refused, []);
  await round("after");
  t.diagnostic(`${rounds} rounds of ${USERS.length} users while shards were moved`);
  assert.equal(await nodesInUse(at), inUse + 1);
  const after = await store.upkeep.check();
  assert.equal(after.ok, true, after.detail);
  assert.doesNotMatch(after.detail, /holds nothing/);
  const expected = ["before", ...Array.from({ length: rounds }, (_, index) => `meanwhile ${index}`), "after"];
  for (const writer of writers) {
    assert.deepEqual(await textsOf(writer.store, writer.lease.threadId), expected);
    assert.equal((await verify(writer, writer.lease.threadId)).kind, "whole");
  }
});

const USERS = Array.from({ length: 12 }, (_, index) => `user ${index}`);

async function nodesInUse({ schema, sql }: CitusStore): Promise<number> {
  const [row] = await sql(
    "SELECT count(DISTINCT nodeport)::int AS nodes FROM citus_shards WHERE table_name = $1::regclass",
    [`${schema}.threads`],
  );
  return Number(row!["nodes"]);
}
