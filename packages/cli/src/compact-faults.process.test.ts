// Bad input and faults of a compaction, through the real binary: the thread is never worse than before.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { replay } from "palimpsest/internal/threads";
import { threadDeps, verify } from "palimpsest/session";
import { openSqlite } from "palimpsest/stores";
import { BINARY, CLEAN, type Desk, desk } from "../test/binary.ts";
import { exchanges, importMessages } from "../test/conversations.ts";

const hello = { role: "user", content: "Hello." };
const system = { role: "system", content: "Be brief." };
const huge = { role: "user", content: `Read this: ${"every word of a very long paste counts ".repeat(130_000)}` };

const table = [
  { what: "one message", messages: [hello], code: 0, reason: "nothing-to-cut" },
  {
    what: "two messages",
    messages: [hello, { role: "assistant", content: "Hello." }],
    code: 0,
    reason: "nothing-to-cut",
  },
  { what: "only system messages", messages: [system, system, system], code: 0, reason: "nothing-to-cut" },
];

for (const { what, messages, code, reason } of table) {
  test(`compact on ${what} changes nothing and says so`, async (t) => {
    const at = desk(t);
    await importMessages(at, "a", messages);
    const result = await at.json("compact", "a");
    assert.deepEqual([result.code, result.document["kind"], result.document["reason"]], [code, "unchanged", reason]);
    assert.match(String(result.document["detail"]), /^nothing is old enough to hide/);
    assert.equal(typeof result.document["tokens"], "number");
    assert.equal((await at.run("verify", "a")).code, 0);
    assert.deepEqual((await at.json("replay", "a")).document["messages"], messages);
    assert.equal((await at.run("undo", "a")).code, 1);
  });
}

test("compact on a thread without messages is no-history, on an unknown one an error", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", [hello]);
  await at.run("fork", "a", "--at", "0", "--as", "empty");
  const { code, document } = await at.json("compact", "empty");
  assert.deepEqual([code, document["kind"], document["reason"]], [1, "unchanged", "no-history"]);
  for (const command of ["compact", "undo", "redo"]) {
    const unknown = await at.json(command, "nobody");
    assert.deepEqual([unknown.code, (unknown.document["error"] as { code: string }).code], [1, "missing"]);
  }
});

test("[F16] one message of 5 MB is shortened until it fits, and stays whole in the log", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", [huge]);
  const shown = await at.json("view", "a", "--window", "8000");
  assert.deepEqual([shown.code, shown.document["simulated"]], [0, true]);
  assert.ok(Number(shown.document["tokens"]) <= 7000);
  const { code, document } = await at.json("compact", "a", "--window", "8000");
  assert.deepEqual([code, document["kind"]], [0, "compacted"]);
  assert.ok(Number(document["tokensAfter"]) <= 7000);
  assert.equal((await at.run("replay", "a", "--raw")).stdout, `${JSON.stringify(huge)}\n`);
  assert.equal((await at.run("undo", "a")).code, 0);
  assert.deepEqual((await at.json("view", "a")).document["messages"], [huge]);
});

test("[F32] a window smaller than the floor is an error with the breakdown, and nothing is written", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", [{ role: "system", content: "Obey. ".repeat(500) }, ...exchanges(20)]);
  const before = (await at.run("verify", "a")).stdout;
  for (const command of ["view", "context", "compact"]) {
    const { code, document } = await at.json(command, "a", "--window", "300");
    const error = document["error"] as { code: string; floor: { window: number; total: number; systems: number } };
    assert.deepEqual([code, error.code, error.floor.window], [1, "floor-exceeds-window", 300]);
    assert.ok(error.floor.total > 300 && error.floor.systems > 300);
  }
  assert.equal((await at.run("verify", "a")).stdout, before);
});

test("[F44] a thread that another process holds is busy, and stays as it was", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", exchanges(40));
  const store = openSqlite({ path: join(at.home, "palimpsest.db") });
  const taken = await store.acquireLease("a", "somebody else", 600_000);
  assert.equal(taken.kind, "acquired");
  const { code, document } = await at.json("compact", "a");
  assert.deepEqual([code, document["kind"], document["reason"]], [1, "unchanged", "busy"]);
  assert.ok(Number(document["tokens"]) > 1000);
  assert.equal((await at.json("undo", "a")).code, 1);
  assert.equal((await at.json("compact", "a", "--dry-run")).code, 0);
  if (taken.kind === "acquired") await store.releaseLease(taken.lease);
  await store.close();
  assert.equal((await at.json("compact", "a")).document["kind"], "compacted");
});

