import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { configSchema } from "../config/schema.ts";
import { openSqlite } from "../stores/sqlite.ts";
import { startProviderServer } from "../testing/provider-server.ts";
import { createAgentFromConfig } from "./from-config.ts";

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
