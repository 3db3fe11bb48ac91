import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { clipColumns, columns, graphemes, padded, rowsOf } from "./output.ts";

test("wide letters and emoji take two columns, marks and colors none", () => {
  const cases: readonly (readonly [string, number])[] = [
    ["abc", 3],
    ["日本", 4],
    ["한국", 4],
    ["é", 1],
    ["👨‍👩‍👧", 2],
    ["❤️", 2],
    ["می‌خواهم", 7],
    ["\u001b[31mred\u001b[0m", 3],
    ["", 0],
  ];
  for (const [text, size] of cases) assert.equal(columns(text), size, text);
});

test("rows hold all of a line, each fits, and a style is no text", () => {
  const unit = fc.constantFrom("a", "日", "👩‍🚀", " ", "é", "\u001b[1m", "\u001b[0m");
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 60 }), fc.integer({ min: 2, max: 20 }), (pieces, room) => {
      const line = pieces.join("");
      const rows = rowsOf(line, room);
      assert.equal(rows.join(""), line);
      for (const row of rows) assert.ok(columns(row) <= room, row);
    }),
  );
});

test("what is too long is clipped at a whole character, what is short is filled up", () => {
  assert.equal(clipColumns("日本語です", 6), "日本…");
  assert.equal(clipColumns("short", 6), "short");
  assert.equal(padded("日", 4), "日  ");
  assert.deepEqual(graphemes("a👨‍👩‍👧é").length, 3);
});
