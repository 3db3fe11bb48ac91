import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesAt, integerAt, integerOrNull, textAt, textOrNull } from "./rows.ts";

const row = { num: 7, id: "t", hash: new Uint8Array([1]), title: null };

test("a cell is read as its column's type", () => {
  assert.deepEqual([integerAt(row, "num"), textAt(row, "id"), bytesAt(row, "hash")], [7, "t", new Uint8Array([1])]);
});

test("a cell of another type, a missing column and a missing row are an error that names the column", () => {
  assert.throws(() => integerAt(row, "id"), { name: "SyntaxError", message: "column id holds string" });
  assert.throws(() => textAt(row, "title"), { name: "SyntaxError", message: "column title holds null" });
  assert.throws(() => bytesAt(row, "other"), { name: "SyntaxError", message: "column other holds undefined" });
  assert.throws(() => integerAt(undefined, "num"), { name: "SyntaxError" });
});

test("an empty cell and a missing row are null where null is allowed, another type is still an error", () => {
  assert.deepEqual(
    [textOrNull(row, "title"), integerOrNull(undefined, "num"), integerOrNull(row, "num")],
    [null, null, 7],
  );
  assert.throws(() => integerOrNull(row, "id"), { name: "SyntaxError" });
});
