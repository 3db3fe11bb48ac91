import assert from "node:assert/strict";
import { test } from "node:test";
import { effectiveWindow, learnedLimit, learnLimit } from "./limits.ts";

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
