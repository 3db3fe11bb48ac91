import assert from "node:assert/strict";
import { test } from "node:test";
import type { Usage } from "./facts.ts";
import { readUsage } from "./facts.ts";

type Figures = readonly [input: number, output: number, cacheRead: number, cacheWrite: number];

const SPELLINGS: Readonly<Record<string, readonly [usage: unknown, read: Figures]>> = {
  "OpenAI chat": [
    {
      prompt_tokens: 900,
      completion_tokens: 20,
      total_tokens: 920,
      prompt_tokens_details: { cached_tokens: 640, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 12 },
    },
    [900, 20, 640, 0],
  ],
  "an OpenAI-compatible server without details": [{ prompt_tokens: 900, completion_tokens: 20 }, [900, 20, 0, 0]],
  "an OpenAI-compatible server with details of null": [
    { prompt_tokens: 900, completion_tokens: 20, prompt_tokens_details: null },
    [900, 20, 0, 0],
  ],
  "OpenAI chat before the answer": [{ prompt_tokens: 900 }, [900, 0, 0, 0]],
  "OpenAI Responses": [
    {
      input_tokens: 900,
      input_tokens_details: { cached_tokens: 640 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 12 },
    },
    [900, 20, 640, 0],
  ],
  Anthropic: [
    { input_tokens: 60, cache_read_input_tokens: 640, cache_creation_input_tokens: 200, output_tokens: 20 },
    [900, 20, 640, 200],
  ],
  "Anthropic with caches of null": [
    { input_tokens: 900, cache_read_input_tokens: null, cache_creation_input_tokens: null, output_tokens: 20 },
    [900, 20, 0, 0],
  ],
  Gemini: [
    { promptTokenCount: 900, candidatesTokenCount: 15, thoughtsTokenCount: 5, cachedContentTokenCount: 640 },
    [900, 20, 640, 0],
  ],
  "Gemini without an answer": [{ promptTokenCount: 900, totalTokenCount: 900 }, [900, 0, 0, 0]],
  "the AI SDK": [
    {
      inputTokens: 900,
      inputTokenDetails: { noCacheTokens: 60, cacheReadTokens: 640, cacheWriteTokens: 200 },
      outputTokens: 20,
      outputTokenDetails: { textTokens: 8, reasoningTokens: 12 },
      totalTokens: 920,
    },
    [900, 20, 640, 200],
  ],
  "the AI SDK with details it doesn't know": [
    { inputTokens: 900, inputTokenDetails: { cacheReadTokens: undefined }, outputTokens: undefined },
    [900, 0, 0, 0],
  ],
  "an older AI SDK": [{ inputTokens: 900, outputTokens: 20, cachedInputTokens: 640 }, [900, 20, 640, 0]],
  LangChain: [
    {
      input_tokens: 900,
      output_tokens: 20,
      total_tokens: 920,
      input_token_details: { cache_read: 640, cache_creation: 200 },
    },
    [900, 20, 640, 200],
  ],
  "LangChain without details": [{ input_tokens: 900, output_tokens: 20, total_tokens: 920 }, [900, 20, 0, 0]],
  "a recorder": [{ input: 60, output: 20, cacheRead: 640, cacheWrite: 200 }, [900, 20, 640, 200]],
  "a recorder in snake case": [{ input: 60, output: 20, cache_read: 640, cache_write: 200 }, [900, 20, 640, 200]],
  "a report of zero": [{ prompt_tokens: 0, completion_tokens: 0 }, [0, 0, 0, 0]],
};

for (const [name, [usage, [input, output, cacheRead, cacheWrite]]] of Object.entries(SPELLINGS)) {
  test(`usage as spelled by ${name}: the input is the whole prompt`, () => {
    const expected: Usage = { input, output, cacheRead, cacheWrite };
    assert.deepEqual(readUsage(usage), expected);
  });
}

const NONE: readonly unknown[] = [
  null,
  undefined,
  900,
  "900",
  [],
  {},
  { output_tokens: 20 },
  { inputTokens: undefined, outputTokens: 20 },
  { prompt_tokens: "900" },
  { prompt_tokens: -1 },
  { input_tokens: Number.NaN },
  { promptTokenCount: Number.POSITIVE_INFINITY },
];

for (const usage of NONE) {
  test(`what states no input is no usage: ${typeof usage} ${JSON.stringify(usage) ?? ""}`, () => {
    assert.equal(readUsage(usage), null);
  });
}

test("a figure that no model can have used counts as not reported", () => {
  for (const wrong of [1e308, 1e9 + 1, -5, 1.5, Number.NaN, "12"]) {
    assert.equal(readUsage({ prompt_tokens: wrong, completion_tokens: 3 }), null);
    assert.equal(readUsage({ input_tokens: wrong, output_tokens: 3 }), null);
    assert.equal(readUsage({ prompt_tokens: 10, completion_tokens: wrong })?.output, 0);
  }
  assert.equal(readUsage({ prompt_tokens: 1e9, completion_tokens: 3 })?.input, 1e9);
});
