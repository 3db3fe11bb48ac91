import assert from "node:assert/strict";
import { test } from "node:test";
import type { Keep, Policy, Threshold } from "@palimpsest/core/internal/compaction";
import { openaiRules, type Shape, shapeOf } from "@palimpsest/core/internal/message";
import { charsPerToken, createMeter } from "@palimpsest/core/internal/tokens";
import { randomConversation, render } from "@palimpsest/testing/internal/shapes";
import fc from "fast-check";
import { brokenSettings } from "../../test/playback/settings-judge.ts";
import { playSettings } from "../../test/playback/settings-playback.ts";
import { misbehavingWriter } from "../../test/playback/summarizers.ts";

const shape = shapeOf("openai") as Shape<object>;
const messages = (value: number): Threshold => ({ type: "messages", value });
const tokens = (value: number): Threshold => ({ type: "tokens", value });
const fraction = (value: number): Threshold => ({ type: "fraction", value });

const TRIGGERS: readonly (readonly Threshold[])[] = [
  [tokens(2000)],
  [tokens(4000)],
  [messages(30)],
  [messages(50)],
  [fraction(0.7)],
  [fraction(0.85)],
  [tokens(3000), messages(40)],
];
const KEEPS: readonly Keep[] = [
  messages(20),
  messages(6),
  tokens(1500),
  tokens(1000),
  fraction(0.3),
  [messages(6), fraction(0.25)],
  [messages(10)],
];

test("whatever is said: no request is over its trigger by more than a turn, no promise is broken while there is room, no ceiling exceeded", async () => {
  const scenario = fc.record({
    seed: fc.nat(),
    length: fc.constantFrom(80, 160),
    longest: fc.constantFrom(150, 400, 1500),
    window: fc.constantFrom(4000, 8000, 32_000, 200_000),
    fixed: fc.constantFrom(0, 300, 1200),
    trigger: fc.constantFrom(...TRIGGERS),
    keep: fc.constantFrom(...KEEPS),
    drafts: fc.constantFrom("ahead" as const, "none" as const),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async ({ seed, length, longest, window: size, fixed, trigger, keep, drafts }) => {
      const script = randomConversation(seed, {
        messages: length,
        longest,
        parallel: 3,
        wild: false,
        dangling: 0,
        system: 0.2,
      });
      const policy: Policy = { ...POLICY, trigger, keep };
      const window = { size, reserve: size / 8 };
      const report = await playSettings({
        messages: render(script, shape),
        shape,
        rules: openaiRules,
        window,
        fixed,
        policy,
        drafts,
        meter: createMeter(shape, { counter: charsPerToken(4) }),
        writer: misbehavingWriter("extractive", size),
      });
      assert.deepEqual(brokenSettings(report, { policy, window }), []);
    }),
    { numRuns: 150, examples: [[SMALL_GAIN]] },
  );
});

const POLICY = { lowWater: 0.6, minGain: 0.1, maxSummaryTokens: null, summaryFormat: "pair" } as const;

/** What is hidden is small: quotes beside its summary made up for the gain, and the promise gave way. */
const SMALL_GAIN = {
  seed: 1422979888,
  length: 80,
  longest: 400,
  window: 32_000,
  fixed: 0,
  trigger: [messages(50)],
  keep: tokens(1500),
  drafts: "ahead",
} as const;
