// The commands about models and what they cost, through the real binary against a provider that is really asked.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startProviderServer } from "@palimpsest/testing";
import { type Desk, desk, palimpsest } from "../test/binary.ts";

async function provider(t: TestContext, at: Desk, more = "", window?: number): Promise<string> {
  const server = await startProviderServer({ respond: () => "ready", ...(window !== undefined && { window }) });
  t.after(() => server.close());
  mkdirSync(at.home, { recursive: true });
  const entry = `name: main, provider: openai-compatible, model: m, base_url: "${server.url}"${more}`;
  writeFileSync(join(at.home, "config.yaml"), `models: [{ ${entry} }]\nmemory: { enabled: false }\n`);
  return server.url;
}

test("models says what is configured and what could be, and where each number comes from", async (t) => {
  const at = desk(t);
  await provider(t, at, ", pricing: { input: 3, output: 15 }");
  const env = { PALIMPSEST_HOME: at.home, ANTHROPIC_API_KEY: "sk-secret" };
  const { code, stdout, stderr } = await palimpsest(["models"], env);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /main +default +openai-compatible +m +32,768 \(assumed\) +3 \/ 15 \(pricing\)/);
  assert.match(stdout, /Could be used: Anthropic \(\$ANTHROPIC_API_KEY is set\), for example claude-/);
  const { document } = await at.json("models");
  assert.deepEqual((document["configured"] as { name: string }[])[0]?.name, "main");
  assert.doesNotMatch(stdout + stderr, /sk-secret/);
});

test("models test makes one call and says what it took; a wrong address says which and what to check", async (t) => {
  const at = desk(t);
  const url = await provider(t, at, ", pricing: { input: 1000000, output: 0 }");
  const good = await at.json("models", "test");
  assert.equal(good.code, 0, JSON.stringify(good.document));
  const { usage, spent } = good.document as unknown as { usage: { input: number }; spent: number };
  assert.equal(spent, usage.input, "a price of a million for a million tokens is one for one");
  const wrong = `models: [{ name: main, provider: openai-compatible, model: m, base_url: "${url}/nowhere" }]\n`;
  writeFileSync(join(at.home, "config.yaml"), wrong);
  const bad = await at.run("models", "test");
  assert.equal(bad.code, 1);
  assert.match(bad.stderr, /nowhere\S* answered 404 for the model m: .*base_url, which usually ends in \/v1/);
});

test("a limit that the provider stated is named where it rules, and models forget forgets it", async (t) => {
  const at = desk(t);
  await provider(t, at, ", max_input_tokens: 8000", 900);
  const refused = await at.run("run", "one word more ".repeat(700), "--thread", "t");
  assert.equal(refused.code, 1, refused.stdout);
  assert.match(
    refused.stderr,
    /the window has \d+ \(8000 are configured, but the provider refused more than this; "palimpsest models forget"/,
  );
  const listed = await at.run("models");
  assert.match(listed.stdout, /900 \(stated by the provider\)/);
  assert.match(listed.stderr, /"palimpsest models forget NAME" forgets that/);
  const forgotten = await at.run("models", "forget", "main");
  assert.equal(
    forgotten.stdout,
    "Forgot that main takes no more than 900 tokens: its window is 8,000 (max_input_tokens).\n",
  );
  assert.match((await at.run("models")).stdout, /8,000 \(max_input_tokens\)/);
  assert.match((await at.run("models", "forget")).stdout, /^Nothing was learned about main: its window is 8,000/);
});

test("a model that isn't configured is bad usage with the list, before anything is asked or said", async (t) => {
  const at = desk(t);
  for (const args of [["run", "hello"], ["chat"]]) {
    const none = await at.run(...args, "--model", "gpt-4o");
    assert.equal(none.code, 2, none.stdout);
    assert.match(none.stderr, /There is no model "gpt-4o" under models: \(there: offline\)/);
    assert.equal(none.stdout, "");
  }
  const keyed = await palimpsest(["run", "hello", "--model", "gpt-4o"], {
    PALIMPSEST_HOME: at.home,
    OPENAI_API_KEY: "k",
  });
  assert.match(
    keyed.stderr,
    /\$OPENAI_API_KEY is set, so "palimpsest config init --provider openai --model gpt-4o" does it/,
  );
  await provider(t, at);
  const { code, stderr } = await at.run("run", "hello", "--model", "mian");
  assert.deepEqual([code, /there: main\)\. Did you mean "main"\?/.test(stderr)], [2, true], stderr);
});

test("run and context show money where a price is known, and no figure where none is", async (t) => {
  const at = desk(t);
  await provider(t, at, ", pricing: { input: 1000000, output: 0 }");
  const priced = await at.json("run", "hello", "--thread", "t");
  const { usage, cost } = priced.document as unknown as { usage: { input: number }; cost: { spent: number } };
  const spentOn = { answers: usage.input, subagents: 0, summaries: 0, memory: 0, embeddings: 0 };
  assert.deepEqual(cost, { spent: usage.input, savedByCache: 0, spentOn, currency: "USD" });
  const { document } = await at.json("context", "t");
  assert.equal((document["cost"] as { spent: number }).spent, usage.input);
  assert.match((await at.run("context", "t")).stdout, /^Spent \$[\d.]+\.$/m);
  await provider(t, at);
  assert.equal("cost" in (await at.json("run", "hello again", "--thread", "t")).document, false);
  assert.equal("cost" in (await at.json("context", "t")).document, false);
});

test("config init writes a small private file that works, from flags or from what the environment offers", async (t) => {
  const at = desk(t);
  const env = { PALIMPSEST_HOME: at.home, OPENAI_API_KEY: "sk-secret" };
  const made = await palimpsest(["config", "init"], env);
  assert.equal(made.code, 0, made.stderr);
  const path = join(at.home, "config.yaml");
  assert.match(readFileSync(path, "utf8"), /provider: openai\n.*api_key: \$OPENAI_API_KEY/s);
  assert.doesNotMatch(readFileSync(path, "utf8"), /sk-secret/);
  assert.equal(statSync(path).mode & 0o077, 0);
  assert.equal((await palimpsest(["config", "check"], env)).code, 0);
  const again = await palimpsest(["config", "init"], env);
  assert.deepEqual([again.code, /exists already/.test(again.stderr)], [1, true]);
  const other = at.file("other.yaml");
  const flags = ["--provider", "openai-compatible", "--model", "q", "--base-url", "http://127.0.0.1:1/v1"];
  assert.equal((await at.run("config", "init", "--config", other, ...flags, "--window", "9000")).code, 0);
  assert.match(readFileSync(other, "utf8"), /base_url: http:\/\/127\.0\.0\.1:1\/v1\n.*max_input_tokens: 9000/s);
  const third = at.file("third.yaml");
  for (const bad of [[], ["--provider", "nobody"], ["--provider", "openai", "--model", "m", "--key", "sk-abc"]])
    assert.equal((await at.run("config", "init", "--config", third, ...bad)).code, 2, bad.join(" "));
});

test("config check names the line of what can't work", async (t) => {
  const at = desk(t);
  const file = at.file(
    "c.yaml",
    "models:\n  - name: a\n    provider: openai-compatible\n    model: m\n    base_url: x\n",
  );
  const { code, stdout } = await at.run("config", "check", file);
  assert.equal(code, 1);
  assert.equal(stdout, `${file}:5: models.0.base_url (a) is no URL, for example http://127.0.0.1:11434/v1\n`);
});
