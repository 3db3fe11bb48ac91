import assert from "node:assert/strict";
import { test } from "node:test";
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/message";
import { chainOf } from "./chain.ts";
import { chainMemory } from "./chain-memory.ts";

const SECRET = Buffer.from("a secret");
const given = (messages: readonly OpenAiMessage[], user = "ada") => ({
  shape: openaiShape,
  secret: SECRET,
  list: Buffer.from(JSON.stringify(messages)),
  user,
});

test("a conversation that grows, is edited or is cut off is known by the same as without a memory", () => {
  const memory = chainMemory();
  const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } } as const;
  const messages: OpenAiMessage[] = [{ role: "system", content: "x".repeat(40_000) }];
  const check = (list: readonly OpenAiMessage[], userId?: string) => {
    const spoken = list.slice(1);
    const expected = chainOf(spoken, { shape: openaiShape, secret: SECRET });
    assert.deepEqual(memory.chain(spoken, given(list, userId)), expected);
  };
  for (let turn = 0; turn < 30; turn += 1) {
    messages.push({ role: "user", content: `turn ${turn} ]},"` });
    check(messages);
    check(messages, "bob");
    messages.push({ role: "assistant", content: null, tool_calls: [call] });
    messages.push({ role: "tool", tool_call_id: "c", content: `result ${turn}` });
    if (turn % 3 === 0) check(messages);
    messages.push({ role: "assistant", content: `answer ${turn}` });
    if (turn % 5 === 0) check(messages.slice(0, -3));
    if (turn % 7 === 0) check([...messages.slice(0, -2), { role: "user", content: "edited" }]);
    // One whose bytes begin alike and whose last message goes on.
    check([...messages.slice(0, -4), { role: "user", content: `turn ${turn} ]},"and more` }]);
  }
});
