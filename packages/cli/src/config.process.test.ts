// The commands on the configuration file, through the real binary.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { desk } from "../test/binary.ts";
import { importMessages } from "../test/conversations.ts";

test("config check lists every problem with its path, one a line, and hides secrets", async (t) => {
  const at = desk(t);
  const bad = at.file(
    "bad.yaml",
    "memori: {}\nmemory: { max_facts: -1 }\nmodels: [{ name: a, provider: x, model: m, api_key: 7 }]\n",
  );
  const { code, stdout } = await at.run("config", "check", bad);
  assert.equal(code, 1);
  const lines = stdout.trim().split("\n");
  assert.deepEqual(
    lines.map((line) => line.slice(bad.length).match(/^:(\d+): /)?.[1]),
    ["1", "2", "3", "3"],
  );
  assert.match(stdout, /memori is not a key; did you mean memory\?/);
  assert.match(stdout, /memory\.max_facts is -1/);
  assert.match(stdout, /models\.0\.provider is "x"/);
  assert.doesNotMatch(stdout, /api_key is 7/);
  const { document } = await at.json("config", "check", bad);
  assert.deepEqual([document["ok"], (document["problems"] as string[]).length], [false, lines.length]);
});

test("config check shows the minimal example when the trigger is missing, and finds settings that can't be meant", async (t) => {
  const at = desk(t);
  const missing = await at.run("config", "check", at.file("a.yaml", "summarization: { enabled: true }\n"));
  assert.equal(missing.code, 1);
  assert.match(missing.stdout, /trigger:\n {4}type: tokens\n {4}value: 4000/);
  const text = "summarization: { trigger: { type: messages, value: 10 }, keep: { type: messages, value: 10 } }\n";
  const clash = await at.run("config", "check", at.file("b.yaml", text));
  assert.equal(clash.code, 1);
  assert.match(clash.stdout, /keep 10 messages is not below the trigger/);
});

test("config check takes the home's file, an empty one, and the example; warnings don't fail it", async (t) => {
  const at = desk(t);
  assert.equal((await at.run("config", "check")).code, 0);
  mkdirSync(at.home);
  writeFileSync(
    join(at.home, "config.yaml"),
    "models: [{ name: a, provider: openai, model: m, api_key: $NOWHERE_SET }]\n",
  );
  const { code, stdout, stderr } = await at.run("config", "check");
  assert.deepEqual([code, stdout], [0, `${join(at.home, "config.yaml")} is fine.\n`]);
  assert.match(stderr, /warning: .*\$NOWHERE_SET is not set/);
  assert.equal((await at.run("config", "check", at.file("empty.yaml", ""))).code, 0);
  assert.equal((await at.run("config", "check", "config.example.yaml")).code, 0);
  assert.equal((await at.run("config", "check", at.file("absent.yaml"))).code, 1);
});

test("an older configuration, and one whose trigger does nothing, are told of at every start; other warnings with --verbose", async (t) => {
  const at = desk(t);
  const text = "config_version: 0\nsummarization: { trigger: { type: messages, value: 50 }, model_name: nobody }\n";
  mkdirSync(at.home, { recursive: true });
  writeFileSync(join(at.home, "config.yaml"), text);
  const { code, stderr } = await at.run("threads");
  assert.equal(code, 0);
  assert.match(stderr, /warning: .*config_version 0 was read as 1; `palimpsest config upgrade`/);
  assert.match(stderr, /warning: .*summarization has a trigger but no `enabled: true`/);
  assert.doesNotMatch(stderr, /nobody/);
  assert.match((await at.run("threads", "--verbose")).stderr, /nobody/);
});

test("config schema prints a JSON Schema that knows the keys", async (t) => {
  const { code, document } = await desk(t).json("config", "schema");
  assert.equal(code, 0);
  assert.equal(document["type"], "object");
  assert.ok(Object.keys(document["properties"] as object).includes("summarization"));
});

test("config upgrade rewrites an older file with its comments, and never overwrites a backup", async (t) => {
  const at = desk(t);
  const old = "# mine\nconfig_version: 0 # old\n\nmemory:\n  enabled: false # for now\n";
  const path = at.file("config.yaml", old);
  const { code, document } = await at.json("config", "upgrade", path);
  assert.equal(code, 0);
  assert.deepEqual(document, { path, from: 0, to: 1, backup: `${path}.bak` });
  assert.equal(readFileSync(path, "utf8"), old.replace("config_version: 0", "config_version: 1"));
  assert.equal(readFileSync(`${path}.bak`, "utf8"), old);
  assert.equal((await at.json("config", "upgrade", path)).document["backup"], null);
  writeFileSync(path, old);
  assert.equal((await at.json("config", "upgrade", path)).document["backup"], `${path}.bak-1`);
  const newer = at.file("newer.yaml", "config_version: 9\n");
  const refused = await at.run("config", "upgrade", newer);
  assert.deepEqual([refused.code, readFileSync(newer, "utf8")], [1, "config_version: 9\n"]);
  assert.match(refused.stderr, /newer/);
  assert.match((await at.run("config", "upgrade", "nowhere.yaml")).stderr, /no such file.*nowhere\.yaml/);
});

test("a configuration that can't be read stops a command before it does anything, and doctor says why", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", [{ role: "user", content: "Hello." }]);
  writeFileSync(join(at.home, "config.yaml"), "stor: { url: elsewhere.db }\nmemroy: {}\n");
  const { code, stderr } = await at.run("threads");
  assert.equal(code, 1);
  assert.match(stderr, /^palimpsest: .*stor is not a key; did you mean store\? \(and 1 more\).*config check.*\n$/);
  const checks = (await at.json("doctor")).document["checks"] as { name: string; ok: boolean }[];
  assert.deepEqual(
    checks.filter(({ ok }) => !ok).map(({ name }) => name),
    ["config"],
  );
});
