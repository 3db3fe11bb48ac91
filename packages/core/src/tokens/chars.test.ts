import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { charsPerToken } from "./chars.ts";

test("ordinary text is its length over the rate, rounded up", () => {
  assert.equal(charsPerToken(4)("12345"), 2);
  assert.equal(charsPerToken(3.3)("x".repeat(33)), 10);
  assert.equal(charsPerToken(4)("const answerReserve2 = getWindow(1024) / 8;\n".repeat(4)), 44);
  assert.equal(charsPerToken(4)(""), 0);
});

test("a rate that makes no sense is refused", () => {
  assert.throws(() => charsPerToken(0), RangeError);
  assert.throws(() => charsPerToken(Number.NaN), RangeError);
});

test("[F24] CJK, other scripts and hashes are denser than the rate", () => {
  const count = charsPerToken(4);
  assert.equal(count("漢字仮名交じり文"), 8);
  assert.equal(count("한국어"), 3);
  assert.equal(count("😀"), 2);
  assert.equal(count("привет"), 3);
  assert.equal(count("9e107d9d372bb6826bd81d3542a419d6"), 16);
});

test("a longer text never counts less, and none counts less than its length over the rate", () => {
  const text = fc.string({ unit: "grapheme" });
  fc.assert(
    fc.property(text, text, fc.double({ min: 0.5, max: 8, noNaN: true }), (first, second, rate) => {
      const count = charsPerToken(rate);
      assert.ok(count(`${first} ${second}`) >= count(first));
      assert.ok(count(first) >= Math.floor(first.length / rate));
    }),
  );
});
