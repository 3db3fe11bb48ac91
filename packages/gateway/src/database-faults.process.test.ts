// A database that goes back to an old backup, is slow, or has no connection left, under gateways that know better.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { startPostgresProxy } from "@palimpsest/testing/internal/postgres-faults";
import { type PostgresServer, startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { threadDeps, verify } from "palimpsest/session";
import type { Store } from "palimpsest/stores";
import { Client } from "pg";
import { chaosProvider } from "../test/chaos-provider.ts";
import { jsonOf } from "../test/events.ts";
import { type Running, running } from "../test/running.ts";

const BOOKS = ["ba7c3e91d0f42", "bc4d17e6a2b98", "be90f3a5c7d16"] as const;

test("a database restored from an old backup under a running gateway: what it remembers of threads and memory gives way to the log, and everything goes on", async (t) => {
  const server = await startPostgres();
  const at = await gateway(t, server.url());
  t.after(() => server.stop());
  const said: object[] = [];
  const turn = async (book: string) => {
    assert.equal((await run(at, `I own the book ${book}.`))["end"], "answered");
    said.push({ role: "user", content: `Again, I own the book ${book}.` });
    const { status, text, match } = await converse(at, said);
    assert.equal(status, 200);
    said.push({ role: "assistant", content: text });
    return match;
  };
  await turn(BOOKS[0]);
  await learned(at.home.store);
  await server.halt();
  copy(server, "data", "backup");
  await server.start();
  assert.equal(await turn(BOOKS[1]), "extended");
  await learned(at.home.store);
  assert.match(await factsOf(at), new RegExp(BOOKS[1]));
  await server.halt();
  rmSync(join(server.folder, "data"), { recursive: true });
  copy(server, "backup", "data");
  await server.start();
  assert.equal(await turn(BOOKS[2]), "extended", "what the log lacks of it comes with the request");
  await learned(at.home.store);
  assert.match(await factsOf(at), new RegExp(BOOKS[2]), "what was said where memory had read on before is learned");
  const texts = await messagesOf(at.home.store);
  assert.deepEqual(
    texts
      .get("t")!
      .filter((text) => text.includes("book"))
      .map((text) => BOOKS.find((book) => text.includes(book))),
    [BOOKS[0], BOOKS[2]],
  );
  const [conversation] = [...texts].filter(([id]) => id !== "t");
  assert.deepEqual([texts.size, conversation![1].length], [2, said.length]);
});

test("a slow database is waited for, by runs and by compatible requests, and nothing is written twice or in another thread", async (t) => {
  const server = await startPostgres();
  const proxy = await startPostgresProxy(server);
  const at = await gateway(t, proxy.url());
  t.after(async () => {
    await proxy.stop();
    await server.stop();
  });
  const said: object[] = [{ role: "user", content: "One." }];
  const first = await converse(at, said);
  assert.equal(first.match, "new");
  said.push({ role: "assistant", content: first.text }, { role: "user", content: "Two." });
  proxy.slow(400);
  const waited = await converse(at, said);
  assert.deepEqual([waited.status, waited.match], [200, "extended"]);
  assert.equal((await run(at, "Are you there?"))["end"], "answered");
  proxy.slow(0);
  said.push({ role: "assistant", content: waited.text }, { role: "user", content: "Three." });
  const again = await converse(at, said);
  assert.deepEqual([again.status, again.match, again.threadId], [200, "extended", first.threadId]);
  const texts = await messagesOf(at.home.store);
  assert.deepEqual([texts.get(first.threadId!)!.length, texts.get("t")!.length], [6, 2]);
});

test("no connection is left: requests wait, then get 503 with a time to wait and write nothing; with connections again all goes on", async (t) => {
  const server = await startPostgres();
  await sql(server, "CREATE ROLE app LOGIN", "GRANT CREATE ON DATABASE postgres TO app");
  // What the server says to a role that may have no more is what it says when it has none left for anybody.
  const free = () => sql(server, "ALTER ROLE app CONNECTION LIMIT -1");
  t.after(free);
  const at = await gateway(t, server.url().replace("postgres@", "app@"));
  t.after(() => server.stop());
  assert.equal((await run(at, "One."))["end"], "answered");
  await sql(
    server,
    "ALTER ROLE app CONNECTION LIMIT 0",
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'",
  );
  const refused = await post(at, "/api/threads/t/runs", { prompt: "Two." });
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [503, "5"]);
  assert.equal(((await jsonOf(refused))["error"] as { code: string }).code, "unavailable");
  const waiting = run(at, "Three.");
  await free();
  assert.equal((await waiting)["end"], "answered", "who still waits is answered");
  const texts = (await messagesOf(at.home.store)).get("t")!;
  assert.deepEqual(
    texts.flatMap((text) => /One|Two|Three/.exec(text)?.[0] ?? []),
    ["One", "Three"],
  );
});

async function gateway(t: TestContext, store: string): Promise<Running> {
  const provider = await chaosProvider();
  t.after(() => provider.stop());
  const config = `models:
  - { name: m, provider: openai-compatible, model: m, base_url: "${provider.url}", api_key: none, max_input_tokens: 100000 }
title: { enabled: false }
memory: { enabled: true, debounce_seconds: 0 }
store: { url: "${store}" }
`;
  return running(t, { config });
}

function post({ url }: Running, path: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
}

async function run(at: Running, prompt: string): Promise<Readonly<Record<string, unknown>>> {
  return jsonOf(await post(at, "/api/threads/t/runs", { prompt, multitask: "wait" }));
}

async function converse(at: Running, messages: readonly object[]) {
  const response = await post(at, "/v1/chat/completions", { model: "m", messages });
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  return {
    status: response.status,
    text: choices[0]!.message.content,
    match: response.headers.get("x-palimpsest-match"),
    threadId: response.headers.get("x-palimpsest-thread"),
  };
}

async function learned({ outbox }: Store): Promise<void> {
  while ((await outbox!.list("memory")).length > 0) await pause(50);
}

async function factsOf({ url }: Running): Promise<string> {
  return (await fetch(`${url}/api/memory`)).text();
}

/** Of all threads, each of whose logs is whole. */
async function messagesOf(store: Store): Promise<Map<string, string[]>> {
  const all = new Map<string, string[]>();
  for (const { header } of (await store.threads()).threads) {
    assert.equal((await verify(threadDeps(store), header.id)).kind, "whole");
    const texts: string[] = [];
    for await (const { record } of store.records(header.id, { kinds: ["message"] }))
      if (record.kind === "message") texts.push(record.body);
    all.set(header.id, texts);
  }
  return all;
}

function copy({ folder }: PostgresServer, from: string, to: string): void {
  execFileSync("cp", ["-a", join(folder, from), join(folder, to)]);
}

async function sql(server: PostgresServer, ...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: server.url() });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}
