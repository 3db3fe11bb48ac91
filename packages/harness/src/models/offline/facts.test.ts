import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { factsIn } from "./situation.ts";

const contents = (text: string) => factsIn(text).map(({ content }) => content);

test("facts are found where people tell them plainly", () => {
  assert.deepEqual(contents("Hi, my name is Grace Hopper."), ["The user's name is Grace Hopper"]);
  assert.deepEqual(contents("please call me Ace!"), ["The user wants to be called Ace"]);
  assert.deepEqual(contents("I prefer dark mode, and I work at Acme GmbH."), [
    "The user prefers dark mode",
    "The user works at Acme GmbH",
  ]);
  assert.deepEqual(contents("I'm living in São Paulo; I don't like olives"), [
    "The user dislikes olives",
    "The user lives in São Paulo",
  ]);
  assert.deepEqual(contents("I'm allergic to nuts"), ["The user is allergic to nuts"]);
  assert.deepEqual(contents("my favourite color is green"), ["The user's favourite color is green"]);
});

test("requests and talk of others are no facts", () => {
  for (const text of ["run echo hello", "Her name is Eve", "call me when it is done", "the team works at night"])
    assert.deepEqual(contents(text), [], text);
});

test("a fact that is to be forgotten is no fact, one that is not to be forgotten is", () => {
  assert.deepEqual(contents("Forget that I live in Bremen."), []);
  assert.deepEqual(contents("Please forget that I live in Bremen. I live in Oslo."), ["The user lives in Oslo"]);
  assert.deepEqual(contents("Don't forget that I live in Bremen."), ["The user lives in Bremen"]);
  assert.deepEqual(contents("Forget the report, I live in Bremen."), ["The user lives in Bremen"]);
});

test("any text is read, each fact once, quoted from the text", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("I live in Rome.", "call me Bo", ""),
      (noise, told) => {
        const text = `${noise}\n${told}\n${told}`;
        const facts = factsIn(text);
        assert.equal(new Set(facts.map(({ content }) => content)).size, facts.length);
        for (const { quote } of facts) assert.ok(text.includes(quote));
      },
    ),
  );
});
