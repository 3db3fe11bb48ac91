// Chat, `context` and `doctor` hold a thread against the same window, through the real binary.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { startProviderServer } from "@palimpsest/testing";
import { desk } from "../test/binary.ts";

const WORDS = "the parser reads tokens one by one and keeps a stack of what is open ".repeat(60);

test("a window that the provider stated is the window everywhere", async (t) => {
  const at = desk(t);
  const server = await startProviderServer({ window: 8_000, respond: () => "done" });
  t.after(() => server.close());
  mkdirSync(at.home, { recursive: true });
  const model = `{name: big, provider: openai-compatible, model: m, base_url: "${server.url}", api_key: none, max_input_tokens: 100000, max_output_tokens: 500}`;
  writeFileSync(`${at.home}/config.yaml`, `models:\n  - ${model}\nmemory:\n  enabled: false\n`);
  const said = Array.from({ length: 8 }, (_, turn) => `${turn}: ${WORDS}`);
  const { code, stdout } = await at.piped([...said, "/context"], "chat", "--thread", "t");
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^t: [\d,]+ of 8,000 tokens/m);
  const { document } = await at.json("context", "t");
  assert.equal(document["window"], 8000);
  const chat = /^t: ([\d,]+) of/m.exec(stdout)![1]!.replace(",", "");
  assert.equal(String(document["total"]), chat);
  const { stdout: examined } = await at.run("doctor");
  assert.match(
    examined,
    /big: 8000 tokens \(stated by the provider when it refused more; "palimpsest models forget" forgets it\)/,
  );
});
