import assert from "node:assert/strict";
import { test } from "node:test";
import { checkTrigger, type Growth, limitsOf, type Policy, type Threshold } from "./policy.ts";

const LARGE = { size: 200_000, reserve: 4096 };
const messages = (value: number): Threshold => ({ type: "messages", value });
const tokens = (value: number): Threshold => ({ type: "tokens", value });
const fraction = (value: number): Threshold => ({ type: "fraction", value });

test("after an attempt a threshold waits for a tenth of itself, whatever the window, in its own unit", () => {
  for (const [trigger, grown, kind] of [
    [tokens(8000), { tokens: 799, messages: 90 }, "waiting"],
    [tokens(8000), { tokens: 800, messages: 1 }, "met"],
    [messages(50), { tokens: 90_000, messages: 4 }, "waiting"],
    [messages(50), { tokens: 1, messages: 5 }, "met"],
    [messages(9), { tokens: 90_000, messages: 0 }, "waiting"],
    [messages(9), { tokens: 1, messages: 1 }, "met"],
    [fraction(0.5), { tokens: 9_999, messages: 90 }, "waiting"],
    [fraction(0.5), { tokens: 10_000, messages: 1 }, "met"],
    [tokens(8000), null, "met"],
  ] as const) {
    assert.equal(check([trigger], { tokens: 150_000, messages: 300 }, grown).kind, kind, JSON.stringify(trigger));
  }
});

test("of several thresholds the one that need not wait starts the compaction", () => {
  const found = check([tokens(8000), messages(50)], { tokens: 9000, messages: 60 }, { tokens: 100, messages: 6 });
  assert.deepEqual(found, { kind: "met", threshold: messages(50) });
});

test("tokens speak of the conversation, a fraction of the whole request", () => {
  const outside = 2570;
  for (const [trigger, whole, kind] of [
    [tokens(4000), 6569, "below-trigger"],
    [tokens(4000), 6570, "met"],
    [fraction(0.02), 3999, "below-trigger"],
    [fraction(0.02), 4000, "met"],
  ] as const) {
    assert.equal(check([trigger], { tokens: whole, outside, messages: 10 }, null).kind, kind, JSON.stringify(trigger));
  }
});

test("the limits of a plan speak of the whole request, and the low-water mark is a share of what is left to talk in", () => {
  const window = { size: 8000, reserve: 1000 };
  const given = (trigger: Threshold[], outside: number) => {
    const limits = limitsOf(policyWith(trigger), window, outside);
    return [limits.trigger, limits.lowWater, limits.minGain];
  };
  assert.deepEqual(given([tokens(4000)], 0), [4000, 2400, 400]);
  assert.deepEqual(given([tokens(4000)], 1000), [5000, 3400, 400]);
  assert.deepEqual(given([tokens(6000)], 2570), [7001, 5228, 600]);
  assert.deepEqual(given([fraction(0.5)], 1000), [4000, 2800, 400]);
  assert.deepEqual(given([fraction(0.5), tokens(2000)], 1000), [3000, 2200, 200]);
  assert.deepEqual(given([messages(50)], 0), [7001, 4200, 800]);
  assert.deepEqual(limitsOf(policyWith([messages(50), messages(30)]), window, 0).messages, { trigger: 30, minGain: 3 });
});

function check(
  trigger: readonly Threshold[],
  fill: { readonly tokens: number; readonly messages: number; readonly outside?: number },
  grown: Growth | null,
) {
  return checkTrigger(policyWith(trigger), { outside: 0, ...fill }, grown, LARGE);
}

function policyWith(trigger: readonly Threshold[]): Policy {
  return {
    trigger,
    keep: messages(20),
    lowWater: 0.6,
    minGain: 0.1,
    maxSummaryTokens: null,
    summaryFormat: "pair",
  };
}
