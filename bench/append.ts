/**
 * What an append and a load cost as a thread grows: medians of interleaved rounds on one database, a long thread against
 * a short one, and the bytes each append adds to the write-ahead log. `npm run bench -- append [--messages N] [--rounds N]`
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { commit, createThread } from "palimpsest/internal/threads";
import { appendMessages, threadDeps, type Writer } from "palimpsest/session";
import { openSqlite, type Store } from "palimpsest/stores";
import { type Bench, quantile } from "./bench.ts";
import { generator, sentence } from "./search.ts";

const TAIL = 50;

const append: Bench = async (_args, options) => {
  const messages = Number(options["messages"] ?? 100_000);
  const rounds = Number(options["rounds"] ?? 200);
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-bench-"));
  const path = join(folder, "log.db");
  const store = openSqlite({ path });
  try {
    const long = await thread(store, "long", messages, null);
    const short = await thread(store, "short", 100, null);
    const old = await thread(store, "old", messages, messages - TAIL);
    const young = await thread(store, "young", TAIL, null);
    const appends = await measureAppends(path, long, short, rounds);
    const loads = await measureLoads(store, old, young, rounds);
    return { messages, rounds, append: appends, load: loads };
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
};

export default append;

async function measureAppends(path: string, long: Writer, short: Writer, rounds: number) {
  const wal = new DatabaseSync(path);
  const cost = { long: [] as number[], short: [] as number[] };
  const bytes = { growth: [] as number[], allowedShare: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    // Every fourth message is tiny: that is where whole pages weigh most against what was said.
    const body = message(round, round % 4 === 0 ? 20 : 1500);
    for (const [name, writer] of [["long", long] as const, ["short", short] as const]) {
      wal.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
      const start = performance.now();
      await appendMessages(writer, [{ dialect: "openai", origin: "user", body }]);
      cost[name].push(performance.now() - start);
      const growth = statSync(`${path}-wal`).size;
      bytes.growth.push(growth);
      bytes.allowedShare.push(growth / (3 * body.length + 8000));
    }
  }
  wal.close();
  return {
    longMs: quantile(cost.long, 0.5),
    shortMs: quantile(cost.short, 0.5),
    ratio: quantile(cost.long, 0.5) / quantile(cost.short, 0.5),
    walBytes: {
      p50: quantile(bytes.growth, 0.5),
      /** With the search index, which one append in 128 brings up to date. */
      mean: bytes.growth.reduce((sum, growth) => sum + growth, 0) / bytes.growth.length,
      max: Math.max(...bytes.growth),
    },
    /** Growth as a share of three times the message plus 8 kB. */
    shareOfAllowed: { p50: quantile(bytes.allowedShare, 0.5), max: Math.max(...bytes.allowedShare) },
  };
}

async function measureLoads(store: Store, old: Writer, young: Writer, rounds: number) {
  const cost = { old: [] as number[], young: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, writer] of [["old", old] as const, ["young", young] as const]) {
      const start = performance.now();
      const loaded = await store.load(writer.lease.threadId);
      cost[name].push(performance.now() - start);
      if ((loaded?.records.length ?? 0) < TAIL) throw new Error(`the load of ${writer.lease.threadId} is short`);
    }
  }
  const [oldMs, youngMs] = [quantile(cost.old, 0.5), quantile(cost.young, 0.5)];
  return { oldMs, youngMs, ratio: oldMs / youngMs };
}

/** A thread of this many messages, compacted through one of them where asked. */
async function thread(store: Store, id: string, messages: number, hiddenThrough: number | null): Promise<Writer> {
  const own = threadDeps(store);
  await createThread(own, { id });
  const taken = await store.acquireLease(id, "bench", 3_600_000);
  if (taken.kind !== "acquired") throw new Error(`no lease on ${id}: ${taken.kind}`);
  const writer: Writer = { ...own, lease: taken.lease, runId: null };
  for (let done = 0; done < messages; done += 1000) {
    const batch = Array.from({ length: Math.min(1000, messages - done) }, (_, index) => message(done + index, 1500));
    await appendMessages(
      writer,
      batch.map((body) => ({ dialect: "openai", origin: "user", body })),
    );
  }
  if (hiddenThrough !== null)
    await commit(writer, [
      {
        kind: "compaction",
        covers: [1, hiddenThrough],
        folds: null,
        request: null,
        systems: [],
        summary: { format: "user", text: "a summary of what came before", digest: null, state: null },
        rung: "extract",
        reason: "bench",
        tokensBefore: 0,
        tokensAfter: 0,
        archive: null,
      },
    ]);
  return writer;
}

/** Words that are as hard to compress as real ones. */
function message(index: number, characters: number): string {
  const random = generator(index);
  let content = sentence(random);
  while (content.length < characters) content += ` ${sentence(random)}`;
  return JSON.stringify({ role: "user", content: content.slice(0, characters) });
}
