/**
 * Our turn on threads of one age: with all of it in view, or behind the summaries of many compactions; on SQLite in a file
 * or in memory, or on PostgreSQL; with or without files; with one agent for all turns or a new one for each, which may have
 * to read the thread again.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { createDeepAgent } from "palimpsest";
import { createThread } from "palimpsest/internal/threads";
import { appendMessages, threadDeps } from "palimpsest/session";
import { openSqlite, openStore, type Store } from "palimpsest/stores";
import { Client } from "pg";
import { question, said, type TurnCase } from "./case.ts";
import { plainModel } from "./model.ts";

export interface OurSetting {
  readonly store: "sqlite" | "postgres" | "memory";
  readonly view: "whole" | "compacted";
  /** `unread`: made anew, in a process that knows nothing of the thread yet. */
  readonly agent?: "kept" | "anew" | "unread";
  readonly files?: "with" | "without";
}

export async function ourCase(setting: OurSetting, messages: number): Promise<TurnCase> {
  const { store, written, close } = await open(setting.store);
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-bench-"));
  const model = plainModel(setting.view === "whole" ? messages * MESSAGE_TOKENS : TAIL * MESSAGE_TOKENS);
  const make = () =>
    createDeepAgent({
      model,
      // What a process knows of a thread, it knows of a store object.
      store: setting.agent === "unread" ? store.forUser(store.userId) : store,
      window: WINDOW,
      summarizer: null,
      ...(setting.files === "with" ? { files: { base: folder } } : {}),
    });
  let agent = make();
  const compact = () => agent.compact(THREAD, { keep: { type: "messages", value: TAIL } });
  await fill(store, messages, { batch: setting.view === "whole" ? messages : Math.max(25, messages / 100), compact });
  let round = 0;
  const ask = async (threadId: string, turn: number): Promise<void> => {
    if (setting.agent !== undefined && setting.agent !== "kept") agent = make();
    await agent.generate({ threadId, prompt: question(turn) });
  };
  let warmUps = 0;
  return {
    turn: () => ask(THREAD, round++),
    warmUp: () => ask("short", warmUps++),
    written,
    /** What is in view stays as short as it was, however many turns are measured. */
    async prepare() {
      if (setting.view === "compacted" && round % TURNS_IN_VIEW === 0 && round > 0) await compact();
    },
    shown: () => model.shown,
    async close() {
      await agent.close();
      await close();
      rmSync(folder, { recursive: true });
    },
  };
}

const THREAD = "long";
/** What a compaction leaves in view. */
const TAIL = 20;
const TURNS_IN_VIEW = 20;
const MESSAGE_TOKENS = 90;
const WINDOW = 2_000_000;

/** Said in batches; between two of them the thread is compacted. */
async function fill(
  store: Store,
  messages: number,
  { batch, compact }: { batch: number; compact: () => Promise<{ readonly kind: string }> },
): Promise<void> {
  const own = threadDeps(store);
  await createThread(own, { id: THREAD });
  for (let done = 0; done < messages; done += batch) {
    const taken = await store.acquireLease(THREAD, "bench", 3_600_000);
    if (taken.kind !== "acquired") throw new Error(`no lease on the thread: ${taken.kind}`);
    const writer = { ...own, lease: taken.lease, runId: null };
    await appendMessages(
      writer,
      Array.from({ length: Math.min(batch, messages - done) }, (_, index) => spoken(done + index)),
    );
    await store.releaseLease(taken.lease);
    if (batch === messages) continue;
    const { kind } = await compact();
    if (kind !== "compacted") throw new Error(`not compacted after ${done + batch} messages: ${kind}`);
  }
}

function spoken(index: number): Parameters<typeof appendMessages>[1][number] {
  const { role, content } = said(index);
  const message = role === "user" ? { role, content } : { role, content: [{ type: "text", text: content }] };
  return { dialect: "ai-sdk", origin: role === "user" ? "user" : "model", body: JSON.stringify(message) };
}

interface OpenedStore extends Pick<TurnCase, "written" | "close"> {
  readonly store: Store;
}

async function open(name: OurSetting["store"]): Promise<OpenedStore> {
  if (name === "sqlite") return openFile();
  if (name === "postgres") return openServer();
  const store = openSqlite({ path: ":memory:" });
  return { store, written: () => 0, close: () => store.close() };
}

async function openFile(): Promise<OpenedStore> {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-bench-"));
  const path = join(folder, "log.db");
  const store = await openStore(path);
  const side = new DatabaseSync(path);
  return {
    store,
    written() {
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

/** Bytes are those of the server's write-ahead log; CPU is that of the agent's process alone. */
async function openServer(): Promise<OpenedStore> {
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
