import assert from "node:assert/strict";
import { test } from "node:test";
import { desk } from "../test/binary.ts";

test("the demo outgrows its window, compacts, finds the first words again, undoes, remembers a fact in another thread, and replays word for word", async (t) => {
  const { json } = desk(t);
  const { code, document } = await json("demo", "--seasons", "1");
  assert.equal(code, 0);
  const { window, tokens, largest, compactions } = document as Record<string, number> & { compactions: object[] };
  assert.ok(compactions.length > 0 && compactions.length <= 6, `${compactions.length} compactions`);
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
