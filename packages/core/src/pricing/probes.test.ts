import assert from "node:assert/strict";
import { test } from "node:test";
import { answersIn, findProbes, type ProbedMessage } from "./probes.ts";

const said = (text: string, uses = true, quoted = ""): ProbedMessage => ({ text, quoted, uses });
const between = (count: number): ProbedMessage[] => Array.from({ length: count }, () => said("words only", false));
const probes = (messages: readonly ProbedMessage[]) =>
  findProbes(messages).map(({ at, term, kind }) => [at, term, kind]);

test("a use is distant when more than 20 messages lie between it and the last sight", () => {
  const first = said("see fooBar", false);
  assert.deepEqual(probes([first, ...between(19), said("use fooBar")]), [[20, "fooBar", "near"]]);
  assert.deepEqual(probes([first, ...between(20), said("use fooBar")]), [[21, "fooBar", "distant"]]);
});

test("what a tool's output names, and what is named for the first time, asks nothing", () => {
  assert.deepEqual(probes([said("fooBar", false), ...between(30), said("fooBar", false)]), []);
  assert.deepEqual(probes([...between(30), said("fooBar")]), []);
});

test("paths, identifiers, numbers and error lines are terms, plain words are not", () => {
  const text = "plain words\nsrc/a/b.ts snake_case camelCase 8443\nerror: the disk is full";
  const terms = [...answersIn(text)];
  for (const term of ["src/a/b.ts", "snake_case", "camelCase", "8443", "error: the disk is full"])
    assert.ok(terms.includes(term), term);
  for (const word of ["plain", "words", "error", "disk"]) assert.ok(!terms.includes(word), word);
});

test("a line quoted word for word needs the line, not only its names", () => {
  const line = "const total = sumOf(items) + 1;";
  assert.deepEqual(probes([said(line, false), said(`edit\n${line}`, true, line)]), [
    [1, "sumOf", "near"],
    [1, line, "quote"],
  ]);
});
