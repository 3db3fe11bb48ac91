import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { foundWords, inBold } from "./found-words.ts";

test("the words that matched are told by their place; the snippet is the message's own text", () => {
  const { snippet, marks } = foundWords("The **old** mill has four wheels.", "mill wheels");
  assert.equal(snippet, "The **old** mill has four wheels.");
  assert.deepEqual(
    marks.map(([start, end]) => snippet.slice(start, end)),
    ["mill", "wheels"],
  );
});

test("on a terminal they are bold, and nothing in the message can steer it", () => {
  const found = foundWords("mill \u001b[31m red", "mill");
  const shown = inBold(found);
  assert.ok(shown.startsWith("\u001b[1mmill\u001b[22m"));
  assert.equal(shown.split("\u001b").length, 3);
});

test("whatever the text, places lie inside the snippet, in order, and without marks it is a piece of the text", () => {
  const text = fc.string({
    unit: fc.constantFrom("mill ", "wheel ", "\u0001", "\u0002", ". ", "x", "\n"),
    maxLength: 200,
  });
  fc.assert(
    fc.property(text, (said) => {
      const { snippet, marks } = foundWords(said, "mills and a wheel");
      assert.ok(said.includes(snippet.replace(/^… /, "").replace(/ …$/, "")));
      for (const [start, end] of marks) assert.match(snippet.slice(start, end), /^(?:mill|wheel)/);
    }),
    { numRuns: 200 },
  );
});
