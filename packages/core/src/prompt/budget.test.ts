import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { answerReserve, fit } from "../tokens/account.ts";
import { effectiveWindow, learnedLimit, learnLimit } from "../tokens/counter.ts";
import { breakdown, type PartName } from "./breakdown.ts";

test("the reserve is the model's own limit, else 4,096 or an eighth of the window", () => {
  assert.equal(answerReserve(200_000, 64_000), 64_000);
  assert.equal(answerReserve(200_000, null), 4096);
  assert.equal(answerReserve(8000, null), 1000);
});

test("a prompt fits when count and reserve are within the window, to the token", () => {
  const budget = { window: 10_000, reserve: 1000 };
  assert.deepEqual(fit({ count: { tokens: 9000, source: "anchored" } }, budget), { kind: "fits", free: 0 });
  assert.deepEqual(fit({ count: { tokens: 9001, source: "reported" } }, budget), { kind: "too-many-tokens", by: 1 });
});

test("[F24] before the first report five in a hundred more is assumed", () => {
  const budget = { window: 10_000, reserve: 1000 };
  assert.equal(fit({ count: { tokens: 8571, source: "estimated" } }, budget).kind, "fits");
  assert.equal(fit({ count: { tokens: 8600, source: "estimated" } }, budget).kind, "too-many-tokens");
});

test("[F29] few tokens in many bytes don't fit a byte budget", () => {
  const count = { tokens: 1600, source: "anchored" } as const;
  const budget = { window: 200_000, reserve: 4096, maxBytes: 5_000_000 };
  assert.deepEqual(fit({ count, bytes: 6_000_000 }, budget), { kind: "too-many-bytes", by: 1_000_000 });
  assert.equal(fit({ count, bytes: 5_000_000 }, budget).kind, "fits");
  assert.equal(fit({ count, bytes: 6_000_000 }, { ...budget, maxBytes: null }).kind, "fits");
});

test("[F23] a breakdown's parts sum exactly to the count and its groups to the window", () => {
  const names: PartName[] = [
    "base",
    "memory",
    "skills",
    "summary",
    "user",
    "assistant",
    "tool",
    "images",
    "definitions",
  ];
  const counted = fc.dictionary(fc.constantFrom(...names), fc.nat(50_000));
  fc.assert(
    fc.property(counted, fc.nat(200_000), fc.nat(200_000), fc.nat(5000), (parts, tokens, window, reserve) => {
      const result = breakdown(parts, { count: { tokens, source: "anchored" }, budget: { window, reserve } });
      assert.equal(sum(Object.values(result.parts)), tokens);
      assert.equal(result.total, tokens);
      assert.equal(sum(result.groups.map((group) => group.tokens)), Math.max(window, tokens + reserve));
      for (const group of result.groups) assert.equal(sum(Object.values(group.parts)), group.tokens);
    }),
  );
});

test("a breakdown groups as people know it: system prompt, history with what is free, tools with what is reserved", () => {
  const counted = {
    base: 500,
    memory: 500,
    skills: 300,
    instructions: 200,
    summary: 1000,
    user: 1000,
    assistant: 1000,
    definitions: 1000,
  };
  const count = { tokens: 5500, source: "anchored" } as const;
  assert.deepEqual(breakdown(counted, { count, budget: { window: 8000, reserve: 500 } }).groups, [
    { name: "System Prompt", tokens: 1500, parts: { base: 500, memory: 500, skills: 300, instructions: 200 } },
    { name: "Message History", tokens: 5000, parts: { summary: 1000, user: 1000, assistant: 1000, buffer: 2000 } },
    { name: "Tools/Response", tokens: 1500, parts: { definitions: 1000, reserved: 500 } },
  ]);
});

test("each part keeps its share of the count within one token", () => {
  const counted = { base: 10, user: 20, tool: 31 };
  const { parts } = breakdown(counted, {
    count: { tokens: 100, source: "anchored" },
    budget: { window: 1000, reserve: 0 },
  });
  assert.deepEqual(parts, { base: 16, user: 33, tool: 51 });
});

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

const endpoint = { provider: "openai", baseUrl: "http://localhost:1234/v1", model: "m" };
const hour = 60 * 60 * 1000;
const limits = learnLimit({}, endpoint, { tokens: 32_000, learnedAt: 0 });

test("a learned limit narrows the window of its own endpoint for a day", () => {
  assert.deepEqual(effectiveWindow(128_000, { limits, endpoint, now: 23 * hour }), {
    tokens: 32_000,
    source: "learned",
  });
  assert.deepEqual(effectiveWindow(128_000, { limits, endpoint, now: 24 * hour }), {
    tokens: 128_000,
    source: "configured",
  });
});

test("[F28] a limit belongs to provider, address and model", () => {
  const others = [
    { ...endpoint, provider: "anthropic" },
    { ...endpoint, baseUrl: null },
    { ...endpoint, model: "n" },
  ];
  for (const other of others) {
    assert.equal(effectiveWindow(128_000, { limits, endpoint: other, now: hour }).source, "configured");
  }
});

test("a learned limit never makes the configured window larger", () => {
  assert.deepEqual(effectiveWindow(8000, { limits, endpoint, now: hour }), { tokens: 8000, source: "configured" });
});

test("a newer limit replaces an older one, and nonsense replaces nothing", () => {
  const newer = learnLimit(limits, endpoint, { tokens: 16_000.7, learnedAt: hour });
  assert.equal(effectiveWindow(128_000, { limits: newer, endpoint, now: hour }).tokens, 16_000);
  for (const tokens of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    const same = learnLimit(limits, endpoint, { tokens, learnedAt: hour });
    assert.equal(effectiveWindow(128_000, { limits: same, endpoint, now: hour }).tokens, 32_000);
  }
});

test("expired limits are dropped when another is learned", () => {
  const later = learnLimit(limits, { ...endpoint, model: "n" }, { tokens: 1000, learnedAt: 30 * hour });
  assert.equal(Object.keys(later).length, 1);
});

test("whoever only knows the address and the model finds what was learned of them", () => {
  const { baseUrl, model } = endpoint;
  assert.equal(learnedLimit(limits, { baseUrl, model, now: hour }), 32_000);
  assert.equal(learnedLimit(limits, { baseUrl, model, now: 24 * hour }), null);
  assert.equal(learnedLimit(limits, { baseUrl: null, model, now: hour }), null);
  assert.equal(learnedLimit(limits, { baseUrl, model: "other-m", now: hour }), null);
});
