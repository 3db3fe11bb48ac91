import assert from "node:assert/strict";
import { test } from "node:test";
import { type Meaning, meaningOf, wordsIn } from "./slash.ts";

const call = "call-1";
const say = (text: string) => ({ kind: "say", text }) as const;
const verdict = (word: "yes" | "no" | "always") => ({ kind: "verdict", call, verdict: word }) as const;

const cases: readonly (readonly [string | null, string | null, Meaning<string>])[] = [
  [null, null, { kind: "quit" }],
  [null, call, { kind: "quit" }],
  ["/quit", call, { kind: "quit" }],
  ["", null, { kind: "nothing" }],
  ["  \n", call, { kind: "nothing" }],
  ["hello", null, say("hello")],
  ["yes", null, say("yes")],
  ["yes", call, verdict("yes")],
  [" N ", call, verdict("no")],
  ["a", call, verdict("always")],
  ["do something else", call, say("do something else")],
  ["//no command", null, say("/no command")],
  ["//help\nand more", null, say("/help\nand more")],
  ["///no command", null, say("//no command")],
  ["// a comment", null, say("// a comment")],
  ["/nothing-like-it", null, say("/nothing-like-it")],
  ["/nope", call, { kind: "unknown", name: "nope" }],
];

for (const [line, waiting, meaning] of cases)
  test(`a line in a chat: ${JSON.stringify(line)}${waiting === null ? "" : ", while a call waits"}`, () =>
    assert.deepEqual(meaningOf(line, waiting), meaning));

test("a command keeps its argument, also while a call waits", () => {
  const meaning = meaningOf("/search  the harbor ", call);
  assert.ok(meaning.kind === "command" && meaning.command.name === "search" && meaning.argument === "the harbor");
});

test("what a command wants said is said, whatever it begins with", () => {
  assert.deepEqual(wordsIn("/quit"), say("/quit"));
  assert.deepEqual(wordsIn(" "), { kind: "nothing" });
});
