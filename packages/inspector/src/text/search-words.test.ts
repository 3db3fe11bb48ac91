import assert from "node:assert/strict";
import { test } from "node:test";
import { unmarkedWords } from "./search-words.ts";

test("words that no hit has are named once, in any form and as few as can be asked about", () => {
  const hits = [{ snippet: "We deployed it", marks: [[3, 11]] }];
  assert.deepEqual(unmarkedWords("deploy KUBERNETES kubernetes it", hits), ["kubernetes"]);
  assert.deepEqual(unmarkedWords("one two three four five six", []).length, 4);
  assert.deepEqual(unmarkedWords("", [{ snippet: "x", marks: ["odd", null] }]), []);
});
