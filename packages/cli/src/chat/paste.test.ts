import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { pasteFilter, withLineBreaks } from "./paste.ts";

async function through(pieces: readonly string[]): Promise<string> {
  const filter = pasteFilter();
  for (const piece of pieces) filter.write(piece);
  filter.end();
  let text = "";
  for await (const piece of filter) text += String(piece);
  return text;
}

test("lines pasted together come out as one line, and become lines again when it is submitted", async () => {
  const typed = await through(["a", "\u001b[200~one\r\ntwo\nthree\u001b[201~", "\r"]);
  assert.equal(typed.split("\r").length, 2);
  assert.equal(withLineBreaks(typed.replace("\r", "")), "aone\ntwo\nthree");
});

test("however the terminal cuts it into pieces, the same comes out; keys pass as they are", async () => {
  const whole = "x\u001b[A\u001b[200~p\nq\u001b[201~\u001b[D\u001b[200~\n\u001b[201~y\r";
  const expected = await through([whole]);
  assert.ok(expected.startsWith("x\u001b[Ap") && expected.endsWith("y\r"));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 6 }), { minLength: whole.length }), async (sizes) => {
      const pieces: string[] = [];
      for (let at = 0, index = 0; at < whole.length; index++) {
        pieces.push(whole.slice(at, at + sizes[index]!));
        at += sizes[index]!;
      }
      assert.equal(await through(pieces), expected);
    }),
    { numRuns: 50 },
  );
});
