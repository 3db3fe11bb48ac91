import assert from "node:assert/strict";
import { test } from "node:test";
import { termsIn } from "./terms.ts";

test("terms hold words, names, last steps of paths and pairs of CJK letters", () => {
  const found = termsIn("Read src/main.ts 数据库");
  for (const term of ["read", "src/main.ts", "main.ts", "数据", "据库"]) assert.ok(found.has(term), term);
});
