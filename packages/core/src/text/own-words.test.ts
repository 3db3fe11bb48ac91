import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { plainWordEnd, plainWordTerm } from "./analyze.ts";
import { NOT_OWN, type OwnWordsOptions, ownWords, stem } from "./words.ts";

const TELLING: OwnWordsOptions = { quotes: "reported", paragraphs: "open" };
const WANTING: OwnWordsOptions = { quotes: "all", paragraphs: "strict" };

const PASTED: readonly (readonly [way: string, text: string])[] = [
  ["behind a request and a colon", "Summarize this email: My name is Bob and I live in Paris."],
  ["behind a request, as a paragraph", "Translate the following text.\n\nMy name is Bob. I live in Paris."],
  [
    "as a letter behind a question",
    "What should I answer?\n\nDear Ada,\nmy name is Bob and I live in Paris.\nBest, Bob",
  ],
  ["as a forwarded mail", "Is it spam?\nFrom: Bob\nSubject: Hello\nMy name is Bob and I live in Paris."],
  ["behind what a person wrote", "My boss wrote: my name is Bob and I live in Paris."],
  ["behind a rule of dashes", "Please check.\n---\nMy name is Bob and I live in Paris."],
  ["behind words that point to it", "I got this from a colleague. My name is Bob and I live in Paris."],
  ["in a fence", "Look:\n```\nMy name is Bob and I live in Paris.\n```"],
  ["as a chat with times in brackets", "bob [10:32 AM]\nmy name is Bob and I live in Paris\n\nwhat does he want?"],
  ["as a chat with a day", "bob \u2014 Today at 10:32\nmy name is Bob and I live in Paris\n\nwho is right?"],
  ["as a chat with names over lines", "Is it so?\nBob Miller 10:32 AM\nMy name is Bob.\nI live in Paris."],
  ["as lines of a log", "why?\n2026-11-18 12:00:01 INFO user=x My name is Bob and I live in Paris."],
  ["as lines of a relay chat", "10:32 <x> my name is Bob\n[10:33] <x> I live in Paris"],
  ["as a change", "+ My name is Bob.\n- I live in Paris.\nreview it"],
  ["as a post", "Posted by u/x 3 hours ago\nMy name is Bob. I live in Paris."],
  ["as a block quote", "Look:\n> My name is Bob and I live in Paris."],
];

for (const [way, text] of PASTED)
  test(`text that is pasted ${way} is not the user's own`, () => {
    for (const options of [TELLING, WANTING]) assert.doesNotMatch(ownWords(text, options), /Bob|Paris/);
  });

test("what users tell of themselves stays, in several paragraphs and with quoted names", () => {
  for (const text of [
    'I live in Paris.\n\nMy cat is called "Tom".',
    "Hi!\n\nI'm Bob, a baker.\n\nMy shop opens at six.",
    "My rules for you: I want short answers.",
    "Meet me at 10:30\nI am never late.",
    "I get up at 6:30.\nMy train leaves at 7:10.\n- I like trains\n- I like tea",
    `My name is Bob. ${"I bake bread every day. ".repeat(30)}\n\nI live in Paris.`,
  ])
    assert.equal(ownWords(text, TELLING), text);
});

test("of a long message only the first paragraph is sure to be what the user wants", () => {
  const text = `Always use tabs.\n\n${"More words of somebody. ".repeat(30)}\n\nNever use blanks.`;
  assert.match(ownWords(text, WANTING), /Always use tabs/);
  assert.doesNotMatch(ownWords(text, WANTING), /Never/);
});

test("every text keeps its length, and each character is its own or hidden", () => {
  const piece = fc.constantFrom(
    "I live here. ",
    "> x",
    "\n",
    "```",
    '"',
    "Bob said ",
    ": ",
    "\n\n",
    "Dear Ada,",
    "\u2028",
    "---",
    "a",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.constantFrom(TELLING, WANTING), (pieces, options) => {
      const text = pieces.join("");
      const own = ownWords(text, options);
      assert.equal(own.length, text.length);
      for (let at = 0; at < text.length; at += 1)
        assert.ok(own[at] === text[at] || own[at] === NOT_OWN || own[at] === "\n" || own[at] === "'");
    }),
  );
});

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
