import assert from "node:assert/strict";
import { test } from "node:test";
import { compactionWords, madeWords } from "./compaction-words.ts";

for (const [rung, reason, words] of [
  ["extract", "fraction 0.85", "The prompt had passed 85 % of the window; the summary was made without a model"],
  ["summarize", "tokens 100000", "The prompt had passed 100,000 tokens; a model wrote the summary"],
  ["prune", "messages 40", "There were more than 40 messages; older parts were shortened"],
  ["collapse", "overflow", "The provider said that the prompt is too long; open tool calls were folded"],
  ["mend", "other", "other; mend"],
] as const)
  test(`a compaction by ${rung} for ${reason} is told in words`, () =>
    assert.equal(compactionWords(rung, reason), words));

test("what a request says of its compaction is said in words", () => {
  assert.equal(madeWords("extract;1,178"), "the summary was made without a model, for #1 to #178");
  assert.equal(madeWords("of-tomorrow"), "of-tomorrow");
});
