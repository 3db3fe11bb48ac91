/**
 * How the list of a user's threads, and a search over all of them, grow with the number of threads, on both stores:
 * `npm run bench -- many-threads [--threads N,N] [--messages N] [--rounds N] [--store sqlite|postgres]`. Processor time, the
 * server's included; `growth` compares the last number of threads with the first. The texts are those of `search`.
 */
import { searchAll } from "palimpsest/session";
import type { FullStore } from "palimpsest/stores";
import type { Bench } from "./bench.ts";
import { quantile } from "./bench.ts";
import {
  append,
  type Engine,
  enginesOf,
  generator,
  open,
  questions,
  type ServerCpu,
  sentence,
  thread,
} from "./search.ts";

const manyThreads: Bench = async (_args, options) => {
  const counts = String(options["threads"] ?? "100,10000")
    .split(",")
    .map(Number);
  const messages = Number(options["messages"] ?? 1);
  const rounds = Number(options["rounds"] ?? 200);
  const rows = [];
  for (const name of enginesOf(options["store"], undefined))
    for (const threads of counts)
      rows.push({ store: name, threads, ...(await measure(name, threads, messages, rounds)) });
  const growth = [...Map.groupBy(rows, ({ store }) => store)].map(([store, own]) => ({
    store,
    list: own.at(-1)!.listMs / own[0]!.listMs,
    search: own.at(-1)!.searchMs / own[0]!.searchMs,
  }));
  return { messages, rounds, rows, growth };
};

export default manyThreads;

async function measure(name: Engine, threads: number, messages: number, rounds: number) {
  const { store, cpu, dispose } = await open(name, undefined);
  try {
    const random = generator(7);
    for (let count = 0; count < threads; count += 1) {
      const writer = await thread(store, `thread-${count}`);
      await append(
        writer,
        Array.from({ length: messages }, () => sentence(random)),
      );
      await store.releaseLease(writer.lease);
    }
    while ((await searchAll(store, "ba")).unindexed !== undefined);
    const asked = questions(11, rounds);
    await cpuOf(store, cpu, questions(5, 100), searchAll);
    const searchMs = await cpuOf(store, cpu, asked, searchAll);
    const listMs = await cpuOf(store, cpu, asked, () => store.threads({ limit: 50 }));
    return { listMs, searchMs };
  } finally {
    await dispose();
  }
}

async function cpuOf(
  store: FullStore,
  cpu: ServerCpu,
  asked: readonly string[],
  work: (store: FullStore, question: string) => Promise<unknown>,
): Promise<number> {
  const samples: number[] = [];
  for (const question of asked) {
    const [before, spent] = [cpu(), process.cpuUsage()];
    await work(store, question);
    const { user, system } = process.cpuUsage(spent);
    samples.push((user + system) / 1000 + cpu() - before);
  }
  return quantile(samples, 0.5);
}
