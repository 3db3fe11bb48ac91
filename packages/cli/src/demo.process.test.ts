import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { desk } from "../test/binary.ts";
import { demoPrompts } from "./demo/play.ts";
import { columns } from "./terminal/output.ts";

test("the demo outgrows its window, compacts, finds the first words again, undoes, remembers a fact in another thread, and replays word for word", async (t) => {
  const { json } = desk(t);
  const { code, document } = await json("demo", "--seasons", "1");
  assert.equal(code, 0);
  type Freed = { readonly tokensBefore: number; readonly tokensAfter: number };
  const { window, tokens, largest, compactions } = document as Record<string, number> & { compactions: Freed[] };
  // What fits under the low-water mark stays, so each frees what lies between mark and trigger: a sixth of the window at least.
  assert.ok(compactions.length > 0 && compactions.length <= 7, `${compactions.length} compactions`);
  for (const { tokensBefore, tokensAfter } of compactions) assert.ok(tokensBefore - tokensAfter >= window! / 6);
  assert.ok(tokens! > window! && largest! <= window!);
  const { recalled, undone, remembered, identical, chain } = document;
  assert.deepEqual(
    { recalled, undone, remembered, identical, chain },
    {
      recalled: true,
      undone: true,
      remembered: true,
      identical: true,
      chain: "whole",
    },
  );
});

test("a stranger sees what it is for first: the first words found again, a bar before and after, in at most 25 lines before the table", async (t) => {
  const { code, stdout } = await desk(t).run("demo", "--seasons", "1");
  assert.equal(code, 0);
  const lines = stdout.slice(0, stdout.indexOf("what  ")).trimEnd().split("\n");
  assert.ok(lines.length <= 25, `${lines.length} lines`);
  for (const line of lines) assert.ok(columns(line) <= 80, line);
  assert.match(
    stdout,
    /bot .*behind the blue\n? *door.*\n.*Found in the log.*before context \d+ %.*after {2}context \d+ %/s,
  );
});

test("the README and the demo say the same number of turns", () => {
  const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
  // The last one is the question about the first words.
  assert.equal(/`npm run demo` plays (\d+) turns/.exec(readme)?.[1], String(demoPrompts().length + 1));
});
