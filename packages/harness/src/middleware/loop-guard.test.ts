import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { judgeCall, type SeenCall } from "./basics.ts";

const seen = (calls: string, result: (call: string, index: number) => string = (call) => call): SeenCall[] =>
  [...calls].map((call, index) => ({ call, result: result(call, index) }));

describe("going round in circles", () => {
  const table: readonly (readonly [string, string, string])[] = [
    ["", "a", "fine"],
    ["a", "a", "fine"],
    ["aa", "a", "warn 1 3"],
    ["aaa", "a", "warn 1 4"],
    ["aaaa", "a", "stop 1 5"],
    ["aaab", "a", "fine"],
    ["xaa", "a", "warn 1 3"],
    ["abab", "a", "warn 2 3"],
    ["aba", "b", "fine"],
    ["abababab", "a", "stop 2 5"],
    ["abcabc", "a", "warn 3 3"],
    ["abcdabcd", "a", "warn 4 3"],
    ["abcdeabcde", "a", "fine"],
    ["abcabd", "a", "fine"],
  ];
  for (const [before, next, expected] of table) {
    it(`after "${before}", "${next}" is ${expected}`, () => {
      const verdict = judgeCall(seen(before), next);
      assert.equal(verdict.kind === "fine" ? "fine" : `${verdict.kind} ${verdict.period} ${verdict.times}`, expected);
    });
  }

  it("the same call with another result is progress", () => {
    assert.deepEqual(
      judgeCall(
        seen("aaaaaaaa", (_, index) => String(index)),
        "a",
      ),
      { kind: "fine" },
    );
    assert.deepEqual(
      judgeCall(
        seen("abababab", (call, index) => (call === "b" ? String(index) : "")),
        "a",
      ),
      { kind: "fine" },
    );
  });

  it("every cycle that is short enough is stopped in the end, whatever came before", () => {
    const letters = (max: number) => fc.array(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: max });
    fc.assert(
      fc.property(letters(10), letters(4), (before, cycle) => {
        const history = seen(before.join(""));
        for (let round = 0; round < 7; round++) {
          for (const call of cycle) {
            if (judgeCall(history, call).kind === "stop") return;
            history.push({ call, result: call });
          }
        }
        assert.fail("never stopped");
      }),
    );
  });
});
