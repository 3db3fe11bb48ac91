import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { costOf, knownPrices, pricesOf, savingOf } from "./facts.ts";
import { offeredModels } from "./resolve.ts";

const PRICES = { input: 2, output: 10, cacheRead: 0.5, cacheWrite: 2.5 };

test("a usage costs its uncached, cached, written and answered tokens, each at its price", () => {
  const usage = { input: 1_000_000, output: 100_000, cacheRead: 600_000, cacheWrite: 100_000 };
  const { spent, savedByCache } = costOf(usage, PRICES);
  assert.equal(spent.toFixed(6), (0.3 * 2 + 0.6 * 0.5 + 0.1 * 2.5 + 0.1 * 10).toFixed(6));
  assert.equal(savedByCache.toFixed(6), (0.6 * 1.5 - 0.1 * 0.5).toFixed(6));
});

test("spent and saved together are what the prompt would have cost without a cache, and the answer", () => {
  const tokens = fc.integer({ min: 0, max: 1e6 });
  fc.assert(
    fc.property(tokens, tokens, tokens, tokens, (fresh, cacheRead, cacheWrite, output) => {
      const input = fresh + cacheRead + cacheWrite;
      const { spent, savedByCache } = costOf({ input, output, cacheRead, cacheWrite }, PRICES);
      assert.ok(Math.abs(spent + savedByCache - (input * 2 + output * 10) / 1e6) < 1e-9);
    }),
  );
});

test("what was left out of a call is priced as the rest of its prompt was: from the cache where that was warm", () => {
  assert.equal(savingOf(1_000_000, { input: 5, output: 0, cacheRead: 3, cacheWrite: 0 }, PRICES), 0.5);
  assert.equal(savingOf(1_000_000, { input: 5, output: 0, cacheRead: 0, cacheWrite: 0 }, PRICES), 2);
});

test("prices come from the configuration first, from the table only at the maker's own address, else there are none", () => {
  const entry = { provider: "openai", model: "gpt-4o", base_url: undefined, pricing: undefined } as const;
  assert.deepEqual(pricesOf({ ...entry, pricing: { input: 1, output: 2 } }), {
    input: 1,
    output: 2,
    cacheRead: 1,
    cacheWrite: 1,
    source: "config",
  });
  assert.equal(pricesOf(entry)?.source, "table");
  assert.equal(pricesOf({ ...entry, base_url: "http://127.0.0.1:1/v1" }), null);
  assert.equal(pricesOf({ ...entry, model: "never-heard-of" }), null);
  assert.equal(pricesOf({ ...entry, provider: "offline" }), null);
});

test("a dated name of a model has its price, another variant has not", () => {
  assert.deepEqual(knownPrices("gpt-4o-2024-11-20"), knownPrices("gpt-4o"));
  assert.equal(knownPrices("claude-sonnet-4-5-20250929")?.output, 15);
  assert.equal(knownPrices("claude-opus-4-5-20251101")?.output, 25);
  assert.equal(knownPrices("claude-opus-4-20250514")?.output, 75);
  for (const other of ["gpt-4o-audio-preview", "gpt-4o-realtime-preview", "gemini-2.5-flash-image", "gpt-5-pro"])
    assert.equal(knownPrices(other), null, other);
});

test("a provider's key in the environment is offered with a model; an empty one is not", () => {
  const offers = offeredModels({ OPENAI_API_KEY: "sk-secret", ANTHROPIC_API_KEY: " ", GROQ_API_KEY: "g" });
  assert.deepEqual(
    offers.map(({ from, variable }) => [from, variable]),
    [
      ["OpenAI", "OPENAI_API_KEY"],
      ["Groq", "GROQ_API_KEY"],
    ],
  );
  assert.doesNotMatch(JSON.stringify(offers), /secret/);
});

test("newer models of a family have their own prices, and none that we don't know has one", () => {
  const input = (model: string) => knownPrices(model)?.input ?? null;
  assert.deepEqual(
    ["claude-opus-4-1", "claude-opus-4-8", "claude-opus-5", "claude-opus-5-5"].map(input),
    [15, 5, 5, 4],
  );
  assert.deepEqual(["claude-sonnet-4-6", "claude-sonnet-5", "claude-sonnet-5-5"].map(input), [3, 2, 2]);
  assert.deepEqual(["claude-opus-6", "gpt-5.2", "gpt-5-pro"].map(input), [null, null, null]);
});
