import assert from "node:assert/strict";
import { test } from "node:test";
import type { LearnedLimits } from "@palimpsest/core/internal/tokens";
import fc from "fast-check";
import {
  type Accepted,
  contradicts,
  createModelWindow,
  NOTHING_ACCEPTED,
  type ProviderRefusal,
  withAccepted,
} from "./window.ts";

const refused = (limit: number, counted: number): ProviderRefusal => ({ limit, from: "stated", counted });
const accepted = (...prompts: (readonly [reported: number | null, counted: number])[]): Accepted =>
  prompts.reduce((known, [reported, counted]) => withAccepted(known, { reported, counted }), NOTHING_ACCEPTED);

for (const [name, refusal, taken, expected] of [
  ["nothing was taken", refused(100, 120), accepted(), false],
  ["less was reported", refused(900, 1_000), accepted([800, 850]), false],
  ["more was reported", refused(700, 750), accepted([800, 850]), true],
  ["the same count was taken without a report", refused(849, 850), accepted([null, 850]), true],
  ["a smaller count was taken without a report", refused(899, 900), accepted([null, 850]), false],
  ["less than half of what was taken is stated", refused(400, 900), accepted([null, 850]), true],
  ["the largest of several counts", refused(700, 750), accepted([null, 800], [null, 300]), true],
] as const)
  test(`a stated limit is${expected ? " not" : ""} believed: ${name}`, () => {
    assert.equal(contradicts(refusal, taken), expected);
  });

test("a provider that refuses whatever it likes never brings the window below what it took, with and without reports", () => {
  const prompts = fc.array(fc.record({ share: fc.double({ min: 0.05, max: 1, noNaN: true }), refuses: fc.boolean() }), {
    minLength: 1,
    maxLength: 60,
  });
  fc.assert(
    fc.property(prompts, fc.boolean(), (asked, reports) => {
      let kept: LearnedLimits = {};
      const limitsStore = {
        read: () => kept,
        keep: (limits: LearnedLimits) => {
          kept = limits;
        },
      };
      const modelWindow = createModelWindow({
        endpoint: { provider: "openai", baseUrl: null, model: "m" },
        window: () => 16_000,
        reserve: () => 0,
        clock: () => new Date(0),
        limitsStore,
      });
      let most = 0;
      for (const { share, refuses } of asked) {
        const counted = Math.max(1, Math.floor(share * modelWindow.window().size));
        if (refuses) modelWindow.learn(refused(counted - 1, counted));
        else {
          modelWindow.accept({ reported: reports ? counted : null, counted });
          most = Math.max(most, counted);
        }
        assert.ok(modelWindow.window().size >= most);
      }
    }),
  );
});
