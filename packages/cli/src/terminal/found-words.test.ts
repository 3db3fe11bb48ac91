import assert from "node:assert/strict";
import { test } from "node:test";
import { createSnippets } from "@palimpsest/core/internal/recall";
import { inBold, inMarkdown } from "./messages.ts";

test("the words that matched are bold, and what the message itself marks stays as it is", () => {
  const snippet = createSnippets("mill wheels")("The _old_ mill has four wheels.");
  assert.equal(inMarkdown(snippet), "The _old_ **mill** has four **wheels**.");
});

test("on a terminal they are bold, and nothing in the message can steer it", () => {
  const shown = inBold(createSnippets("mill")("mill \u001b[31m red"));
  assert.ok(shown.startsWith("\u001b[1mmill\u001b[22m"));
  assert.equal(shown.split("\u001b").length, 3);
});
