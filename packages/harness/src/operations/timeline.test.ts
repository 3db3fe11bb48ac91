import assert from "node:assert/strict";
import { test } from "node:test";
import { freshThread, seqOf } from "@palimpsest/testing/internal/kit";
import { configSchema } from "../home/schema.ts";
import { openSqlite } from "../stores/index.ts";
import { commit } from "../thread/writer.ts";
import { timelineDocument } from "./looking.ts";

const OCTOBER = "2025-10-01T08:00:00.000Z";

test("each request has the window and the price of the model that answered it, and its message's own time", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const writer = await freshThread(store);
  const { threadId } = writer.lease;
  const models = ["claude-sonnet-4-5-20250929", "main", "offline", "nobody-knows-it"];
  for (const [index, model] of models.entries()) {
    const body = JSON.stringify({ role: "assistant", content: `answer ${index}` });
    const message = {
      kind: "message",
      id: `m${index}`,
      dialect: "openai",
      origin: "import",
      at: OCTOBER,
      body,
    } as const;
    const of = seqOf(await commit(writer, [message]));
    const measured = { compaction: null, prune: null, promptHash: null };
    const usage = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0, factor: null };
    await commit(writer, [{ kind: "usage", of, model, measured, ...usage }]);
  }
  const entry = { name: "main", provider: "openai-compatible", model: "m", max_input_tokens: 8_000 };
  const config = configSchema.parse({ models: [{ ...entry, pricing: { input: 2, output: 4 } }] });
  const { requests } = await timelineDocument(store, threadId, { config, learned: { limits: {}, now: 0 } });
  assert.deepEqual(
    requests.map(({ window, cost }) => [window, cost]),
    [
      [200_000, 3],
      [8_000, 2],
      [config.summarization.fallback_context_window, null],
      [null, null],
    ],
  );
  assert.deepEqual([...new Set(requests.map(({ at }) => at))], [OCTOBER]);
});

test("an undo of an undo is a redo among the marks", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const writer = await freshThread(store);
  const { threadId } = writer.lease;
  const prune = { kind: "prune", entries: [], tokensBefore: 9, tokensAfter: 8 } as const;
  let of = seqOf(await commit(writer, [prune]));
  for (let act = 0; act < 3; act += 1) of = seqOf(await commit(writer, [{ kind: "undo", of }]));
  const { marks } = await timelineDocument(store, threadId, {
    config: configSchema.parse({}),
    learned: { limits: {}, now: 0 },
  });
  assert.deepEqual(
    marks.map(({ kind }) => kind),
    ["prune", "undo", "redo", "undo"],
  );
});
