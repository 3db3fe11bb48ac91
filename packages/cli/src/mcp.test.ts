// `palimpsest mcp` as an editor starts it: the protocol's own client on its stdin and stdout.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { BINARY, desk } from "../test/binary.ts";

const ARGS = ["--conditions=palimpsest-source", BINARY];

test("an editor starts mcp as a user, finds what was said, and adds a fact under its own name", async (t) => {
  const { home, run, file } = desk(t);
  const talk = file("talk.json", JSON.stringify([{ role: "user", content: "The launch code name is amber-finch." }]));
  assert.equal((await run("import", talk, "--thread", "launch", "--user", "ada")).code, 0);
  const client = new Client({ name: "zed", version: "1" }, { versionNegotiation: { mode: "legacy" } });
  const args = [...ARGS, "mcp", "--user", "ada", "--home", home];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }));
  t.after(() => client.close());
  const found = await client.callTool({ name: "recall", arguments: { query: "launch code name" } });
  assert.match(JSON.stringify(found.content), /amber-finch/);
  const added = await client.callTool({ name: "memory_add", arguments: { content: "Ada prefers tea" } });
  assert.match(JSON.stringify(added.content), /mcp:zed/);
  await client.close();
  const shown = await run("memory", "show", "--user", "ada", "--json");
  assert.match(shown.stdout, /Ada prefers tea/);
});

test("mcp ends with its input, whatever nonsense stood there, and prints nothing but the protocol", async (t) => {
  const { home } = desk(t);
  const child = spawn(process.execPath, [...ARGS, "mcp", "--home", home], { stdio: ["pipe", "pipe", "ignore"] });
  t.after(() => child.kill("SIGKILL"));
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  child.stdin.end('nonsense\n{"jsonrpc":"2.0","id":1}\n\n[]\n');
  const [code] = await once(child, "exit");
  assert.equal(code, 0);
  for (const line of printed.split("\n").filter(Boolean)) assert.equal(JSON.parse(line).jsonrpc, "2.0");
});
