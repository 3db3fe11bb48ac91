import assert from "node:assert/strict";
import { test } from "node:test";
import { type Block, markdownOf } from "./markdown.ts";
import { type Inline, inlinesOf, plainText } from "./markdown-inline.ts";

test("headings, lists, quotes, tables, code and rules are blocks", () => {
  const text = [
    "# Plan #",
    "Some **bold** words",
    "1. one",
    "   - nested",
    "2. two",
    "",
    "> quoted",
    "> - item",
    "",
    "| a | b |",
    "| --- | --: |",
    "| 1 | `x\\|y` |",
    "***",
    "```ts",
    "# not a heading",
    "```",
    "- [x] done",
    "- [ ] open",
  ].join("\n");
  assert.deepEqual(markdownOf(text).map(outline), [
    "h1 Plan",
    "p Some **bold** words",
    "ol1 [p one; ul [p nested]] [p two]",
    "quote p quoted; ul [p item]",
    "table a|b>; 1|`x|y`>",
    "rule",
    "code ts # not a heading",
    "ul [x p done] [_ p open]",
  ]);
});

test("an answer that is still written is read as far as it goes", () => {
  assert.deepEqual(markdownOf("Look:\n```js\nconst a").map(outline), ["p Look:", "code js const a"]);
  assert.deepEqual(markdownOf("| a | b |").map(outline), ["p | a | b |"]);
  assert.deepEqual(markdownOf("**bo").map(outline), ["p **bo"]);
});

test("what only looks like Markdown stays as it was written", () => {
  for (const text of ["snake_case_name", "2 * 3 * 4", "In\n1984. It was", "#hashtag", "a | b", "C:\\path", "<b>x</b>"])
    assert.deepEqual(markdownOf(text).map(outline), [`p ${text}`]);
  assert.equal(shown(inlinesOf("\\*no\\* `` a`b `` ~~gone~~ ***both***")), "*no* `a`b` ~gone~ **_both_**");
});

test("only addresses of the web and of mail are links, and a picture's address is left to the renderer", () => {
  assert.equal(shown(inlinesOf("[a](https://x.example/b_(c) 'title').")), "<https://x.example/b_(c)|a>.");
  assert.equal(
    shown(inlinesOf("See https://x.example/a. (https://y.example)")),
    "See <https://x.example/a|https://x.example/a>. (<https://y.example|https://y.example>)",
  );
  assert.equal(shown(inlinesOf("[m](mailto:a@b.example)")), "<mailto:a@b.example|m>");
  for (const address of [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,x",
    "/api/user",
    "//x.example",
    "vbscript:x",
    " javascript:x",
  ])
    assert.doesNotMatch(shown(inlinesOf(`[a](${address})`)), /^</);
  assert.equal(shown(inlinesOf("![a](/mnt/x.png)")), "!/mnt/x.png|a");
  assert.equal(
    shown(inlinesOf("[[a](https://x.example)](https://y.example)")),
    "<https://y.example|https://x.example>",
  );
});

test("hostile texts cost no more than long ones, and nothing of them is lost", () => {
  const texts = [
    "`".repeat(20_000),
    "*a ".repeat(7_000),
    "**".repeat(10_000),
    "[".repeat(20_000),
    "![](".repeat(5_000),
    "> ".repeat(10_000),
    "- ".repeat(10_000),
    "_a".repeat(10_000),
    "|".repeat(10_000),
    `|${"a|".repeat(500)}\n|${"-|".repeat(500)}\n`,
    "   ".repeat(7_000),
    "`a``b```c````".repeat(1_500),
    "\\".repeat(20_000),
    "~~".repeat(9_000),
    "# ".repeat(9_000),
  ];
  for (const text of texts) markdownOf(text);
  assert.equal(markdownOf("x".repeat(1_000)).map(outline).join(""), `p ${"x".repeat(1_000)}`);
  assert.match(JSON.stringify(markdownOf(`${"> ".repeat(50)}deep`)), /deep/);
});

function outline(block: Block): string {
  switch (block.kind) {
    case "heading":
      return `h${block.level} ${shown(block.inlines)}`;
    case "paragraph":
      return `p ${shown(block.inlines)}`;
    case "code":
      return `code ${block.language} ${block.text}`;
    case "quote":
      return `quote ${block.blocks.map(outline).join("; ")}`;
    case "rule":
      return "rule";
    case "list": {
      const items = block.items.map(({ done, blocks }) => {
        const task = done === null ? "" : done ? "x " : "_ ";
        return `[${task}${blocks.map(outline).join("; ")}]`;
      });
      return `${block.start === null ? "ul" : `ol${block.start}`} ${items.join(" ")}`;
    }
    case "table": {
      const row = (cells: typeof block.head) =>
        cells.map(({ align, inlines }) => shown(inlines) + (align === "right" ? ">" : "")).join("|");
      return `table ${[block.head, ...block.rows].map(row).join("; ")}`;
    }
  }
}

function shown(inlines: readonly Inline[]): string {
  return inlines.map(one).join("");
}

function one(inline: Inline): string {
  switch (inline.kind) {
    case "text":
      return inline.text;
    case "code":
      return `\`${inline.text}\``;
    case "strong":
      return `**${shown(inline.inlines)}**`;
    case "emphasis":
      return `_${shown(inline.inlines)}_`;
    case "strike":
      return `~${shown(inline.inlines)}~`;
    case "link":
      return `<${inline.address}|${shown(inline.inlines)}>`;
    case "picture":
      return `!${inline.address}|${inline.alt}`;
  }
}

test("as one line without signs, a text has its words alone", () => {
  assert.equal(
    plainText("taken off **after** tax, see `docs/a_b.md` and [the __list__](https://a.example)"),
    "taken off after tax, see docs/a_b.md and the list",
  );
  assert.equal(plainText("2 * 3 ** 4 and snake_case_name"), "2 * 3 ** 4 and snake_case_name");
});
