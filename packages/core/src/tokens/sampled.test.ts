import assert from "node:assert/strict";
import { test } from "node:test";
import { charsPerToken } from "./chars.ts";
import { sampled } from "./sampled.ts";

test("a text of megabytes is counted by a bounded part of it, and comes to about the same", () => {
  let read = 0;
  const exact = charsPerToken(4);
  const counting = sampled((text) => {
    read += text.length;
    return exact(text);
  });
  const text = Array.from({ length: 200_000 }, (_, index) => `word ${index} 漢字 `).join("");
  const share = counting(text) / exact(text);
  assert.ok(share > 0.97 && share < 1.03, `${share}`);
  assert.ok(read <= 512_000, `${read}`);
});

test("a text up to half a million characters is counted as it is", () => {
  const text = "a b c ".repeat(80_000);
  assert.equal(sampled(charsPerToken(3.3))(text), charsPerToken(3.3)(text));
});
