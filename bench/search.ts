/**
 * Search over a long thread on both stores, and what keeping the index costs beside the appends:
 * `npm run bench -- search [--messages N] [--rounds N] [--store sqlite|postgres] [--at PATH|URL]`. The texts are made up,
 * with words as unevenly spread as in real talk; the questions mix rare, middling and common words. `--at` names a store
 * that is kept: it is filled up to the number of messages and searched again as it is the next time.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { searchThread } from "palimpsest/recall";
import { type FullStore, openStore } from "palimpsest/stores";
import { createThread, threadDeps, type Writer } from "palimpsest/threads";
import { catchUp, EAGER_MESSAGES } from "../packages/harness/src/recall/catch-up.ts";
import { startPostgres } from "../packages/harness/src/testing/postgres-server.ts";
import { prepare } from "../packages/harness/src/threads/writer.ts";
import { type Bench, quantile } from "./bench.ts";

const search: Bench = async (_args, options) => {
  const messages = Number(options["messages"] ?? 100_000);
  const rounds = Number(options["rounds"] ?? 300);
  const rows: object[] = [];
  for (const name of ["sqlite", "postgres"] as const) {
    if (options["store"] !== undefined && options["store"] !== name) continue;
    const { store, dispose } = await open(name, options["at"]);
    try {
      rows.push({ store: name, ...(await measure(store, messages, rounds)) });
    } finally {
      await dispose();
    }
  }
  return { messages, rounds, rows };
};

export default search;

interface Opened {
  readonly store: FullStore;
  dispose(): Promise<void>;
}

async function open(name: "sqlite" | "postgres", at: string | true | undefined): Promise<Opened> {
  if (typeof at === "string") {
    const store = await openStore(at);
    return { store, dispose: () => store.close() };
  }
  if (name === "postgres") {
    const server = await startPostgres();
    const store = await openStore(server.url());
    return { store, dispose: () => store.close().then(() => server.stop()) };
  }
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-bench-"));
  const store = await openStore(join(folder, "log.db"));
  return { store, dispose: async () => store.close().then(() => rmSync(folder, { recursive: true })) };
}

async function measure(store: FullStore, messages: number, rounds: number) {
  const before = (await store.head("long"))?.messages ?? 0;
  const random = generator(7 + before);
  const writer = await thread(store);
  const started = performance.now();
  for (let done = before; done < messages; ) {
    const texts = Array.from({ length: Math.min(500, messages - done) }, () => sentence(random));
    await append(writer, texts);
    done += texts.length;
  }
  const filled = performance.now();
  await catchUp(store, "long");
  const indexed = performance.now();
  const turns = await measureIndexing(store, writer, random, rounds * 2);
  const searches = await measureSearches(store, rounds);
  await store.releaseLease(writer.lease);
  const added = Math.max(0, messages - before);
  return {
    ...searches,
    ...turns,
    buildPerSecond: Math.round(added / ((indexed - filled) / 1000)),
    bulkAppendPerSecond: Math.round(added / ((filled - started) / 1000)),
  };
}

/** The processor time is this process's: with PostgreSQL the server's own comes on top. */
async function measureSearches(store: FullStore, rounds: number) {
  const random = generator(11);
  const times: number[] = [];
  let hits = 0;
  const { user, system } = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) {
    const question = ask(random);
    const start = performance.now();
    const result = await searchThread(store, "long", question);
    times.push(performance.now() - start);
    if (result.kind === "found") hits += 1;
  }
  const used = process.cpuUsage({ user, system });
  return {
    searchMs: { p50: quantile(times, 0.5), p95: quantile(times, 0.95), max: Math.max(...times) },
    searchCpuMs: (used.user + used.system) / 1000 / rounds,
    found: hits / rounds,
  };
}

/** Appends one by one, with the index brought up to date as often as the runtime does it, timed apart. */
async function measureIndexing(store: FullStore, writer: Writer, random: () => number, count: number) {
  let [appending, indexing] = [0, 0];
  for (let round = 1; round <= count; round += 1) {
    const text = sentence(random);
    const start = performance.now();
    await append(writer, [text]);
    appending += performance.now() - start;
    if (round % EAGER_MESSAGES !== 0) continue;
    const due = performance.now();
    await catchUp(store, "long");
    indexing += performance.now() - due;
  }
  await catchUp(store, "long");
  return { appendMs: appending / count, indexMs: indexing / count, indexShare: indexing / appending };
}

async function thread(store: FullStore): Promise<Writer> {
  const own = threadDeps(store);
  if ((await store.head("long")) === undefined) await createThread(own, { id: "long" });
  const taken = await store.acquireLease("long", "bench", 3_600_000);
  if (taken.kind !== "acquired") throw new Error("the bench's own thread is in use");
  return { ...own, lease: taken.lease, runId: null };
}

/** Past `commit`, which would bring the index up to date by itself. */
async function append(writer: Writer, texts: readonly string[]): Promise<void> {
  const head = (await writer.store.head("long"))!;
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
  await writer.store.append("long", await prepare(writer, head, drafts));
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

function ask(random: () => number): string {
  return Array.from({ length: 2 + Math.floor(random() * 7) }, () => word(zipf(random))).join(" ");
}

export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
