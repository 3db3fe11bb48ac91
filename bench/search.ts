/**
 * How search grows with the thread, on both stores, and what keeping the index costs beside the appends:
 * `npm run bench -- search [--sizes N,N] [--rounds N] [--store sqlite|postgres] [--at PATH|URL]`. A thread for each size,
 * filled in bulk; the same questions for all of them, which mix rare, middling and common words. The texts are made up, with
 * words as unevenly spread as in real talk. `--at` names one store that is kept and is the only one measured: what it
 * lacks is filled in, and the next time it is searched as it is.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { createThread } from "palimpsest/internal/threads";
import { searchThread, threadDeps, type Writer } from "palimpsest/session";
import { type FullStore, openStore } from "palimpsest/stores";
import { catchUp } from "../packages/harness/src/recall/catch-up.ts";
import { EAGER_MESSAGES, prepare } from "../packages/harness/src/thread/writer.ts";
import { type Bench, BenchInputError, quantile } from "./bench.ts";
import { serverCpu } from "./server-cpu.ts";

export type Engine = "sqlite" | "postgres";

const search: Bench = async (_args, options) => {
  const sizes = String(options["sizes"] ?? "10000,100000")
    .split(",")
    .map(Number);
  const rounds = Number(options["rounds"] ?? 200);
  if (options["at"] === true) throw new BenchInputError("--at: name a file or the address of a PostgreSQL database.");
  const rows: object[] = [];
  for (const name of enginesOf(options["store"], options["at"])) {
    const { store, cpu, dispose } = await open(name, options["at"]);
    try {
      for (const messages of sizes)
        rows.push({ store: name, messages, ...(await measure(store, messages, rounds, cpu)) });
    } finally {
      await dispose();
    }
  }
  return { rounds, rows };
};

export default search;

export function enginesOf(store: string | true | undefined, at: string | undefined): readonly Engine[] {
  if (at !== undefined) return [at.startsWith("postgres") ? "postgres" : "sqlite"];
  return (["sqlite", "postgres"] as const).filter((name) => store === undefined || store === name);
}

/** Milliseconds of processor that the store's server has taken so far; 0 where there is none, or none of ours. */
export type ServerCpu = () => number;

interface Opened {
  readonly store: FullStore;
  readonly cpu: ServerCpu;
  dispose(): Promise<void>;
}

export async function open(name: Engine, at: string | undefined): Promise<Opened> {
  if (at !== undefined) {
    const store = await openStore(at);
    return { store, cpu: () => 0, dispose: () => store.close() };
  }
  if (name === "postgres") {
    const server = await startPostgres();
    const store = await openStore(server.url());
    return { store, cpu: serverCpu(server), dispose: () => store.close().then(() => server.stop()) };
  }
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-bench-"));
  const store = await openStore(join(folder, "log.db"));
  return { store, cpu: () => 0, dispose: async () => store.close().then(() => rmSync(folder, { recursive: true })) };
}

async function measure(store: FullStore, messages: number, rounds: number, cpu: ServerCpu) {
  const threadId = `long-${messages}`;
  const before = (await store.head(threadId))?.messages ?? 0;
  const random = generator(7 + before);
  const writer = await thread(store, threadId);
  const started = performance.now();
  for (let done = before; done < messages; ) {
    const texts = Array.from({ length: Math.min(2_000, messages - done) }, () => sentence(random));
    await append(writer, texts);
    done += texts.length;
  }
  const filled = performance.now();
  await catchUp(store, threadId);
  const indexed = performance.now();
  const turns = await measureIndexing(store, writer, random, rounds * 2);
  await measureSearches(store, threadId, WARM_UP, () => 0);
  const searches = await measureSearches(store, threadId, questions(11, rounds), cpu);
  await store.releaseLease(writer.lease);
  const added = Math.max(0, messages - before);
  return {
    ...searches,
    ...turns,
    buildPerSecond: Math.round(added / ((indexed - filled) / 1000)),
    bulkAppendPerSecond: Math.round(added / ((filled - started) / 1000)),
  };
}

