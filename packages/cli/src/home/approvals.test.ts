import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { askedText } from "./talk.ts";

test("what a person is asked has every argument whole where it is short", () => {
  const asked = askedText({
    name: "write_file",
    input: { path: "a.txt", content: "one\ntwo", mode: 7 },
    reason: "why",
  });
  const lines = ["The agent wants to run write_file (why):", "  path: a.txt", "  content: one", "    two", "  mode: 7"];
  assert.equal(asked, lines.join("\n"));
});

test("of a long argument its beginning and its end are shown, and how much is left out", () => {
  const command = `echo hello; ${"# fill ".repeat(3000)}; rm -rf ~/notes`;
  const asked = askedText({ name: "bash", input: { command } });
  assert.match(asked, /command: echo hello/);
  assert.match(asked, /\(18,0\d\d characters not shown\)/);
  assert.match(asked, /rm -rf ~\/notes$/);
  const lines = askedText({ name: "bash", input: { command: `first${"\n".repeat(500)}last` } }).split("\n");
  assert.deepEqual([lines[1], lines.at(-1)], ["  command: first", "    last"]);
  assert.match(lines.join("\n"), /\(421 lines not shown\)/);
});

test("whatever a call holds, what is asked fits a few screens, and every argument ends as it does", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ maxLength: 300 }), fc.string({ maxLength: 9000, unit: "grapheme" }), { maxKeys: 40 }),
      fc.string({ maxLength: 500 }),
      (input, name) => {
        const asked = askedText({ name, input });
        assert.ok(asked.length < 1000 + 30 * 4000);
        const shown = Object.values(input).slice(0, 30);
        for (const value of shown) assert.ok(asked.includes(value.slice(-20).split("\n").at(-1)!));
        if (Object.keys(input).length > 30) assert.match(asked, /more arguments not shown/);
      },
    ),
    { numRuns: 30 },
  );
});
