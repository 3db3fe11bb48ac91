import assert from "node:assert/strict";
import { test } from "node:test";
import { openSqlite } from "../stores/sqlite.ts";
import { withWriter } from "../thread/acts.ts";
import { commit, createThread, type RecordInput, threadDeps } from "../thread/writer.ts";
import { threadCost } from "./cost.ts";
import { configSchema } from "./schema.ts";

const MILLION = 1_000_000;
const measured = (prune: number | null, compaction: number | null = null) => ({ compaction, prune, promptHash: null });
const used = (model: string, more: object = {}): RecordInput => ({
  kind: "usage",
  of: 1,
  model,
  measured: measured(null),
  input: MILLION,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  factor: null,
  ...more,
});

async function costOfRecords(records: readonly RecordInput[]) {
  const store = openSqlite({ path: ":memory:" });
  const deps = threadDeps(store);
  await createThread(deps, { id: "t" });
  const written = await withWriter(deps, "t", (writer) => commit(writer, records));
  assert.equal(written.kind, "done");
  const config = configSchema.parse({
    models: [
      { name: "main", provider: "openai-compatible", model: "m", pricing: { input: 4, output: 8, cache_read: 1 } },
    ],
  });
  const cost = await threadCost(store, "t", { config, home: "/nowhere" });
  await store.close();
  return cost;
}

test("a thread's cost is the sum of its calls, and names models without a price instead of guessing", async () => {
  const cost = await costOfRecords([used("m"), used("m", { cacheRead: MILLION, output: MILLION }), used("other")]);
  const { usage, spentOn, ...figures } = cost!;
  assert.deepEqual(figures, { spent: 13, savedByCache: 3, savedByPruning: 0, currency: "USD", unpriced: ["other"] });
  assert.equal(usage.input, 3 * MILLION);
  assert.equal(await costOfRecords([used("other")]), null);
});

test("each call after a prune saved what it left out, until the prune was taken back or compacted away", async () => {
  const prune: RecordInput = { kind: "prune", entries: [], tokensBefore: MILLION, tokensAfter: MILLION / 2 };
  const cost = await costOfRecords([
    used("m"),
    prune,
    used("m", { measured: measured(2) }),
    used("m", { measured: measured(2), cacheRead: MILLION }),
    { kind: "undo", of: 2 },
    used("m", { measured: measured(null) }),
  ]);
  assert.equal(cost?.savedByPruning, 2 + 0.5);
});
