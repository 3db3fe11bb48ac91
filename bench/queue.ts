/**
 * What queuing memory's job adds to a turn: appends of one answer with and without a job, interleaved on one database, on
 * both engines. `npm run bench -- queue [--rounds N]`
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { createMemoryQueue } from "palimpsest/internal/memory";
import { createThread } from "palimpsest/internal/threads";
import { threadDeps, type Writer } from "palimpsest/session";
import { openSqlite, openStore, type Store } from "palimpsest/stores";
import { prepare } from "../packages/harness/src/thread/writer.ts";
import { type Bench, quantile } from "./bench.ts";

const queue: Bench = async (_args, options) => {
  const rounds = Number(options["rounds"] ?? 500);
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-bench-"));
  const server = await startPostgres();
  try {
    const sqlite = await measure(openSqlite({ path: join(folder, "log.db") }), rounds);
    const postgres = await measure(await openStore(server.url()), rounds);
    return { rounds, sqlite, postgres };
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
};

export default queue;

async function measure(store: Store, rounds: number) {
  const own = threadDeps(store);
  const jobs = createMemoryQueue(store, {
    process: async () => ({ kind: "skipped", reason: "trivial" }),
    starts: "by-hand",
  });
  await createThread(own, { id: "bench" });
  const taken = await store.acquireLease("bench", "bench", 3_600_000);
  if (taken.kind !== "acquired") throw new Error(`no lease: ${taken.kind}`);
  const writer: Writer = { ...own, lease: taken.lease, runId: null };
  const cost = { with: [] as number[], without: [] as number[] };
  for (let round = 0; round < rounds + WARM_UP; round++) {
    // Which comes first changes, so that neither always follows the other's flush.
    for (const name of round % 2 === 0 ? (["with", "without"] as const) : (["without", "with"] as const)) {
      const ms = await answer(writer, name === "with" ? jobs : null);
      if (round >= WARM_UP) cost[name].push(ms);
    }
  }
  await store.close();
  const [withJob, without] = [quantile(cost.with, 0.5), quantile(cost.without, 0.5)];
  return {
    withMs: withJob,
    withoutMs: without,
    addedMs: withJob - without,
    ratio: withJob / without,
    p95: { withMs: quantile(cost.with, 0.95), withoutMs: quantile(cost.without, 0.95) },
  };
}

const WARM_UP = 20;

async function answer(writer: Writer, queue: ReturnType<typeof createMemoryQueue> | null): Promise<number> {
  const { store, lease } = writer;
  const head = (await store.head(lease.threadId))!;
  const body = JSON.stringify({ role: "assistant", content: "word ".repeat(300) });
  const id = `answer-${head.version}`;
  const batch = await prepare(writer, head, [{ kind: "message", id, dialect: "openai", origin: "model", body }]);
  const start = performance.now();
  const jobs = queue === null ? [] : [queue.job({ agentName: "default", throughSeq: head.version + 1 })];
  const result = await store.append(lease.threadId, { ...batch, jobs });
  if (result.kind !== "appended") throw new Error(`not appended: ${result.kind}`);
  return performance.now() - start;
}