test("killed at any point, a thread is either compacted or as it was, and its chain is whole", async (t) => {
  const at = desk(t);
  const said = exchanges(60);
  const lines = Array.from({ length: ROUNDS + 1 }, () => JSON.stringify({ messages: said })).join("\n");
  assert.equal((await at.run("import", at.file("many.jsonl", lines), "--thread", "t")).code, 0);
  const started = Date.now();
  assert.equal((await at.run("compact", `t-${ROUNDS + 1}`)).code, 0);
  const duration = Date.now() - started;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const child = start(at, "compact", `t-${round}`);
    const ended = once(child, "close");
    // From the middle on, where it has begun to work, and a little beyond the end.
    await Promise.race([wait(duration * (0.4 + (0.7 * round) / ROUNDS)), ended]);
    child.kill("SIGKILL");
    await ended;
  }
  const store = openSqlite({ path: join(at.home, "palimpsest.db") });
  t.after(() => store.close());
  const bodies = said.map((message) => JSON.stringify(message)).join("\n");
  for (let round = 1; round <= ROUNDS; round += 1) {
    const threadId = `t-${round}`;
    assert.equal((await verify(threadDeps(store), threadId)).kind, "whole");
    const kept: string[] = [];
    for await (const { body } of replay(threadDeps(store), threadId)) kept.push(body);
    assert.equal(kept.join("\n"), bodies);
    const head = (await store.head(threadId))!;
    assert.ok(head.compaction === null ? head.hiddenThrough === 0 : head.hiddenThrough > 100);
  }
});

const ROUNDS = 20;

test("Ctrl-C while the summarizer works leaves the thread as it was and exits with 130", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", exchanges(40));
  const before = (await at.run("verify", "a")).stdout;
  const asked = Promise.withResolvers<void>();
  await configureModel(t, at, () => asked.resolve());
  const child = start(at, "compact", "a");
  const ended = once(child, "close");
  await Promise.race([asked.promise, ended]);
  child.kill("SIGINT");
  assert.deepEqual(await ended, [130, null]);
  assert.equal((await at.run("verify", "a")).stdout, before);
  assert.equal((await at.json("compact", "a", "--dry-run")).document["kind"], "compacted");
});

test("a configured model writes the summary", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", exchanges(40));
  await configureModel(t, at, (_request, response) => {
    response.setHeader("content-type", "application/json");
    const content =
      "The parser in src/parse-3.ts fails at nested groups; a stack replaces recursion. Next: test it on groups.";
    const message = { role: "assistant", content };
    const usage = { prompt_tokens: 100, completion_tokens: 30, total_tokens: 130 };
    response.end(
      JSON.stringify({
        id: "1",
        object: "chat.completion",
        created: 1,
        model: "m",
        usage,
        choices: [{ index: 0, message, finish_reason: "stop" }],
      }),
    );
  });
  const { document } = await at.json("compact", "a", "--focus", "the parser");
  assert.deepEqual([document["kind"], document["rung"]], ["compacted", "summarize"]);
  assert.ok(Number(document["calls"]) > 0);
  assert.match((document["messages"] as { content: string }[])[0]!.content, /a stack replaces recursion/);
});

test("[F1] a model that answers with an error loses nothing: the extract stands in, stderr says why", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", exchanges(40));
  await configureModel(t, at, (_request, response) => {
    response.statusCode = 401;
    response.end(JSON.stringify({ error: { message: "no such key" } }));
  });
  const { code, stdout, stderr } = await at.run("compact", "a", "--json");
  assert.deepEqual([code, JSON.parse(stdout).rung], [0, "extract"]);
  assert.match(stderr, /Summarizer failed \(error\)/);
  assert.doesNotMatch(stderr, /secret-key/);
});

async function configureModel(t: TestContext, at: Desk, answer: RequestListener): Promise<void> {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const model = `name: m, provider: openai-compatible, model: m, base_url: "http://127.0.0.1:${port}/v1", api_key: secret-key`;
  const prompt = "summarization: { summary_prompt: 'Sum this up: {messages}' }";
  writeFileSync(join(at.home, "config.yaml"), `models: [{ ${model} }]\n${prompt}\n`);
}

function start(at: Desk, ...args: readonly string[]) {
  return spawn(process.execPath, ["--conditions=palimpsest-source", BINARY, ...args], {
    env: { ...CLEAN, PALIMPSEST_HOME: at.home },
    stdio: "ignore",
  });
}
