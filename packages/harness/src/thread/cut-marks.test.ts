import assert from "node:assert/strict";
import { test } from "node:test";
import { cutMarks } from "./window.ts";

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
