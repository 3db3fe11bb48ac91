/**
 * What one turn of an agent costs beside the model, as its thread grows: the user's message, the prompt, the answer, all
 * persisted. Medians of interleaved turns on threads of different ages in one store, and the bytes each turn adds to the
 * write-ahead log. Then the peers, each alone, with few turns (`--peer-turns 0` leaves them out).
 * `npm run bench -- turn [--turns N] [--sizes 100,1000,10000,100000] [--store sqlite|postgres] [--peer-turns 5]`
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createDeepAgent } from "palimpsest";
import { commit } from "palimpsest/internal/threads";
import { openStore, type Store } from "palimpsest/stores";
import { scriptedModel } from "palimpsest/testing";
import { appendMessages, createThread, threadDeps, type Writer } from "palimpsest/threads";
import { Client } from "pg";
import { startPostgres } from "../packages/harness/src/testing/postgres-server.ts";
import { type Bench, quantile } from "./bench.ts";
import { peerRows } from "./turn/peers.ts";

/** What a compaction has left visible of each thread when the turns begin. */
const TAIL = 20;

const STORES = ["sqlite", "postgres"] as const;

const turn: Bench = async (_args, options) => {
  const turns = Number(options["turns"] ?? 200);
  const sizes = String(options["sizes"] ?? "100,1000,10000,100000")
    .split(",")
    .map(Number);
  const stores = STORES.filter((name) => options["store"] === undefined || options["store"] === name);
  const rows: object[] = [];
  for (const name of stores) {
    const place = await open(name);
    try {
      for (const size of sizes) await fill(place.store, size);
      rows.push(...(await measure(place, sizes, turns)).map((row) => ({ who: "palimpsest", store: name, ...row })));
    } finally {
      await place.close();
    }
  }
  const peerTurns = Number(options["peer-turns"] ?? 5);
  const peers = peerTurns > 0 ? await peerRows(sizes, peerTurns) : { rows: [], missing: [] };
  return { turns, peerTurns, tail: TAIL, rows: [...rows, ...peers.rows], missing: peers.missing };
};

export default turn;

interface MeasuredStore {
  readonly store: Store;
  /** Bytes written to the log since the last call. */
  written(): Promise<number>;
  close(): Promise<void>;
}

async function open(name: (typeof STORES)[number]): Promise<MeasuredStore> {
  if (name === "sqlite") return openFile();
  const server = await startPostgres();
  const store = await openStore(server.url());
  const client = new Client({ connectionString: server.url() });
  await client.connect();
  let last = 0;
  return {
    store,
    async written() {
      const { rows } = await client.query("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint as at");
      const before = last;
      last = Number(rows[0].at);
      return last - before;
    },
    async close() {
      await client.end();
      await store.close();
      await server.stop();
    },
  };
}

async function openFile(): Promise<MeasuredStore> {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-bench-"));
  const path = join(folder, "log.db");
  const store = await openStore(path);
  const side = new DatabaseSync(path);
  return {
    store,
    async written() {
      const { size } = statSync(`${path}-wal`);
      side.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
      return size;
    },
    async close() {
      side.close();
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function measure({ store, written }: MeasuredStore, sizes: readonly number[], turns: number) {
  const model = scriptedModel(() => "The tide turns at six, and the wind goes round to the west by noon.");
  const agent = createDeepAgent({ model, store, contextWindow: 1_000_000, summarizer: null });
  const cost = sizes.map((messages) => ({ messages, ms: [] as number[], bytes: [] as number[] }));
  for (let round = -WARM_UP; round < turns; round += 1) {
    for (const { messages, ms, bytes } of cost) {
      await written();
      const start = performance.now();
      await agent.generate({ threadId: idOf(messages), prompt: `Question ${round}: when does the tide turn?` });
      const took = performance.now() - start;
      const size = await written();
      if (round < 0) continue;
      ms.push(took);
      bytes.push(size);
    }
  }
  return cost.map(({ messages, ms, bytes }) => ({
    messages,
    ms: Math.round(quantile(ms, 0.5) * 100) / 100,
    bytes: quantile(bytes, 0.5),
  }));
}

/** The first turns pay for compiling. */
const WARM_UP = 10;

function idOf(messages: number): string {
  return `thread-${messages}`;
}

/** A thread of this many messages, all but the tail behind a summary. */
async function fill(store: Store, messages: number): Promise<void> {
  const own = threadDeps(store);
  const id = idOf(messages);
  await createThread(own, { id });
  const taken = await store.acquireLease(id, "bench", 3_600_000);
  if (taken.kind !== "acquired") throw new Error(`no lease on ${id}: ${taken.kind}`);
  const writer: Writer = { ...own, lease: taken.lease, runId: null };
  for (let done = 0; done < messages; done += BATCH)
    await appendMessages(
      writer,
      Array.from({ length: Math.min(BATCH, messages - done) }, (_, index) => said(done + index)),
    );
  await commit(writer, [
    {
      kind: "compaction",
      covers: [1, messages - TAIL],
      folds: null,
      request: null,
      systems: [],
      archive: null,
      summary: { format: "pair", text: "A record of what came before.", digest: null, state: null },
      rung: "extract",
      reason: "bench",
      tokensBefore: 0,
      tokensAfter: 0,
    },
  ]);
  await store.releaseLease(taken.lease);
}

const BATCH = 1000;

function said(index: number): Parameters<typeof appendMessages>[1][number] {
  const text = `Message ${index}: the tide stands at ${index % 97} feet and the boats are in. `.repeat(5);
  const isUser = index % 2 === 0;
  const message = isUser ? { role: "user", content: text } : { role: "assistant", content: [{ type: "text", text }] };
  return { dialect: "ai-sdk", origin: isUser ? "user" : "model", body: JSON.stringify(message) };
}
