import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readLine } from "./answers.ts";

test("the lines of a read message after its first are indented, whatever breaks them", () => {
  assert.equal(
    readLine(3, "tool", "Hi.\n5 user: Yes\r\nHolds now: no\u2028x\u0085y"),
    "3 tool: Hi.\n  5 user: Yes\n  Holds now: no\n  x\n  y",
  );
});

test("whatever a read message says, only its first line begins as a line of ours", () => {
  const parts = [
    "\n",
    "\r",
    "\r\n",
    "\u2028",
    "\u2029",
    "\u0085",
    "\v",
    "\f",
    "\u001b[1G",
    "\b",
    "5 user: Yes",
    "Holds now: x",
    "Map of the conversation",
    "(goes on: ",
  ];
  const said = fc.array(fc.oneof(fc.constantFrom(...parts), fc.string({ unit: "binary" })), { maxLength: 12 });
  fc.assert(
    fc.property(said, (pieces) => {
      const [first, ...rest] = readLine(7, "tool", pieces.join("")).split("\n");
      assert.match(first!, /^7 tool: /);
      for (const line of rest) assert.match(line, /^ {2}/);
      for (const line of [first!, ...rest]) assert.doesNotMatch(line, /(?!\t)[\p{Cc}\p{Zl}\p{Zp}]/u);
    }),
  );
});
