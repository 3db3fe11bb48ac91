import assert from "node:assert/strict";
import { test } from "node:test";
import { drawn, markup } from "./drawn.ts";

test("a drawing is written as markup: attributes and words escaped, what is empty closed at once", () => {
  const hint = drawn("title", {}, `a < b & "c"`);
  assert.equal(
    markup(drawn("circle", { r: "4", class: `x"y` }, hint, drawn("line", {}))),
    `<circle r="4" class="x&quot;y"><title>a &lt; b &amp; &quot;c&quot;</title><line/></circle>`,
  );
});
