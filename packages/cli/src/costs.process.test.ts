// What a thread costs is all that was charged for it, through the real binary and a provider that counts.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { startProviderServer } from "@palimpsest/testing";
import { desk } from "../test/binary.ts";

const UPDATE = JSON.stringify({ user: {}, history: {}, newFacts: [], factsToRemove: [] });
const TASK = { name: "task", input: { description: "Look around", prompt: "Look around." } };

test("costs hold sub-agents, summaries and what was learned, by run, thread and use", async (t) => {
  const at = desk(t);
  const server = await startProviderServer({
    respond: ({ body }) => {
      const messages = (body?.["messages"] ?? []) as { role: string; content: unknown }[];
      const last = messages.at(-1);
      const text = JSON.stringify(last?.content ?? "");
      if (/newFacts/.test(text)) return UPDATE;
      return last?.role === "user" && text.includes("Ask somebody") ? { calls: [TASK] } : "It is as it was.";
    },
  });
  t.after(() => server.close());
  mkdirSync(at.home, { recursive: true });
  const model = `{name: m, provider: openai-compatible, model: m, base_url: "${server.url}", api_key: none, max_input_tokens: 32000, pricing: {input: 1000000, output: 0}}`;
  writeFileSync(`${at.home}/config.yaml`, `models:\n  - ${model}\ntitle: {enabled: false}\n`);
  const run = await at.json("run", "Ask somebody to look around.", "--thread", "t");
  assert.equal(run.code, 0, JSON.stringify(run.document));
  type Cost = { spent: number; spentOn: Record<string, number> };
  const { spent, spentOn } = run.document["cost"] as Cost;
  assert.ok(spentOn["answers"]! > 0 && spentOn["subagents"]! > 0 && spentOn["memory"]! > 0, JSON.stringify(spentOn));
  for (const n of [1, 2, 3]) await at.run("run", `Note ${n}: ${"the valve was oiled ".repeat(40)}`, "--thread", "t");
  const before = ((await at.json("context", "t")).document["cost"] as Cost).spent;
  assert.ok(before > spent);
  assert.equal((await at.run("compact", "t")).code, 0);
  const after = (await at.json("context", "t")).document["cost"] as Cost;
  assert.ok(after.spentOn["summaries"]! > 0 && after.spent > before, JSON.stringify(after));
  assert.equal(
    Object.values(after.spentOn).reduce((sum, part) => sum + part),
    after.spent,
  );
  const charged = server.requests.reduce(
    (sum, { verdict }) => sum + (verdict.kind === "answered" ? verdict.input : 0),
    0,
  );
  assert.equal(after.spent, charged, "everything the provider has answered");
  const { stdout } = await at.piped(["/cost"], "chat", "--thread", "t");
  assert.match(
    stdout,
    /model calls \(\d+ for sub-agents, \d+ for summaries, \d+ for memory\): .*spent .*for sub-agents, .*for summaries, .*for memory/,
  );
});
