import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { plain, printable, safeJson } from "./output.ts";

const JOINED = "👨‍👩‍👧 می‌خواهم क्‍ष \u200e";
const NASTY =
  "\u001b]0;owned\u0007 \u009b2J \r over \u202e gnp.exe \u2066 \u007f \b \u200b \u2028 \u2029 \u2060 \ufeff";
const STEERS = /(?![\n\t])[\p{Cc}\u200b\u2028-\u202e\u2060\u2066-\u2069\ufeff]/u;

test("joined emoji and letters are printed as they are", () => {
  assert.deepEqual([printable(JOINED), plain(JOINED), safeJson(JOINED)], [JOINED, JOINED, JOINED]);
});

test("nothing that steers a terminal is left of any text, lines and tabs stay where they may", () => {
  for (const safe of [printable, plain]) assert.doesNotMatch(safe(NASTY), STEERS);
  assert.equal(printable("a\tb\nc"), "a b\ufffdc");
  assert.equal(plain("a\tb\r\nc\rd"), "a\tb\nc\ufffdd");
});

test("JSON says the same with escapes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const value = { [text]: [text, NASTY] };
      const json = safeJson(JSON.stringify(value, null, 2));
      assert.doesNotMatch(json, STEERS);
      assert.deepEqual(JSON.parse(json), value);
    }),
  );
});
