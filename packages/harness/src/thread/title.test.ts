import assert from "node:assert/strict";
import { test } from "node:test";
import { erasedState } from "@palimpsest/core/internal/log";
import { titleOf } from "./title.ts";

/** Whether it goes with the message it is made of. */
function isTitleOf(title: string, text: string): boolean {
  const message = { seq: 1, id: "m" };
  return erasedState({ title }, { message, names: new Set(), texts: [text], blocks: "named" }) !== null;
}

for (const [name, text, limits, expected] of [
  ["its first sentence", "Fix the parser, please. Then rest.", {}, "Fix the parser, please"],
  ["its first words", "one two three four five six seven eight", { maxWords: 6 }, "one two three four five six…"],
  ["as many words as it has", "one two three", { maxWords: 6 }, "one two three"],
  ["a list's words without the last comma", "apples, pears, plums, figs", { maxWords: 2 }, "apples, pears…"],
  ["what fits", "a".repeat(80), {}, `${"a".repeat(59)}…`],
  ["nothing where there are no words", " \n\t ", {}, ""],
] as const) {
  test(`a thread is named by ${name}`, () => {
    const title = titleOf(text, limits);
    assert.equal(title, expected);
    assert.equal(isTitleOf(title, text), expected !== "");
  });
}

test("a first message of 30 MB without a full stop has a title", () => {
  const text = `${" ".repeat(1000)}${"word ".repeat(6_000_000)}`;
  assert.equal(titleOf(text), `${"word ".repeat(10)}word…`);
  assert.ok(isTitleOf(titleOf(text), text));
});
