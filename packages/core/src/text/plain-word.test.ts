import assert from "node:assert/strict";
import { test } from "node:test";
import { plainWordEnd, plainWordTerm } from "./plain-word.ts";
import { stem } from "./stem.ts";

test("of many more words than are remembered each has its own term, however often it comes and whether it begins a sentence", () => {
  const letters = "abcdefghijklmnopqrst";
  const words = Array.from({ length: 160_000 }, (_, at) =>
    [at % 20, (at / 20) % 20, (at / 400) % 20, at / 8000].map((index) => letters[Math.floor(index)]!).join(""),
  );
  for (const word of words) assert.equal(termIn(`${word}ly`), stem(`${word}ly`));
  for (const word of words.slice(0, 1000)) {
    assert.equal(termIn(`${word}ly`), stem(`${word}ly`));
    assert.equal(termIn(`${word[0]!.toUpperCase()}${word.slice(1)}ly`), stem(`${word}ly`));
  }
});

test("a stop word has no term, a number is its own", () => {
  assert.equal(termIn("The"), "");
  assert.equal(termIn("2024"), "2024");
});

test("only what is surely no part of a compound is a plain word", () => {
  for (const text of ["word", "Word ", "word\n", "word. ", "A", "42, "])
    assert.equal(plainWordEnd(text, 0), /\w+/.exec(text)![0].length, text);
  for (const text of ["", " word", "WORD", "camelCase", "word-s", "word.ts", "word)", "naïve", "4th", "v4", "1.5"])
    assert.equal(plainWordEnd(text, 0), 0, text);
});

function termIn(word: string): string {
  const text = `so ${word}, then`;
  return plainWordTerm(text, 3, plainWordEnd(text, 3));
}
