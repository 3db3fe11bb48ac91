import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { snippet } from "./snippet.ts";

test("a short message is shown whole with its hits marked", () => {
  assert.equal(snippet("We painted the fence.", "who paints fences"), "We **painted** the **fence**.");
  assert.equal(snippet("see src/a-b.ts now", "src/a-b.ts", { marks: ["<", ">"] }), "see <src/a-b.ts> now");
});

test("of a long message the sentences with most of the asked words are shown", () => {
  const noise = "Nothing of interest was said here. ".repeat(40);
  const shown = snippet(`${noise}The harpsichord stood in the attic. ${noise}`, "harpsichord in the attic", {
    characters: 200,
  });
  assert.match(shown, /The \*\*harpsichord\*\* stood in the \*\*attic\*\*\./);
  assert.ok(shown.startsWith("… ") && shown.endsWith(" …"));
  assert.ok(shown.length < 230);
});

test("a long line without spaces is cut, never within a character", () => {
  for (const text of ["x".repeat(5_000), "😀".repeat(3_000), "日本".repeat(3_000)]) {
    const shown = snippet(text, "日本");
    assert.ok(shown.isWellFormed() && shown.length > 20);
  }
});

test("without its marks a snippet is a stretch of the message, for any message and question", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "fox ", "jumps. ", "\n", "日", "é", "😀", "\ud800", "E12 "),
    maxLength: 400,
  });
  fc.assert(
    fc.property(text, text, fc.integer({ min: 40, max: 200 }), (message, question, characters) => {
      const shown = snippet(message, question, { characters, marks: ["", ""] });
      const bare = shown.replace(/^… /, "").replace(/ …$/, "");
      assert.ok(message.includes(bare.trim()));
      assert.ok(bare.length <= characters);
    }),
  );
});
