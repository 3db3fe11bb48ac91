/**
 * Runs of an agent over HTTP with one, two and three gateways on one PostgreSQL, in one go: how many a second, what each
 * costs in transactions, write-ahead log and processor time. The provider answers at once. `npm run bench -- scale
 * [--seconds N] [--clients N]`
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type PostgresServer, startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { openStore } from "palimpsest/stores";
import { Client } from "pg";
import { type Bench, quantile } from "./bench.ts";

const PROCESS = fileURLToPath(new URL("../packages/gateway/test/serving-process.ts", import.meta.url));

const scale: Bench = async (_args, options) => {
  const seconds = Number(options["seconds"] ?? 10);
  const clients = Number(options["clients"] ?? 24);
  const provider = await answering();
  const server = await startPostgres();
  const directory = mkdtempSync(join(tmpdir(), "palimpsest-bench-"));
  const address = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  writeFileSync(join(directory, "config.yaml"), configOf(address, server));
  try {
    await (await openStore(server.url())).close();
    const rows = [];
    for (const processes of [1, 2, 3]) rows.push(await measured({ server, directory, processes, clients, seconds }));
    return { cores: cpus().length, load: loadavg()[0], clients, seconds, rows };
  } finally {
    await server.stop();
    provider.closeAllConnections();
    provider.close();
    rmSync(directory, { recursive: true, force: true });
  }
};

export default scale;

interface Measuring {
  readonly server: PostgresServer;
  readonly directory: string;
  readonly processes: number;
  readonly clients: number;
  readonly seconds: number;
}

async function measured({ server, directory, processes, clients, seconds }: Measuring) {
  const gateways = await Promise.all(Array.from({ length: processes }, () => startGateway(directory)));
  const database = new Client({ connectionString: server.url() });
  await database.connect();
  const times: number[] = [];
  try {
    // Each has its threads, its agent and its connections before it counts.
    await Promise.all(Array.from({ length: clients }, (_, client) => oneRun(gateways, client)));
    const [before, cpu] = [await countsOf(database), cpuOf(gateways)];
    const until = performance.now() + seconds * 1000;
    const loop = async (client: number) => {
      while (performance.now() < until) times.push(await oneRun(gateways, client));
    };
    await Promise.all(Array.from({ length: clients }, (_, client) => loop(client)));
    const after = await countsOf(database);
    const per = (value: number) => value / times.length;
    return {
      processes,
      runsPerSecond: times.length / seconds,
      medianMs: quantile(times, 0.5),
      p95Ms: quantile(times, 0.95),
      transactions: per(after.transactions - before.transactions),
      walBytes: per(after.wal - before.wal),
      gatewayCpuMs: per(cpuOf(gateways) - cpu),
      connections: after.connections,
    };
  } finally {
    await database.end();
    for (const { child } of gateways) child.kill("SIGKILL");
  }
}

interface Gateway {
  readonly child: ChildProcess;
  readonly url: string;
}

async function startGateway(directory: string): Promise<Gateway> {
  const args = ["--conditions=palimpsest-source", PROCESS, directory];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = (await once(createInterface(child.stdout!), "line")) as [string];
  return { child, url };
}

async function oneRun(gateways: readonly Gateway[], client: number): Promise<number> {
  const started = performance.now();
  const { url } = gateways[client % gateways.length]!;
  const response = await fetch(`${url}/api/threads/client-${client}/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ prompt: "And then?" }),
  });
  const answer = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${answer}`);
  return performance.now() - started;
}

async function countsOf(database: Client) {
  const { rows } = await database.query(`SELECT xact_commit + xact_rollback AS transactions, numbackends AS connections,
    pg_current_wal_insert_lsn() - '0/0' AS wal FROM pg_stat_database WHERE datname = current_database()`);
  const { transactions, connections, wal } = rows[0] as Record<string, unknown>;
  return { transactions: Number(transactions), connections: Number(connections), wal: Number(wal) };
}

/** Milliseconds of processor time so far; the kernel counts in hundredths of a second. */
function cpuOf(gateways: readonly Gateway[]): number {
  const times = gateways.map(({ child }) => {
    const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]!.split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  });
  return times.reduce((sum, one) => sum + one, 0);
}

function configOf(address: string, server: PostgresServer): string {
  return `models:
  - { name: m, provider: openai-compatible, model: m, base_url: "${address}", api_key: none, max_input_tokens: 1000000 }
title: { enabled: false }
memory: { enabled: false }
gateway: { limits: { running: null } }
store: { url: "${server.url()}" }
`;
}

async function answering() {
  const server = createServer((incoming, outgoing) => {
    incoming.resume();
    incoming.on("end", () => {
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      const send = (delta: object, finish: string | null) =>
        outgoing.write(
          `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
        );
      send({ role: "assistant", content: "Then the tide turned." }, null);
      send({}, "stop");
      outgoing.end("data: [DONE]\n\n");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}
