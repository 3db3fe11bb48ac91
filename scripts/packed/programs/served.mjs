// The installed command as others use it: a gateway with its page, the typed client, and the two protocols on its standard streams.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { createClient } from "palimpsest/client";

const manifest = createRequire(import.meta.url).resolve("@palimpsest/cli/package.json");
const command = join(dirname(manifest), "bin", "palimpsest.js");
const [, , home] = process.argv;

function start(...args) {
  const child = spawn(process.execPath, [command, ...args, "--home", home], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value);
  return { child, next };
}

async function asked(name, params) {
  const { child, next } = start(name);
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  const { result } = await next();
  child.stdin.end();
  const [code] = await once(child, "exit");
  return { code, result };
}

const { child, next } = start("serve", "--port", "0", "--json");
const { url } = await next();
const client = createClient({ url });
const run = await client.run("notes", { prompt: "The bridge opens in 1932." });
for await (const event of run) if (event.type === "run-end") break;
const { threads } = await client.call("GET /api/threads");
const page = await (await fetch(url)).text();
const [, script] = /<script[^>]* src="([^"]+)"/.exec(page) ?? [];
const loaded = await fetch(new URL(script ?? "missing", url));
child.kill("SIGTERM");
const [served] = await once(child, "exit");

const info = { name: "packed", version: "0" };
const mcp = await asked("mcp", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: info });
const acp = await asked("acp", { protocolVersion: 1, clientCapabilities: {} });
const told = { served, threads: threads.map(({ id }) => id), script: loaded.headers.get("content-type"), mcp, acp };
console.log(JSON.stringify(told));
