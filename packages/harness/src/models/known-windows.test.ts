import assert from "node:assert/strict";
import { test } from "node:test";
import { knownWindow, windowOf } from "./facts.ts";

test("well-known models have their published windows", () => {
  const windows: Record<string, number> = {
    "gpt-4o": 128_000,
    "gpt-4o-mini-2024-07-18": 128_000,
    "gpt-4.1-nano": 1_047_576,
    "gpt-4": 8_192,
    "gpt-4-0613": 8_192,
    "gpt-4-turbo": 128_000,
    "gpt-4-1106-preview": 128_000,
    "gpt-5": 272_000,
    "gpt-5-mini": 272_000,
    "o3-mini": 200_000,
    o1: 200_000,
    "o1-mini": 128_000,
    "claude-sonnet-4-5": 200_000,
    "claude-2.0": 100_000,
    "gemini-2.5-pro": 1_048_576,
    "gemini-1.5-pro-latest": 2_097_152,
    "llama-3.3-70b": 131_072,
    "llama3-8b-8192": 8_192,
    "mixtral-8x7b": 32_768,
    "qwen2.5-coder": 32_768,
  };
  for (const [model, tokens] of Object.entries(windows)) assert.equal(knownWindow(model), tokens, model);
});

test("a router's prefix, a vendor's prefix and a tag don't hide a model", () => {
  assert.equal(knownWindow("anthropic/claude-opus-4.5"), 200_000);
  assert.equal(knownWindow("us.anthropic.claude-sonnet-4-v1:0"), 200_000);
  assert.equal(knownWindow("llama3.1:8b-instruct-q4"), 131_072);
  assert.equal(knownWindow("openrouter/meta-llama/Meta-Llama-3.1-8B-Instruct:free"), 131_072);
});

test("[F27] the window is the configuration's, else the table's, else the fallback, and says which", () => {
  const model = { provider: "openai-compatible", model: "gpt-4o" };
  assert.deepEqual(windowOf({ ...model, max_input_tokens: 9 }, 32_768), { tokens: 9, source: "config" });
  assert.deepEqual(windowOf(model, 32_768), { tokens: 128_000, source: "table" });
  assert.deepEqual(windowOf({ ...model, model: "my-own" }, 32_768), { tokens: 32_768, source: "fallback" });
  assert.deepEqual(windowOf({ provider: "offline", model: "gpt-4o" }, 8_000), { tokens: 8_000, source: "fallback" });
});
