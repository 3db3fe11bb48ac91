import assert from "node:assert/strict";
import { test } from "node:test";
import { convert } from "./dialects.ts";
import { openaiShape } from "./openai.ts";
import { isNestedTooDeeply } from "./schema.ts";

const nested = (depth: number): string => `${'{"a":['.repeat(depth / 2)}1${"]}".repeat(depth / 2)}`;

for (const [name, json, expected] of [
  ["a flat object", '{"a":1}', false],
  ["as deep as allowed", nested(500), false],
  ["one level deeper", `[${nested(500)}]`, true],
  ["100,000 levels", nested(100_000), true],
  ["brackets in a string", JSON.stringify("[".repeat(9000)), false],
  ["brackets after an escaped quote", `"\\"${"[".repeat(9000)}"`, false],
  ["many neighbors", `[${"[],".repeat(9000)}[]]`, false],
  ["no JSON", "}}}} [", false],
] as const) {
  test(`nesting of ${name} is ${expected ? "too deep" : "fine"}`, () =>
    assert.equal(isNestedTooDeeply(json), expected));
}

test("a call whose arguments are nested 5,000 deep keeps them as text, and can be written in every dialect", () => {
  const call = {
    id: "c1",
    type: "function" as const,
    function: { name: "f", arguments: nested(5000) },
  };
  const messages = [{ role: "assistant" as const, content: null, tool_calls: [call] }];
  for (const dialect of ["ai-sdk", "anthropic", "openai"] as const) {
    const written = JSON.stringify(convert(messages, "openai", dialect));
    assert.ok(written.includes(JSON.stringify(nested(50)).slice(1, 20)), dialect);
  }
  const [part] = openaiShape.parts(messages[0]!);
  assert.equal(part?.kind === "call" && part.input, nested(5000));
});
