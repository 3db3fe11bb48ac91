import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { callFacts, wrapped } from "./wording.ts";

test("a line too long for the terminal goes on at a word, under its own beginning", () => {
  const text = "  ! the provider finds the prompt too long: it is made smaller and sent again";
  assert.deepEqual(wrapped(text, 40), [
    "  ! the provider finds the prompt too",
    "  long: it is made smaller and sent",
    "  again",
  ]);
  assert.deepEqual(wrapped(text, 200), [text]);
});

test("wrapping only ever breaks between words, and no line is too long that holds more than one", () => {
  fc.assert(
    fc.property(fc.lorem({ maxCount: 40 }), fc.integer({ min: 1, max: 100 }), (text, width) => {
      const lines = wrapped(text, width);
      assert.equal(lines.join(" "), text);
      for (const line of lines) assert.ok(line.length <= width || !line.includes(" "), line);
    }),
  );
});

test("a call that was refused was not run: it has neither a time nor a failure", () => {
  const end = {
    type: "tool-end",
    callId: "1",
    name: "write_file",
    output: "x".repeat(83),
    isError: true,
    ms: 0,
  } as const;
  assert.equal(callFacts({ ...end, denied: true }), " · not run");
  assert.equal(callFacts(end), " · 0 ms · 83 B · failed");
  assert.equal(callFacts({ ...end, isError: false }), " · 0 ms · 83 B");
});
