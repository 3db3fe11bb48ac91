import assert from "node:assert/strict";
import { test } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { startProviderServer } from "@palimpsest/testing";
import { tool } from "ai";
import { z } from "zod";
import { summarization } from "../compaction/middleware.ts";
import { openSqlite } from "../stores/sqlite.ts";
import { replay } from "../thread/audit.ts";
import { createAgent } from "./agent.ts";

const echo = tool({ inputSchema: z.object({}), execute: () => "echo" });

test("a provider that caches where it is told to is told: after the system prompt and after the last message", async (t) => {
  const server = await startProviderServer({
    respond: ({ index }) => (index === 0 ? { calls: [{ name: "echo", input: {} }] } : "ok"),
  });
  t.after(() => server.close());
  const store = openSqlite({ path: ":memory:" });
  const model = createAnthropic({ apiKey: "sk-test", baseURL: server.url })("m");
  const agent = createAgent({ model, store, tools: { echo }, maxOutputTokens: 500 });
  for (const prompt of ["one", "two"]) await agent.generate({ threadId: "t", prompt });
  assert.equal(server.requests.length, 3);
  for (const { body } of server.requests) {
    assert.deepEqual(marksIn(body?.["system"]), 1);
    const messages = body?.["messages"] as unknown[];
    assert.equal(marksIn(messages.at(-1)), 1);
    assert.equal(marksIn(messages.slice(0, -1)), 0);
  }
  for await (const { body } of replay({ store }, "t")) assert.ok(!body.includes("cacheControl"));
});

test("after a pruning its last message has a mark too, so that the next one need not write all of it again", async (t) => {
  const server = await startProviderServer({
    respond: ({ index }) => (index % 2 === 0 ? { calls: [{ name: "list", input: { page: index } }] } : "ok"),
  });
  t.after(() => server.close());
  const list = tool({
    inputSchema: z.object({ page: z.number() }),
    execute: () => "one more line of it\n".repeat(400),
  });
  let now = Date.parse("2026-01-01T00:00:00Z");
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const model = createAnthropic({ apiKey: "sk-test", baseURL: server.url })("m");
  const agent = createAgent({
    model,
    store,
    tools: { list },
    maxOutputTokens: 500,
    window: 100_000,
    deps: { clock: () => new Date(now) },
    middleware: [
      summarization({
        keep: { type: "messages", value: 2 },
        prune: { from: 1, protectTokens: 100, minGainTokens: 1 },
      }),
    ],
  });
  for (const prompt of ["one", "two", "three", "four"]) {
    await agent.generate({ threadId: "t", prompt });
    // The provider has forgotten it all.
    now += 60 * 60_000;
  }
  const messages = server.requests.at(-1)?.body?.["messages"] as unknown[];
  const marks = messages.flatMap((message, index) => (marksIn(message) > 0 ? [index] : []));
  const stubs = messages.flatMap((message, index) => (JSON.stringify(message).includes("[pruned") ? [index] : []));
  assert.ok(stubs.length > 1);
  assert.equal(marks.at(-1), messages.length - 1);
  assert.ok(marks.includes(stubs.at(-1)!), `marks ${marks}, stubs ${stubs}`);
  for (const { body } of server.requests) assert.ok(marksIn(body) <= 4);
});

test("other providers get no marks", async (t) => {
  const server = await startProviderServer();
  t.after(() => server.close());
  const model = createOpenAICompatible({ name: "local", baseURL: server.url, includeUsage: true })("m");
  await createAgent({ model }).generate({ threadId: "t", prompt: "one" });
  assert.equal(marksIn(server.requests[0]?.body), 0);
});

function marksIn(value: unknown): number {
  return JSON.stringify(value).split("cache_control").length - 1;
}
