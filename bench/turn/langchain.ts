/**
 * LangChain's and DeepAgents' agents as published, with their in-memory and SQLite savers. Their SQLite package wants a
 * native addon; it takes any connection, so it gets Node's own SQLite through the few methods it calls.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { type Loaded, loadPeers } from "../peers/load.ts";
import { ANSWER, question, said, type TurnCase } from "./case.ts";

interface Invocable {
  invoke(input: object, config: object): Promise<{ messages: unknown[] }>;
}

interface Saver {
  readonly serde: { dumpsTyped(value: unknown): Promise<[string, Uint8Array]> };
}

type CreateAgent = (options: object) => Invocable;

export interface LangChain {
  readonly [module: string]: unknown;
  readonly langchain: { createAgent: CreateAgent; summarizationMiddleware(options: object): object };
  readonly graph: { MemorySaver: new () => Saver };
  readonly sqlite: { SqliteSaver: new (connection: object) => Saver };
  readonly deep: { createDeepAgent: CreateAgent };
  readonly testing: { FakeListChatModel: new (options: { responses: string[] }) => object };
}

export function loadLangChain(): Promise<Loaded<LangChain>> {
  return loadPeers<LangChain>({
    langchain: "langchain",
    graph: "@langchain/langgraph",
    sqlite: "@langchain/langgraph-checkpoint-sqlite",
    deep: "deepagents",
    testing: "@langchain/core/utils/testing",
  });
}

/** Each is built when its turn comes: they hold whole threads in memory. */
export function langChainCases(peer: LangChain): ((messages: number) => Promise<TurnCase>)[] {
  const model = fakeModel(peer);
  const { createAgent, summarizationMiddleware } = peer.langchain;
  const summarize = () => summarizationMiddleware({ model, trigger: { messages: 100 }, keep: { messages: 50 } });
  const plain = (checkpointer: Saver) => createAgent({ model, tools: [], checkpointer });
  const short = (checkpointer: Saver) => createAgent({ model, tools: [], checkpointer, middleware: [summarize()] });
  const deep = (checkpointer: Saver) => peer.deep.createDeepAgent({ model, checkpointer });
  return [
    (messages) => inMemory("LangChain createAgent", plain, { peer, messages }),
    (messages) => onSqlite("LangChain createAgent", plain, { peer, messages }),
    (messages) =>
      onSqlite("LangChain createAgent, summarizing: older messages leave the thread", short, { peer, messages }),
    (messages) => onSqlite("DeepAgents createDeepAgent", deep, { peer, messages }),
  ];
}

function fakeModel({ testing }: LangChain): object {
  class Fake extends testing.FakeListChatModel {
    bindTools(): this {
      return this;
    }
  }
  return new Fake({ responses: [ANSWER] });
}

interface Given {
  readonly peer: LangChain;
  readonly messages: number;
}

async function inMemory(who: string, agentOn: (saver: Saver) => Invocable, { peer, messages }: Given) {
  const saver = new peer.graph.MemorySaver();
  const { serde } = saver;
  const dump = serde.dumpsTyped.bind(serde);
  let written = 0;
  serde.dumpsTyped = async (value) => {
    const dumped = await dump(value);
    written += dumped[1].length;
    return dumped;
  };
  const ask = await seeded(agentOn(saver), messages);
  return {
    who,
    store: "MemorySaver",
    messages,
    turn: ask,
    written() {
      const since = written;
      written = 0;
      return since;
    },
    async close() {},
  };
}

async function onSqlite(who: string, agentOn: (saver: Saver) => Invocable, { peer, messages }: Given) {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-peer-"));
  const path = join(folder, "checkpoints.db");
  const db = new DatabaseSync(path);
  const ask = await seeded(agentOn(new peer.sqlite.SqliteSaver(connection(db))), messages);
  // Growth of the write-ahead log is what a turn wrote; by default it would be folded in after a thousand pages.
  db.exec("PRAGMA wal_autocheckpoint = 0");
  return {
    who,
    store: "SqliteSaver",
    messages,
    turn: ask,
    written() {
      const { size } = statSync(`${path}-wal`);
      db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
      return size;
    },
    async close() {
      db.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function seeded(agent: Invocable, messages: number): Promise<() => Promise<void>> {
  const config = { configurable: { thread_id: "long" } };
  await agent.invoke({ messages: Array.from({ length: messages }, (_, index) => said(index)) }, config);
  let round = 0;
  return async () => {
    await agent.invoke({ messages: [{ role: "user", content: question(round++) }] }, config);
  };
}

/** What the saver calls of a better-sqlite3 connection; that one binds undefined as NULL. */
function connection(db: DatabaseSync): object {
  const bound = (values: readonly unknown[]) =>
    values.map((value) => (value === undefined ? null : value)) as SQLInputValue[];
  return {
    exec: (sql: string) => db.exec(sql),
    pragma: (sql: string) => db.prepare(`PRAGMA ${sql}`).all(),
    prepare(sql: string) {
      const statement = db.prepare(sql);
      return {
        run: (...values: unknown[]) => statement.run(...bound(values)),
        get: (...values: unknown[]) => statement.get(...bound(values)),
        all: (...values: unknown[]) => statement.all(...bound(values)),
      };
    },
    transaction<A extends unknown[], R>(work: (...args: A) => R) {
      return (...args: A): R => {
        db.exec("BEGIN");
        try {
          const result = work(...args);
          db.exec("COMMIT");
          return result;
        } catch (error) {
          db.exec("ROLLBACK");
          throw error;
        }
      };
    },
  };
}
