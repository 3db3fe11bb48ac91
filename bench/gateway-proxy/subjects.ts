/** What is measured, each in a process of its own: nothing in between, the bare proxy, ours in its modes, and a peer. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";

export interface Subject {
  readonly name: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Microseconds that its process has computed so far; null where the system doesn't say. */
  cpu(): number | null;
}

export interface Subjects {
  readonly subjects: readonly Subject[];
  /** What was left out, and how to have it. */
  readonly missing: readonly string[];
  stop(): Promise<void>;
}

/** A window that nothing here fills, and one that every long history does. */
const WIDE = 10_000_000;
const NARROW = 32_000;

const PORTKEY = path("../node_modules/@portkey-ai/gateway/build/start-server.js");

export async function startSubjects(): Promise<Subjects> {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-bench-"));
  const children: ChildProcess[] = [];
  const postgres = await startPostgres();
  const stop = async () => {
    await Promise.all(children.map(ended));
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  const run = (file: string, args: readonly string[]) => {
    const child = spawn(process.execPath, ["--conditions=palimpsest-source", file, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    return child;
  };
  const subject = async (name: string, child: ChildProcess): Promise<Subject> => {
    const url = new URL("/v1/chat/completions", await firstLine(child));
    return { name, url, headers: {}, cpu: () => cpuOf(child.pid!) };
  };
  const mock = await subject("direct", run(path("mock.ts"), []));
  const ours = (name: string, mode: string, { window = WIDE, store = [] as readonly string[] } = {}) => {
    const home = join(folder, name.replaceAll(/\W+/g, "-"));
    mkdirSync(home);
    writeFileSync(join(home, "config.yaml"), configFor(mock.url, mode, window));
    return subject(name, run(path("../../packages/gateway/test/serving-process.ts"), [home, ...store]));
  };
  try {
    const subjects = [
      mock,
      await subject("bare node:http", run(path("bare.ts"), [mock.url.origin])),
      await ours("off", "off"),
      await ours("observe, SQLite", "observe"),
      await ours("on, SQLite", "on"),
      await ours("on, PostgreSQL", "on", { store: [postgres.url()] }),
      await ours(`on, SQLite, window of ${NARROW}`, "on", { window: NARROW }),
    ];
    if (!existsSync(PORTKEY))
      return { subjects, missing: ["Portkey: @portkey-ai/gateway is not installed; npm ci --prefix bench"], stop };
    return { subjects: [...subjects, await portkey(mock.url, run)], missing: [], stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function configFor(upstream: URL, mode: string, window: number): string {
  return `config_version: 1
models:
  - {name: m, provider: openai-compatible, model: m, base_url: "${upstream.origin}/v1", api_key: k, max_input_tokens: ${window}}
gateway: {mode: "${mode}", limits: {running: null}}
memory: {enabled: false}
title: {enabled: false}
`;
}

/** It says in a frame of its own when it is there, so it is asked until it answers. */
async function portkey(upstream: URL, run: (file: string, args: readonly string[]) => ChildProcess): Promise<Subject> {
  const port = await freePort();
  const child = run(PORTKEY, [`--port=${port}`, "--headless"]);
  child.stdout!.resume();
  const url = new URL(`http://127.0.0.1:${port}/v1/chat/completions`);
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const answers = await fetch(url.origin).then(
      () => true,
      () => false,
    );
    if (answers) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const headers = { "x-portkey-provider": "openai", "x-portkey-custom-host": `${upstream.origin}/v1` };
  return { name: "Portkey", url, headers, cpu: () => cpuOf(child.pid!) };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function firstLine(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) return line;
  throw new Error(`a process of the bench ended (${child.exitCode}) before it said where it listens`);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** Of all its threads, as Linux counts it. */
function cpuOf(pid: number): number | null {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    const read = (task: string) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]);
    return tasks.reduce((sum, task) => sum + read(task), 0) / 1000;
  } catch {
    return null;
  }
}

function path(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
