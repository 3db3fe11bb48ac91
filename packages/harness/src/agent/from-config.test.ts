import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { configSchema } from "../config/schema.ts";
import { openSqlite } from "../stores/sqlite.ts";
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
