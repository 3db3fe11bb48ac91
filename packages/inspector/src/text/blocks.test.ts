import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Block, blocksOf } from "./blocks.ts";

const plain = (text: string): Block => ({ kind: "text", runs: [{ kind: "plain", text }] });
const code = (text: string, language = ""): Block => ({ kind: "code", language, text });

for (const [what, text, blocks] of [
  ["nothing", "", []],
  ["paragraphs stay together", "a\n\nb", [plain("a\n\nb")]],
  ["code between fences", "a\n```ts\nlet x;\n```\nb", [plain("a"), code("let x;", "ts"), plain("b")]],
  ["a fence that is still open", "a\n```\nx\ny", [plain("a"), code("x\ny")]],
  ["a longer fence holds a shorter one", "````\n```\n````", [code("```")]],
  ["markup is text", "<img src=x onerror=alert(1)>", [plain("<img src=x onerror=alert(1)>")]],
  ["a backtick alone is a sign", "it`s", [plain("it`s")]],
  ["three backticks within a line are no fence", "a ``` b", [plain("a ``` b")]],
] as const)
  test(`a text in blocks: ${what}`, () => {
    const joined = blocksOf(text).map((block) =>
      block.kind === "code" ? block : plain(block.runs.map((run) => run.text).join("")),
    );
    assert.deepEqual(joined, blocks);
  });

test("code within a line is told apart", () => {
  assert.deepEqual(blocksOf("run `npm test` now"), [
    {
      kind: "text",
      runs: [
        { kind: "plain", text: "run " },
        { kind: "code", text: "npm test" },
        { kind: "plain", text: " now" },
      ],
    },
  ]);
});

test("no letter of a text is lost or made up, whatever it is", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "`", "\n", "```", "~~~", " ", "<b>")), (pieces) => {
      const text = pieces.join("");
      const shown = blocksOf(text).flatMap((block) =>
        block.kind === "code" ? [block.language, block.text] : block.runs.map((run) => run.text),
      );
      const letters = (value: string) => [...value].filter((sign) => sign === "a" || sign === "<").join("");
      assert.equal(letters(shown.join("")), letters(text));
    }),
  );
});
