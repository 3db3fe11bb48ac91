import assert from "node:assert/strict";
import { test } from "node:test";
import { summarizationForThreads } from "../compaction/summarization.ts";
import { parseConfig, requestWindow } from "./config.ts";
import { rewriteConfig } from "./config-file.ts";
import { isLogged } from "./from-config.ts";
import { configSchema } from "./schema.ts";

const env = {};
const rewritten = (text: string): string => {
  const result = rewriteConfig(text, { env });
  assert.equal(result.kind, "rewritten", JSON.stringify(result));
  return result.kind === "rewritten" ? result.text : "";
};

test("an older file gets the present version; comments, order, blank lines and variables stay", () => {
  const text =
    "# my settings\n\n# the models\nmodels:\n  - name: a # fast\n    provider: openai\n    model: x\n    api_key: $KEY\n\nmemory:\n  enabled: false # not yet\n";
  assert.equal(rewritten(`config_version: 0 # old\n${text}`), `config_version: 1 # old\n${text}`);
  assert.equal(rewritten(text), `config_version: 1\n${text}`);
});

test("a file that is empty, holds comments only, or begins with a document mark can be upgraded", () => {
  for (const text of ["", "# nothing yet\n", "---\nmemory:\n  enabled: true\n"]) {
    const after = rewritten(text);
    assert.equal(parseConfig(after, { env }).kind, "config");
    assert.equal(rewriteConfig(after, { env }).kind, "current");
    assert.ok(after.includes(text.startsWith("#") ? "# nothing yet" : ""));
  }
});

test("a present file is left alone; a newer or a wrong one is refused with its problems", () => {
  assert.deepEqual(rewriteConfig("config_version: '1'\n", { env }), { kind: "current", version: 1 });
  for (const [text, said] of [
    ["config_version: 9\n", /newer/],
    ["config_version: 0\nmemori: {}\n", /did you mean memory\?/],
    ["a: [\n", /YAML/],
  ] as const) {
    const result = rewriteConfig(text, { env });
    assert.equal(result.kind, "invalid");
    if (result.kind === "invalid") assert.match(result.problems.join("\n"), said);
  }
});

test("a part is logged at its own level, else at the map's default, else from info on", () => {
  assert.ok(isLogged("debug", "summarization", "debug"));
  assert.ok(!isLogged("info", "summarization", "debug"));
  assert.ok(isLogged({ summarization: "debug" }, "summarization", "debug"));
  assert.ok(!isLogged({ memory: "debug" }, "summarization", "debug"));
  assert.ok(!isLogged({ default: "error" }, "summarization", "warn"));
  assert.ok(!isLogged("silent", "summarization", "error"));
});

test("a file without a trigger is compacted by hand under the defaults of createDeepAgent, but its own keep stays", () => {
  const settings = (summarization: object) =>
    summarizationForThreads(configSchema.parse({ summarization }).summarization);
  const bare = settings({}).policy;
  assert.deepEqual(bare.trigger, [{ type: "fraction", value: 0.85 }]);
  assert.equal(bare.keep, null);
  assert.deepEqual(settings({ keep: { type: "messages", value: 3 } }).policy.keep, { type: "messages", value: 3 });
  const own = settings({ trigger: { type: "tokens", value: 4000 } }).policy;
  assert.deepEqual([own.trigger, own.keep], [[{ type: "tokens", value: 4000 }], { type: "messages", value: 20 }]);
});

test("the window is the one asked about, else the first model's, else the fallback; an answer never takes it all", () => {
  const models = [{ name: "a", provider: "openai", model: "x", max_input_tokens: 8000, max_output_tokens: 9000 }];
  assert.deepEqual(requestWindow(configSchema.parse({ models }), 1000), { size: 1000, reserve: 125, source: "given" });
  assert.deepEqual(requestWindow(configSchema.parse({ models })), { size: 8000, reserve: 4000, source: "config" });
  assert.deepEqual(requestWindow(configSchema.parse({})), { size: 32_768, reserve: 4096, source: "fallback" });
});
