import assert from "node:assert/strict";
import { test } from "node:test";
import { type AnswerFacts, type NextStep, nextStep } from "./answer.ts";

const answered: AnswerFacts = {
  status: 200,
  form: "whole",
  refuses: false,
  counted: true,
  length: "fit",
  attempt: 1,
};
const refused: AnswerFacts = { ...answered, status: 400, refuses: true };
const refusedInStream: AnswerFacts = { ...answered, form: "stream", refuses: true };

const cases: readonly (readonly [string, AnswerFacts, NextStep])[] = [
  ["an answer is handed on", answered, { again: "no", handOn: "whole" }],
  ["so is a stream", { ...answered, form: "stream" }, { again: "no", handOn: "stream" }],
  ["a refusal may be for the length", refused, { again: "if-shorter", handOn: "refusal" }],
  ["the third one too", { ...refused, attempt: 3 }, { again: "if-shorter", handOn: "refusal" }],
  ["the fourth is the client's", { ...refused, attempt: 4 }, { again: "no", handOn: "refusal" }],
  ["nothing is shortened that can't be counted", { ...refused, counted: false }, { again: "no", handOn: "refusal" }],
  ["nor where it isn't ours to do", { ...refused, length: "pass" }, { again: "no", handOn: "refusal" }],
  ["a refusal with a stream's type is one", { ...refused, form: "stream" }, { again: "if-shorter", handOn: "refusal" }],
  ["a stream that refuses may too", refusedInStream, { again: "if-shorter", handOn: "stream" }],
  ["and goes on as one", { ...refusedInStream, attempt: 4 }, { again: "no", handOn: "stream" }],
];

for (const [title, facts, expected] of cases)
  test(`what is done with an answer: ${title}`, () => assert.deepEqual(nextStep(facts), expected));
