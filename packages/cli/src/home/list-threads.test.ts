import assert from "node:assert/strict";
import { test } from "node:test";
import { matcherOf } from "./list-threads.ts";

test("a pattern's stars stand for anything, and a name without one for itself alone", () => {
  for (const [pattern, yes, no] of [
    ["ft-*", ["ft-", "ft-12"], ["ft", "xft-1"]],
    ["*-old", ["-old", "a-old"], ["a-old-1"]],
    ["a*b*c", ["abc", "a1b2c", "abbc"], ["ac", "acb"]],
    ["*", ["", "x"], []],
    ["a*a", ["aa", "aba"], ["a"]],
    ["plain", ["plain"], ["plainer"]],
    ["a.c", ["a.c"], ["abc"]],
  ] as const) {
    const matches = matcherOf(pattern);
    for (const id of yes) assert.ok(matches(id), `${pattern} ${id}`);
    for (const id of no) assert.ok(!matches(id), `${pattern} ${id}`);
  }
});
