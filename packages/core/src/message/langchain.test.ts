import assert from "node:assert/strict";
import { test } from "node:test";
import { langchainShape as shape } from "./langchain.ts";
import type { CallPart } from "./shape.ts";

const FIELDS = {
  content: [
    { type: "text", text: "Let me look." },
    { type: "tool_use", id: "a", name: "look", input: { at: 1 } },
    { type: "tool_use", id: "b", name: "look", input: { at: 2 } },
  ],
  tool_calls: [
    { name: "look", args: { at: 1 }, id: "a", type: "tool_call" },
    { name: "look", args: { at: 2 }, id: "b", type: "tool_call" },
  ],
  additional_kwargs: {
    tool_calls: ["a", "b"].map((id, at) => ({ id, function: { name: "look", arguments: `{"at":${at + 1}}` } })),
  },
};

class Message {
  readonly content: string;
  constructor(content: string) {
    this.content = content;
  }
  getType() {
    return "human";
  }
}

test("each form is read alike, and an edit comes back in the form it came in", () => {
  const forms = [
    { type: "ai", ...FIELDS },
    { type: "ai", data: FIELDS },
    { lc: 1, type: "constructor", id: ["langchain_core", "messages", "AIMessageChunk"], kwargs: FIELDS },
  ];
  for (const form of forms) {
    assert.equal(shape.role(form), "assistant");
    assert.deepEqual(shape.calls(form), ["a", "b"]);
    assert.equal(shape.parts(form).length, 3);
    const edited = shape.withPart(form, 0, { kind: "text", text: "Looking." });
    assert.deepEqual(Object.keys(edited), Object.keys(form));
    assert.match(JSON.stringify(edited), /Looking\./);
  }
});

test("an instance of a class stays one", () => {
  const message = new Message("hi") as unknown as Record<string, unknown>;
  assert.equal(shape.role(message), "user");
  const edited = shape.withPart(message, 0, { kind: "text", text: "ho" });
  assert.ok(edited instanceof Message && (edited as Message).content === "ho");
});

test("the provider's own copies of a call follow what happens to it", () => {
  const message = { type: "ai", ...FIELDS };
  const call = shape.parts(message)[1] as CallPart;
  const short = JSON.stringify(shape.withPart(message, 1, { ...call, input: '{"at":9}' }));
  assert.ok(!short.includes('"at":1') && short.includes('{\\"at\\":9}') && short.includes('"input":{"at":9}'));
  const kept = JSON.stringify(shape.select(message, [0, 2]));
  assert.ok(!kept.includes('"a"') && kept.includes('"tool_use"'));
});

test("a call whose arguments were no JSON has to be answered like the others", () => {
  const invalid = { name: "look", args: '{"cut', id: "x", type: "invalid_tool_call", error: "no JSON" };
  assert.deepEqual(shape.calls({ type: "ai", content: "", invalid_tool_calls: [invalid] }), ["x"]);
});
