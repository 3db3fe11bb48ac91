import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readRules } from "@palimpsest/core/internal/log";
import { startProviderServer } from "@palimpsest/testing";
import { tool } from "ai";
import { z } from "zod";
import { openSqlite } from "../stores/sqlite.ts";
import { createAgentFromConfig } from "./from-config.ts";
import { configSchema } from "./schema.ts";

const PROMPT = "please remember that the parser reads its tokens one by one";

for (const [name, title, expected] of [
  ["has six words unless told otherwise", {}, "please remember that the parser reads…"],
  ["has as many words as title.max_words says", { max_words: 2 }, "please remember…"],
  ["is left out with title.enabled false", { enabled: false }, null],
] as const) {
  test(`a thread's title ${name}`, async (t) => {
    const home = mkdtempSync(join(tmpdir(), "palimpsest-title-"));
    t.after(() => rmSync(home, { recursive: true }));
    const store = openSqlite({ path: ":memory:" });
    t.after(() => store.close());
    const config = configSchema.parse({ title, memory: { enabled: false } });
    const { agent } = await createAgentFromConfig({ home, config, store });
    await agent.generate({ threadId: "t", prompt: PROMPT });
    assert.equal((await store.threads({ limit: 1 })).threads[0]?.title ?? null, expected);
  });
}

test("a rule that leaves the configuration as its last one ends in an agent's thread", async (t) => {
  const home = mkdtempSync(join(tmpdir(), "palimpsest-rules-"));
  t.after(() => rmSync(home, { recursive: true }));
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const statuses: (string | undefined)[] = [];
  for (const agentRules of [["Never push to main."], []]) {
    const config = configSchema.parse({ rules: { agent: agentRules }, memory: { enabled: false } });
    const { agent } = await createAgentFromConfig({ home, config, store });
    await agent.generate({ threadId: "t", prompt: PROMPT });
    await agent.close();
    statuses.push(readRules((await store.head("t"))!.state).list[0]?.status);
  }
  assert.deepEqual(statuses, ["active", "ended"]);
});

test("with one model that thinks, its summaries are asked for without thinking", async (t) => {
  const words = "the parser reads tokens one by one and keeps a stack of what is open ".repeat(12);
  const patch = JSON.stringify({ add: { now: [{ text: "Half is read.", seqs: [] }] } });
  const server = await startProviderServer({ respond: ({ stream }) => (stream ? words : patch) });
  const home = mkdtempSync(join(tmpdir(), "palimpsest-thinking-"));
  const store = openSqlite({ path: ":memory:" });
  const config = configSchema.parse({
    models: [
      {
        name: "one",
        provider: "openai-compatible",
        model: "m",
        base_url: server.url,
        thinking: true,
        max_input_tokens: 9000,
      },
    ],
    memory: { enabled: false },
  });
  const { agent } = await createAgentFromConfig({ home, config, store });
  t.after(async () => {
    await agent.close();
    await store.close();
    await server.close();
    rmSync(home, { recursive: true });
  });
  for (let turn = 0; turn < 20; turn++) await agent.generate({ threadId: "t", prompt: `${turn}: ${words}` });
  const efforts = (kind: "stream" | "summary"): Set<unknown> =>
    new Set(
      server.requests
        .filter(({ stream }) => stream === (kind === "stream"))
        .map(({ body }) => body?.["reasoning_effort"]),
    );
  assert.deepEqual(efforts("stream"), new Set(["medium"]));
  assert.deepEqual(efforts("summary"), new Set(["none"]));
});

test("the prices of a configuration decide when its agent prunes: at once where its cache saves nothing", async (t) => {
  const home = mkdtempSync(join(tmpdir(), "palimpsest-prices-"));
  const store = openSqlite({ path: ":memory:" });
  const server = await startProviderServer({
    respond: ({ index }) => (index % 2 === 0 ? { calls: [{ name: "list", input: { page: index } }] } : "ok"),
  });
  const list = tool({
    inputSchema: z.object({ page: z.number() }),
    execute: () => "one more line of it\n".repeat(400),
  });
  const entry = { provider: "openai-compatible", model: "m", base_url: server.url, max_input_tokens: 100_000 };
  const config = configSchema.parse({
    models: [
      { ...entry, name: "unpriced" },
      { ...entry, name: "priced", pricing: { input: 2, output: 8, cache_read: 2 } },
    ],
    summarization: {
      enabled: true,
      trigger: { type: "fraction", value: 0.85 },
      keep: { type: "messages", value: 2 },
      prune: { from: 1, protect_tokens: 100, min_gain_tokens: 1 },
    },
    memory: { enabled: false },
  });
  const agents = await Promise.all(
    config.models.map(async ({ name }) => createAgentFromConfig({ home, config, store, model: name, tools: { list } })),
  );
  t.after(async () => {
    for (const { agent } of agents) await agent.close();
    await store.close();
    await server.close();
    rmSync(home, { recursive: true });
  });
  const prunes: number[] = [];
  for (const { agent, model } of agents) {
    for (const prompt of ["one", "two", "three"]) await agent.generate({ threadId: model.name, prompt });
    prunes.push((await store.head(model.name))!.prunes.length);
  }
  assert.equal(prunes[0], 0);
  assert.ok(prunes[1]! > 0);
});

const CONTEXT_TOOLS = ["notes", "new_context", "context_remaining", "checkpoint", "fold"];

for (const [policy, context_tools, offered] of [
  ["summary", null, false],
  ["summary", true, true],
  ["rollover", null, true],
  ["rollover", false, false],
] as const)
  test(`with policy ${policy} and context_tools ${context_tools} the agent has ${offered ? "" : "no "}notes and checkpoints`, async (t) => {
    const words = "the parser reads tokens one by one and keeps a stack of what is open ".repeat(12);
    const note = { act: "write", name: "plan", text: "Keep the stack small.", revision: 0 };
    const server = await startProviderServer({
      respond: ({ tools, turns }) =>
        tools.includes("notes") && turns.at(-1)?.role === "user" && turns.length < 3
          ? { text: "", calls: [{ id: "n", name: "notes", input: note }] }
          : words,
    });
    const home = mkdtempSync(join(tmpdir(), "palimpsest-context-tools-"));
    const store = openSqlite({ path: ":memory:" });
    const model = { name: "one", provider: "openai-compatible", model: "m", base_url: server.url };
    const config = configSchema.parse({
      models: [{ ...model, max_input_tokens: 9000 }],
      summarization: { enabled: true, trigger: { type: "fraction", value: 0.85 }, policy, context_tools },
      memory: { enabled: false },
    });
    const { agent } = await createAgentFromConfig({ home, config, store });
    t.after(async () => {
      await agent.close();
      await store.close();
      await server.close();
      rmSync(home, { recursive: true });
    });
    for (let turn = 0; turn < 20; turn++) await agent.generate({ threadId: "t", prompt: `${turn}: ${words}` });
    const last = server.requests.at(-1)!;
    assert.deepEqual(
      CONTEXT_TOOLS.filter((name) => last.tools.includes(name)),
      offered ? CONTEXT_TOOLS : [],
    );
    assert.ok((await store.head("t"))?.compaction != null);
    assert.equal(JSON.stringify(last.body).includes("## Your notes"), offered, "notes stand behind a summary too");
  });
