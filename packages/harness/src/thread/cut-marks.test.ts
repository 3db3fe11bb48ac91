import assert from "node:assert/strict";
import { test } from "node:test";
import { cutMarks, markedIndices } from "./window.ts";

test("marks stand behind the two passes that reached furthest; one that stays behind another moves none", () => {
  const table: [number[], number[]][] = [
    [[], []],
    [[40], [40]],
    [
      [40, 90],
      [40, 90],
    ],
    [
      [40, 90, 120],
      [90, 120],
    ],
    [
      [40, 90, 30],
      [40, 90],
    ],
    [
      [90, 40, 90, 120],
      [90, 120],
    ],
  ];
  for (const [reach, marks] of table) assert.deepEqual(cutMarks(reach), marks, String(reach));
});

test("the last message is marked, also where it is the only one; without messages there is no mark", () => {
  const prompt = { entries: [] };
  assert.deepEqual(markedIndices(prompt, [], []), []);
  assert.deepEqual(markedIndices(prompt, [{}], []), [0]);
  assert.deepEqual(markedIndices(prompt, [{}, {}, {}], [7]), [2]);
});
