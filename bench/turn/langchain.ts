/**
 * LangChain's and DeepAgents' agents as published, with their SQLite saver. That package wants a
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

/** Only handed on. */
type Saver = object;

interface PeerMessage {
  getType(): string;
}

interface FakeChatModel {
  _generate(messages: readonly PeerMessage[], ...rest: unknown[]): Promise<unknown>;
}

type CreateAgent = (options: object) => Invocable;

export interface LangChain {
  readonly [module: string]: unknown;
  readonly langchain: { createAgent: CreateAgent; summarizationMiddleware(options: object): object };
  readonly sqlite: { SqliteSaver: new (connection: object) => Saver };
  readonly deep: { createDeepAgent: CreateAgent };
  readonly testing: { FakeListChatModel: new (options: { responses: string[] }) => FakeChatModel };
}

export function loadLangChain(): Promise<Loaded<LangChain>> {
  return loadPeers<LangChain>({
    langchain: "langchain",
    sqlite: "@langchain/langgraph-checkpoint-sqlite",
    deep: "deepagents",
    testing: "@langchain/core/utils/testing",
  });
}

export interface PeerSetting {
  readonly agent: "plain" | "summarizing" | "deep";
  /** LangGraph's own word: `exit` writes once, when the run has ended; `async`, its default, at every step. */
  readonly durability: "async" | "exit";
  readonly made: "once" | "anew";
}

export async function peerCase(peer: LangChain, setting: PeerSetting, messages: number): Promise<TurnCase> {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-peer-"));
  const path = join(folder, "checkpoints.db");
  const db = new DatabaseSync(path);
  const checkpointer = new peer.sqlite.SqliteSaver(connection(db));
  const told = { shown: 0 };
  const model = fakeModel(peer, told);
  const make = (): Invocable => agentOf(peer, setting, { model, checkpointer });
  const on = (thread: string) => ({ configurable: { thread_id: thread }, durability: setting.durability });
  let agent = make();
  await agent.invoke({ messages: Array.from({ length: messages }, (_, index) => said(index)) }, on("long"));
  const ask = async (thread: string, turn: number): Promise<void> => {
    if (setting.made === "anew") agent = make();
    await agent.invoke({ messages: [{ role: "user", content: question(turn) }] }, on(thread));
  };
  let [round, warmUps] = [0, 0];
  return {
    turn: () => ask("long", round++),
    warmUp: () => ask("short", warmUps++),
    written() {
      // Growth of the write-ahead log is what a turn wrote; by default it would be folded in after a thousand pages.
      db.exec("PRAGMA wal_autocheckpoint = 0");
      const { size } = statSync(`${path}-wal`);
      db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
      return size;
    },
    shown: () => told.shown,
    async close() {
      db.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function agentOf(
  { langchain, deep }: LangChain,
  { agent }: PeerSetting,
  given: { model: object; checkpointer: Saver },
) {
  const { createAgent, summarizationMiddleware } = langchain;
  const { model } = given;
  if (agent === "deep") return deep.createDeepAgent(given);
  const summarize = () => summarizationMiddleware({ model, trigger: { messages: 100 }, keep: { messages: 50 } });
  return createAgent({ ...given, tools: [], middleware: agent === "summarizing" ? [summarize()] : [] });
}

function fakeModel({ testing }: LangChain, told: { shown: number }): object {
  class Fake extends testing.FakeListChatModel {
    bindTools(): this {
      return this;
    }

    override async _generate(messages: readonly PeerMessage[], ...rest: unknown[]): Promise<unknown> {
      told.shown = messages.filter((message) => message.getType() !== "system").length;
      return super._generate(messages, ...rest);
    }
  }
  return new Fake({ responses: [ANSWER] });
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