/** `cpuMs` is this process's and the server's together. */
async function measureSearches(store: FullStore, threadId: string, asked: readonly string[], cpu: ServerCpu) {
  const samples: { readonly wall: number; readonly own: number; readonly server: number }[] = [];
  let hits = 0;
  for (const question of asked) {
    const [before, start, spent] = [cpu(), performance.now(), process.cpuUsage()];
    const result = await searchThread(store, threadId, question);
    const { user, system } = process.cpuUsage(spent);
    samples.push({ wall: performance.now() - start, own: (user + system) / 1000, server: cpu() - before });
    if (result.kind === "found") hits += 1;
  }
  const spread = (values: readonly number[]) => ({ p50: quantile(values, 0.5), p95: quantile(values, 0.95) });
  return {
    searchCpuMs: spread(samples.map(({ own, server }) => own + server)),
    serverCpuMs: spread(samples.map(({ server }) => server)),
    searchMs: spread(samples.map(({ wall }) => wall)),
    found: hits / asked.length,
  };
}

/** Appends one by one, with the index brought up to date as often as the runtime does it, timed apart. */
async function measureIndexing(store: FullStore, writer: Writer, random: () => number, count: number) {
  let [appending, indexing] = [0, 0];
  const { threadId } = writer.lease;
  for (let round = 1; round <= count; round += 1) {
    const text = sentence(random);
    const start = performance.now();
    await append(writer, [text]);
    appending += performance.now() - start;
    if (round % EAGER_MESSAGES !== 0) continue;
    const due = performance.now();
    await catchUp(store, threadId);
    indexing += performance.now() - due;
  }
  await catchUp(store, threadId);
  return { appendMs: appending / count, indexMs: indexing / count, indexShare: indexing / appending };
}

export async function thread(store: FullStore, threadId: string): Promise<Writer> {
  const own = threadDeps(store);
  if ((await store.head(threadId)) === undefined) await createThread(own, { id: threadId });
  const taken = await store.acquireLease(threadId, "bench", 3_600_000);
  if (taken.kind !== "acquired") throw new Error("the bench's own thread is in use");
  return { ...own, lease: taken.lease, runId: null };
}

/** Past `commit`, which would bring the index up to date by itself. */
export async function append(writer: Writer, texts: readonly string[]): Promise<void> {
  const { threadId } = writer.lease;
  const head = (await writer.store.head(threadId))!;
  const drafts = texts.map((text, index) => {
    const role = index % 2 === 0 ? "user" : "assistant";
    const body = JSON.stringify({ role, content: text });
    return {
      kind: "message",
      id: writer.ids(),
      dialect: "openai",
      origin: role === "user" ? "user" : "model",
      body,
    } as const;
  });
  await writer.store.append(threadId, await prepare(writer, head, drafts));
}

const SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu".split(" ");

/** Word number n of an endless vocabulary. */
function word(n: number): string {
  let text = "";
  for (let rest = n + 21; rest > 0; rest = Math.floor(rest / 20)) text += SYLLABLES[rest % 20];
  return text;
}

/** A few words are everywhere and most are rare, as Zipf found. */
function zipf(random: () => number): number {
  return Math.floor(Math.exp(random() * Math.log(60_000))) - 1;
}

export function sentence(random: () => number): string {
  const words = Array.from({ length: 6 + Math.floor(random() * 30) }, () => word(zipf(random)));
  return `${words.join(" ")}.`;
}

export function questions(seed: number, count: number): string[] {
  const random = generator(seed);
  return Array.from({ length: count }, () =>
    Array.from({ length: 2 + Math.floor(random() * 7) }, () => word(zipf(random))).join(" "),
  );
}

export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Other questions, for the code and the caches of a process that runs for a while. */
const WARM_UP = questions(5, 60);
