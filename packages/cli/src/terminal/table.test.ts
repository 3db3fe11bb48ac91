import assert from "node:assert/strict";
import { test } from "node:test";
import { columns } from "./output.ts";
import { table, titleCell } from "./table.ts";

test("cells of wide letters are filled up by the columns they take", () => {
  const lines = table(
    ["name", "no"],
    [
      ["日本", "1"],
      ["abcdef", "2"],
    ],
  ).split("\n");
  assert.deepEqual(lines, ["name    no", "日本    1", "abcdef  2"]);
});

test("a title is cut by the columns it takes, whatever its letters", () => {
  assert.equal(columns(titleCell("日".repeat(60))), 59);
  assert.equal(columns(titleCell("a".repeat(80))), 60);
  assert.equal(titleCell("short"), "short");
});
