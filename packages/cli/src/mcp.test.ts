// `palimpsest mcp` as an editor starts it: the protocol's own client on its stdin and stdout.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { BINARY, CLEAN, desk } from "../test/binary.ts";

const ARGS = ["--conditions=palimpsest-source", BINARY];

test("an editor starts mcp as a user, finds what was said, and adds a fact under its own name", async (t) => {
  const { home, run, file } = desk(t);
  const talk = file("talk.json", JSON.stringify([{ role: "user", content: "The launch code name is amber-finch." }]));
  assert.equal((await run("import", talk, "--thread", "launch", "--user", "ada")).code, 0);
  const client = new Client({ name: "zed", version: "1" }, { versionNegotiation: { mode: "legacy" } });
  const args = [...ARGS, "mcp", "--user", "ada", "--home", home];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env: CLEAN, stderr: "ignore" }));
  t.after(() => client.close());
  const found = await client.callTool({ name: "recall", arguments: { query: "launch code name" } });
  assert.match(JSON.stringify(found.content), /amber-finch/);
  const added = await client.callTool({ name: "memory_add", arguments: { content: "Ada prefers tea" } });
  assert.match(JSON.stringify(added.content), /mcp:zed/);
  await client.close();
  const shown = await run("memory", "show", "--user", "ada", "--json");
  assert.match(shown.stdout, /Ada prefers tea/);
});

test("what Claude Code's own compaction threw away is found over mcp word for word, once its session was synced", async (t) => {
  const { home, run, file } = desk(t);
  const lost = 'The deploy key for staging lives in vault path "ops/heron/17", not in the old bucket.';
  const folder = file("sessions");
  mkdirSync(folder);
  const record = (uuid: string, parentUuid: string | null, more: object) => ({
    uuid,
    parentUuid,
    sessionId: "s",
    ...more,
  });
  const said = (role: string, content: string) => ({ type: role, message: { role, content } });
  const lines = [
    record("1", null, said("user", lost)),
    record("2", "1", said("assistant", "Noted.")),
    record("3", null, {
      type: "system",
      subtype: "compact_boundary",
      logicalParentUuid: "2",
      compactMetadata: { trigger: "auto" },
    }),
    record("4", "3", { ...said("user", "This session is continued: keys were discussed."), isCompactSummary: true }),
    record("5", "4", said("user", "Where was the deploy key?")),
  ];
  writeFileSync(join(folder, "s.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const synced = await run("sync", folder, "--format", "claude-code");
  assert.equal(synced.code, 0, synced.stderr);
  const client = new Client({ name: "claude-code", version: "2" }, { versionNegotiation: { mode: "legacy" } });
  const args = [...ARGS, "mcp", "--home", home];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env: CLEAN, stderr: "ignore" }));
  t.after(() => client.close());
  const found = JSON.stringify(
    await client.callTool({ name: "recall", arguments: { query: "deploy key staging vault" } }),
  );
  const [, thread, seq] = /In thread ([\w-]+):.*?(\d+) user: The deploy key/.exec(found) ?? assert.fail(found);
  const read = await client.callTool({ name: "recall_read", arguments: { thread, from: Number(seq) } });
  assert.deepEqual(read.content, [{ type: "text", text: `${seq} user: ${lost}` }]);
});

test("mcp ends with its input, whatever nonsense stood there, and prints nothing but the protocol", async (t) => {
  const { home } = desk(t);
  const child = spawn(process.execPath, [...ARGS, "mcp", "--home", home], {
    env: CLEAN,
    stdio: ["pipe", "pipe", "ignore"],
  });
  t.after(() => child.kill("SIGKILL"));
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  child.stdin.end('nonsense\n{"jsonrpc":"2.0","id":1}\n\n[]\n');
  const [code] = await once(child, "close");
  assert.equal(code, 0);
  for (const line of printed.split("\n").filter(Boolean)) assert.equal(JSON.parse(line).jsonrpc, "2.0");
});
