/**
 * What a long thread takes on the disk beside what was said in it: an agent's turns in a small window, with the compactions
 * they bring, on SQLite, its search index brought up to date and the write-ahead log folded into the file. The words are
 * made up, as unevenly spread as in real talk. `npm run bench -- bytes [--turns 20000] [--window 8000] [--keep FILE]`;
 * with `--store postgres` the tables and indexes of a PostgreSQL database after a `VACUUM`.
 */
import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { scriptedModel } from "@palimpsest/testing";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { createDeepAgent } from "palimpsest";
import { type FullStore, openSqlite, openStore } from "palimpsest/stores";
import { Client } from "pg";
import { catchUp } from "../packages/harness/src/recall/catch-up.ts";
import type { Bench } from "./bench.ts";
import { generator, sentence } from "./search.ts";

const bytes: Bench = async (_args, options) => {
  const turns = Number(options["turns"] ?? 20_000);
  const window = Number(options["window"] ?? 8000);
  const keep = typeof options["keep"] === "string" ? options["keep"] : null;
  const place = options["store"] === "postgres" ? await onPostgres() : onSqlite(keep);
  try {
    const text = await talk(place.store, turns, window);
    await catchUp(place.store, THREAD);
    const logged = await weigh(place.store);
    const { file, tables } = await place.weigh();
    const messages = logged.find(({ kind }) => kind === "message")!.records;
    return {
      turns,
      window,
      text,
      file,
      ratio: file / text,
      perMessage: file / messages,
      kinds: logged,
      tables: tables.map((table) => ({ ...table, ratio: table.bytes / text })),
    };
  } finally {
    await place.dispose();
  }
};

export default bytes;

const THREAD = "long";

interface Weighed {
  readonly file: number;
  readonly tables: readonly { readonly name: string; readonly bytes: number }[];
}

interface Place {
  readonly store: FullStore;
  /** After it the store may be closed. */
  weigh(): Promise<Weighed>;
  dispose(): Promise<void>;
}

function onSqlite(keep: string | null): Place {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-bench-"));
  const path = join(folder, "log.db");
  const store = openSqlite({ path });
  return {
    store,
    async weigh() {
      await store.close();
      if (keep !== null) copyFileSync(path, keep);
      return pagesOf(path);
    },
    async dispose() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A new server: nothing else is in its database. */
async function onPostgres(): Promise<Place> {
  const server = await startPostgres();
  const store = await openStore(server.url());
  return {
    store,
    async weigh() {
      const database = new Client({ connectionString: server.url() });
      await database.connect();
      try {
        await database.query("VACUUM");
        const { rows } = await database.query<{ name: string; bytes: number }>(SIZES);
        // What of it is left from rows that were written again.
        await database.query("VACUUM FULL ANALYZE");
        const dense = await database.query<{ name: string; bytes: number; rows: number }>(SIZES);
        const tables = rows.map((row) => {
          const { bytes = 0, rows: count = 0 } = dense.rows.find(({ name }) => name === row.name) ?? {};
          return { ...row, dense: bytes, rows: count };
        });
        return { file: rows.reduce((sum, row) => sum + row.bytes, 0), tables: tables.slice(0, 12) };
      } finally {
        await database.end();
      }
    },
    dispose: () => store.close().then(() => server.stop()),
  };
}

const SIZES = `SELECT c.relname AS name, c.reltuples AS rows,
    (pg_relation_size(c.oid) + coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0))::float8 AS bytes
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'i') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') ORDER BY 3 DESC`;

/** Bytes that were said. */
async function talk(store: FullStore, turns: number, window: number): Promise<number> {
  const random = generator(20);
  let said = 0;
  const say = (): string => {
    const text = sentence(random);
    said += Buffer.byteLength(text);
    return text;
  };
  // Answers are longer than questions: with these, a turn is about 300 bytes.
  const answer = (): string => (random() < 1 / 3 ? `${say()} ${say()}` : say());
  const agent = createDeepAgent({ model: scriptedModel(answer), store, window, summarizer: null });
  for (let turn = 0; turn < turns; turn += 1) {
    const { end } = await agent.generate({ threadId: THREAD, prompt: say() });
    if (end.kind !== "answered") throw new Error(`turn ${turn} ended as ${end.kind}`);
  }
  return said;
}

/** What the log holds, as it is hashed: bytes of headers, bodies and hashes by kind. */
async function weigh(store: FullStore) {
  const kinds = new Map<string, { records: number; headers: number; bodies: number }>();
  for await (const { chained } of store.records(THREAD)) {
    const sum = kinds.get(chained.kind) ?? { records: 0, headers: 0, bodies: 0 };
    kinds.set(chained.kind, sum);
    sum.records += 1;
    sum.headers += Buffer.byteLength(chained.header);
    sum.bodies += Buffer.byteLength(chained.body ?? "");
  }
  return [...kinds].map(([kind, sum]) => ({ kind, ...sum }));
}

/** The file, and what of it each table and index takes. The store's end has folded the write-ahead log into it. */
function pagesOf(path: string): Weighed {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database
    .prepare(
      `SELECT name, sum(pgsize) AS bytes, sum(payload) AS payload FROM dbstat GROUP BY name
       ORDER BY 2 DESC LIMIT 12`,
    )
    .all() as { name: string; bytes: number; payload: number }[];
  database.close();
  return { file: statSync(path).size, tables: rows.map((row) => ({ ...row, filled: row.payload / row.bytes })) };
}
