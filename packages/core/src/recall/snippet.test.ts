import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createSnippets, type Snippet } from "./search.ts";

test("a short message is shown whole, with the places of the words that matched", () => {
  assert.equal(marked(createSnippets("who paints fences")("We painted the fence.")), "We <painted> the <fence>.");
  assert.equal(marked(createSnippets("src/a-b.ts")("  see src/a-b.ts now ")), "see <src/a-b.ts> now");
});

test("of a long message the sentences with most of the asked words are shown", () => {
  const noise = "Nothing of interest was said here. ".repeat(40);
  const show = createSnippets("harpsichord in the attic", { characters: 200 });
  const snippet = show(`${noise}The harpsichord stood in the attic. ${noise}`);
  assert.match(marked(snippet), /The <harpsichord> stood in the <attic>\./);
  assert.ok(snippet.text.startsWith("… ") && snippet.text.endsWith(" …"));
  assert.ok(snippet.text.length < 230);
});

test("a long line without spaces is cut, never within a character", () => {
  for (const text of ["x".repeat(5_000), "😀".repeat(3_000), "日本".repeat(3_000)]) {
    const snippet = createSnippets("日本")(text);
    assert.ok(snippet.text.isWellFormed() && snippet.text.length > 20);
  }
});

test("a snippet is a piece of the message, and its marks lie in it in order, for any message and question", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "fox ", "jumps. ", "\n", "日", "é", "😀", "\ud800", "E12 "),
    maxLength: 400,
  });
  fc.assert(
    fc.property(text, text, fc.integer({ min: 40, max: 200 }), (message, question, characters) => {
      const snippet = createSnippets(question, { characters })(message);
      const bare = snippet.text.replace(/^… /, "").replace(/ …$/, "");
      assert.ok(message.includes(bare.trim()));
      assert.ok(bare.length <= characters);
      const places = snippet.marks.flat();
      assert.deepEqual(
        places,
        places.toSorted((a, b) => a - b),
      );
      for (const [start, end] of snippet.marks) assert.match(snippet.text.slice(start, end), /^\S+$/u);
    }),
  );
});

function marked({ text, marks }: Snippet): string {
  return marks.toReversed().reduce((out, [start, end]) => {
    return `${out.slice(0, start)}<${out.slice(start, end)}>${out.slice(end)}`;
  }, text);
}
