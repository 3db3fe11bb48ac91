/**
 * What the gateway costs: a thread read, a context read and a scripted run over HTTP on both engines, beside a bare Hono
 * route that does nothing, in the same rounds; and whether the time of a 404 tells another's thread from none.
 * `npm run bench -- gateway [--rounds N] [--at-once N]`
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { createGateway } from "@palimpsest/gateway";
import { scriptedModel } from "@palimpsest/testing";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { Hono } from "hono";
import { createKey } from "palimpsest/internal/key-operations";
import { type FullStore, openSqlite, openStore } from "palimpsest/stores";
import { type Bench, quantile } from "./bench.ts";

const WARM_UP = 20;

const gateway: Bench = async (_args, options) => {
  const rounds = Number(options["rounds"] ?? 300);
  const atOnce = Number(options["at-once"] ?? 16);
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-bench-"));
  const server = await startPostgres();
  const bare = await bareServer();
  try {
    const measured = { rounds, atOnce, bare: portOf(bare) };
    const sqlite = await measure(openSqlite({ path: join(folder, "log.db") }), measured);
    const postgres = await measure((await openStore(server.url())) as FullStore, measured);
    return { rounds, atOnce, sqlite, postgres };
  } finally {
    bare.closeAllConnections();
    bare.close();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
};

export default gateway;

interface Measured {
  readonly rounds: number;
  readonly atOnce: number;
  /** The port of the route that does nothing. */
  readonly bare: number;
}

async function measure(store: FullStore, { rounds, atOnce, bare }: Measured) {
  const answers = rounds + WARM_UP + 20;
  const model = scriptedModel(Array.from({ length: answers }, (_, index) => `The answer ${index}.`));
  const config = { memory: { enabled: false }, title: { enabled: false } };
  const served = createGateway({ store, model, config });
  const key = async (userId: string) =>
    (await createKey(store.keys, { user: userId, role: "user", expiresAt: null }, new Date())).key;
  const [ada, bob] = [await key("ada"), await key("bob")];
  const { port } = await served.listen({ port: 0 });
  const agent = new Agent({ keepAlive: true });
  try {
    const run = (threadId: string) =>
      ask({ port, agent, key: ada }, `/api/threads/${threadId}/runs`, { prompt: "And then?" });
    for (let turn = 0; turn < 10; turn += 1) await run("t");
    let made = 0;
    const acts: Readonly<Record<string, () => Promise<number>>> = {
      bare: () => ask({ port: bare, agent, key: ada }, "/"),
      thread: () => ask({ port, agent, key: ada }, "/api/threads/t"),
      context: () => ask({ port, agent, key: ada }, "/api/threads/t/context"),
      run() {
        made += 1;
        return run(`run-${made}`);
      },
      nobodys: () => ask({ port, agent, key: bob }, "/api/threads/none"),
      anothers: () => ask({ port, agent, key: bob }, "/api/threads/t"),
    };
    const times = await interleaved(acts, rounds);
    const figures = Object.entries(times).map(([name, ms]) => {
      const [p50, p99] = [quantile(ms, 0.5), quantile(ms, 0.99)];
      return [name, { p50, p99, timesBare: p50 / quantile(times["bare"]!, 0.5) }];
    });
    const perSecond = {
      bare: await throughput(acts["bare"]!, { rounds, atOnce }),
      thread: await throughput(acts["thread"]!, { rounds, atOnce }),
      context: await throughput(acts["context"]!, { rounds, atOnce }),
    };
    return { ms: Object.fromEntries(figures), perSecond };
  } finally {
    agent.destroy();
    await served.close();
    await store.close();
  }
}

/** All of them in each round, in any order: what else the machine does, and what one leaves behind, falls on all alike. */
async function interleaved(acts: Readonly<Record<string, () => Promise<number>>>, rounds: number) {
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(acts).map((name) => [name, []]));
  for (let round = 0; round < rounds + WARM_UP; round += 1)
    for (const [name, act] of shuffled(Object.entries(acts))) {
      const ms = await act();
      if (round >= WARM_UP) times[name]!.push(ms);
    }
  return times;
}

function shuffled<T>(all: readonly T[]): T[] {
  return all
    .map((one) => ({ one, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

async function throughput(act: () => Promise<number>, { rounds, atOnce }: Pick<Measured, "rounds" | "atOnce">) {
  let left = rounds * 4;
  const start = performance.now();
  const work = async () => {
    while (left > 0) {
      left -= 1;
      await act();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return (rounds * 4) / ((performance.now() - start) / 1000);
}

interface Client {
  readonly port: number;
  readonly agent: Agent;
  readonly key: string;
}

/** Milliseconds until the whole answer was read. */
async function ask({ port, agent, key }: Client, path: string, body?: object): Promise<number> {
  const start = performance.now();
  const text = body === undefined ? "" : JSON.stringify(body);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "content-length": text.length };
  const outgoing = request({
    host: "127.0.0.1",
    port,
    agent,
    path,
    method: body === undefined ? "GET" : "POST",
    headers,
  });
  outgoing.end(text);
  const [response] = await once(outgoing, "response");
  for await (const _ of response) {
    // Read to its end.
  }
  if (response.statusCode >= 500) throw new Error(`${path}: ${response.statusCode}`);
  return performance.now() - start;
}

async function bareServer(): Promise<Server> {
  const app = new Hono();
  app.get("/", (c) => c.json({ ok: true }));
  const answer = getRequestListener(app.fetch);
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
