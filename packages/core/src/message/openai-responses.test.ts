import assert from "node:assert/strict";
import { test } from "node:test";
import { convert, rulesOf } from "./dialects.ts";
import { type ResponsesMessage, responsesItems, responsesTurns, responsesShape as shape } from "./openai-responses.ts";
import type { ResponsesItem } from "./openai-responses-items.ts";
import { repair } from "./repair.ts";
import { violations } from "./rules.ts";

const FLAT: readonly ResponsesItem[] = [
  { role: "user", content: "go" },
  { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" },
  { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "x" } },
  { type: "function_call", call_id: "a", name: "look", arguments: "{}" },
  { type: "custom_tool_call", call_id: "b", name: "patch", input: "*** Begin" },
  { type: "function_call_output", call_id: "a", output: "1" },
  { type: "custom_tool_call_output", call_id: "b", output: "2" },
  { type: "message", role: "assistant", content: [{ type: "output_text", text: "done" }] },
];

test("a flat list is gathered into turns, a thought with the calls it led to, and given back item by item", () => {
  const turns = responsesTurns(FLAT);
  assert.equal(turns.length, 5);
  assert.deepEqual(turns.map(shape.role), ["user", "assistant", "tool", "tool", "assistant"]);
  assert.deepEqual(shape.calls(turns[1]!), ["a", "b"]);
  assert.equal(turns[0], FLAT[0]);
  assert.deepEqual(violations(turns, shape, rulesOf("openai-responses")), []);
  assert.deepEqual(responsesItems(turns), FLAT);
  assert.ok(responsesItems(turns).every((item, index) => item === FLAT[index]));
});

test("items that only the API understands are carried, and left out of another dialect where they only steer it", () => {
  const turns = responsesTurns([...FLAT, { type: "item_reference", id: "x" }]);
  assert.ok(shape.parts(turns[1]!).some((part) => part.kind === "other" && part.type === "web_search_call"));
  const there = JSON.stringify(convert(turns, "openai-responses", "anthropic"));
  assert.ok(there.includes("web_search_call") && !there.includes("item_reference") && !there.includes("sealed"));
});

test("a thought at the end of a turn moves before what it led to, and one of another provider goes", () => {
  const own = { type: "reasoning", summary: [], encrypted_content: "s" };
  const late: readonly ResponsesMessage[] = [
    { role: "user", content: "go" },
    [{ role: "assistant", content: "yes" }, own],
  ];
  const { messages } = repair(late, shape, rulesOf("openai-responses"));
  assert.deepEqual(messages[1], [own, { role: "assistant", content: "yes" }]);
  const foreign = { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] };
  const given: readonly ResponsesMessage[] = [late[0]!, [foreign, { role: "assistant", content: "yes" }]];
  const mended = repair(given, shape, rulesOf("openai-responses"));
  assert.deepEqual(mended.messages[1], { role: "assistant", content: "yes" });
});
