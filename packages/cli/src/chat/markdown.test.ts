import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createMarkdown, type MarkdownOptions } from "./markdown.ts";

function shown(pieces: readonly string[], options: Partial<MarkdownOptions> = {}): string {
  const markdown = createMarkdown({ color: false, width: () => 40, ...options });
  return (pieces.map((piece) => markdown.push(piece)).join("") + markdown.end()).replaceAll("\u001b", "ESC");
}

test("headings, bold, code and lists lose their marks and gain a style", () => {
  const text = "# Title\n- take **two** of `these`\n";
  assert.equal(shown([text]), "Title\n• take two of these\n");
  const styled = shown([text], { color: true });
  assert.match(styled, /ESC\[1mTitle/);
  assert.match(styled, /ESC\[1mtwoESC\[22m of ESC\[36mtheseESC\[39m/);
});

test("code in a fence stays as it is, spaces and stars included, without the fence", () => {
  const code = "Look:\n```ts\nconst a  =  b ** c; // # no title\n\n  | indented [x](y)\n```\nEnd\n";
  assert.equal(shown([code]), "Look:\n  const a  =  b ** c; // # no title\n\n    | indented [x](y)\nEnd\n");
});

test("emphasis and links lose their marks, also over several words; what is no mark stays", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["an *old* mill", "an old mill"],
    ["an *old and quiet* mill", "an old and quiet mill"],
    ["_so_, then", "so, then"],
    ["see [the docs](http://a.b/c) now", "see the docs (http://a.b/c) now"],
    ["[http://a.b](http://a.b)", "http://a.b"],
    ["2 * 3 * 4", "2 * 3 * 4"],
    ["snake_case and [1] stay", "snake_case and [1] stay"],
    ["call *args once", "call *args once"],
    ["`[a](b)` is code", "[a](b) is code"],
  ];
  for (const [text, expected] of cases) assert.equal(shown([text], { width: () => 80 }), expected, text);
  assert.match(shown(["an *old* [mill](x)"], { color: true }), /ESC\[3moldESC\[23m ESC\[4mmillESC\[24m \(x\)/);
});

test("a table has aligned columns, and cells too wide for the terminal are broken into lines", () => {
  const text =
    "Before\n| part | what it does |\n|---|:--|\n| mill | turns **four** wheels of oak all day long |\n| 水車 | `x` |\nAfter\n";
  assert.equal(
    shown([text], { width: () => 30 }),
    [
      "Before",
      "part  what it does",
      "────  ────────────────────────",
      "mill  turns four wheels of oak",
      "      all day long",
      "水車  x",
      "After",
      "",
    ].join("\n"),
  );
  assert.equal(shown(["| no table\nAfter"]), "| no table\nAfter");
  assert.equal(shown(["| a | b |\n|---|---|\n| 1 | 2 |"]), "a  b\n─  ─\n1  2");
});

test("a long line breaks between words, and a list goes on under its text", () => {
  const lines = shown([`- ${"word ".repeat(20)}`]).split("\n");
  assert.ok(lines.length > 1 && lines.every((line) => line.length <= 40));
  assert.ok(lines.slice(1).every((line) => line.startsWith("  word")));
});

test("a numbered item goes on under its text", () => {
  const lines = shown([`12. ${"word ".repeat(20)}`]).split("\n");
  assert.ok(lines.length > 1 && lines.slice(1).every((line) => line.startsWith("    word")), lines.join("\n"));
});

test("a mark that is never closed ends with its line", () => {
  assert.match(shown(["**open\nnext"], { color: true }), /openESC\[22;23;24;39m\nnext$/);
});

test("however the text is cut into pieces, the same is shown and no word is lost", () => {
  // What stands behind a fence names a language, which isn't shown.
  const word = fc.stringMatching(/^[a-z#>*`_()[\]-]{1,8}$/).filter((one) => !one.startsWith("```"));
  fc.assert(
    fc.property(fc.array(word, { maxLength: 40 }), fc.infiniteStream(fc.integer({ min: 1, max: 7 })), (words, cuts) => {
      const text = words.map((one, index) => one + (index % 7 === 6 ? "\n" : " ")).join("");
      const pieces: string[] = [];
      for (let at = 0; at < text.length; ) {
        const size = cuts.next().value;
        pieces.push(text.slice(at, at + size));
        at += size;
      }
      const whole = shown([text]);
      assert.equal(shown(pieces), whole);
      const letters = (given: string): string => given.replaceAll(/[^a-z]/g, "");
      assert.equal(letters(whole), letters(text));
    }),
  );
});

test("an escape sequence in an answer can't reach the terminal", () => {
  for (const width of [() => 40, null]) assert.doesNotMatch(shown(["a\u001b[2Jb"], { width }), /ESC/);
});
