import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openSqlite } from "../stores/index.ts";
import { checkHome } from "./doctor.ts";

const CONFIG = `models:
  - { name: stated, provider: openai, model: gpt-4o, max_input_tokens: 9000, api_key: very-secret-key }
  - { name: known, provider: openai, model: gpt-4o }
  - { name: strange, provider: openai-compatible, model: my-own, base_url: "http://127.0.0.1:1/v1" }
`;

test("[F27] doctor says of each model where its window comes from, and shows no key", async (t) => {
  const home = mkdtempSync(join(tmpdir(), "doctor-"));
  t.after(() => rmSync(home, { recursive: true }));
  writeFileSync(join(home, "config.yaml"), CONFIG);
  const open = async () => openSqlite({ path: join(home, "palimpsest.db") });
  const checks = await checkHome({ home, cwd: home, env: {}, open, derived: "skip" });
  const windows = checks.find(({ name }) => name === "windows");
  assert.equal(
    windows?.detail,
    "stated: 9000 tokens (max_input_tokens); known: 128000 tokens (known for this model); strange: 32768 tokens (fallback_context_window; set max_input_tokens)",
  );
  assert.doesNotMatch(JSON.stringify(checks), /very-secret-key/);
});
