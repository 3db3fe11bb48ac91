import assert from "node:assert/strict";
import { test } from "node:test";
import { messageProblem, nestingProblem, strayResults } from "./validate.ts";

test("an unknown role or block is named, with what is known", () => {
  assert.match(messageProblem({ role: "robot", content: "x" }, "openai")!, /"robot".*assistant/);
  assert.match(messageProblem({ role: "tool", content: "x" }, "anthropic")!, /"tool"/);
  const content = [{ type: "text", text: "" }, { type: "hologram" }];
  assert.match(messageProblem({ role: "user", content }, "openai")!, /content\[1\] .*"hologram".*image_url/);
});

test("a field the shapes rely on must be there", () => {
  assert.match(messageProblem({ role: "tool", content: "x" }, "openai")!, /tool_call_id/);
  assert.match(messageProblem({ role: "assistant", tool_calls: [{ id: 1 }] }, "openai")!, /tool_calls\[0\]/);
  assert.match(messageProblem({ role: "user", content: [{ type: "text" }] }, "anthropic")!, /text/);
  assert.match(messageProblem({ role: "user", content: 5 }, "ai-sdk")!, /content is a number/);
});

test("a nesting that no program could write again is refused", () => {
  const deep = `${"[".repeat(5000)}${"]".repeat(5000)}`;
  assert.match(nestingProblem(`{"role":"user","content":"x","deep":${deep}}`)!, /too deeply/);
  assert.equal(nestingProblem('{"role":"user","content":"[[[["}'), null);
});

test("what providers really send is accepted", () => {
  const call = { id: "1", type: "function", function: { name: "f", arguments: "{}" } };
  assert.equal(messageProblem({ role: "assistant", content: null, tool_calls: [call] }, "openai"), null);
  assert.equal(messageProblem({ role: "developer", content: "x" }, "openai"), null);
  const result = { type: "web_search_tool_result", tool_use_id: "1", content: [] };
  assert.equal(messageProblem({ role: "assistant", content: [result] }, "anthropic"), null);
  const answered = { type: "tool-result", toolCallId: "1", toolName: "f", output: { type: "text", value: "" } };
  assert.equal(messageProblem({ role: "tool", content: [answered] }, "ai-sdk"), null);
});

test("a tool result without a call is found, also when the call comes later", () => {
  const at = (place: string, value: Record<string, unknown>) => ({
    place,
    value,
    body: "",
    at: null,
    model: null,
    usage: null,
  });
  const result = { role: "tool", tool_call_id: "a", content: "x" };
  const call = { role: "assistant", tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }] };
  assert.deepEqual(
    strayResults([at("line 1", result), at("line 2", call), at("line 3", result)], "openai").map(({ place }) => place),
    ["line 1"],
  );
});
