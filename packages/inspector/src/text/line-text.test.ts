import assert from "node:assert/strict";
import { test } from "node:test";
import { lineText } from "./line-text.ts";

test("a message is one line, whatever it is made of", () => {
  const part = (kind: string, text: string, name?: string) => ({
    kind,
    text,
    length: text.length,
    ...(name && { name }),
  });
  assert.equal(
    lineText([part("text", "I look.\n"), part("call", '{"path":"a"}', "read")]),
    'I look.  read({"path":"a"})',
  );
  assert.equal(lineText([part("result", "", "read")]), "(no output)");
  assert.equal(lineText([part("image", "", "image/png")]), "[image/png]");
  assert.equal(lineText([]), "(nothing)");
});
