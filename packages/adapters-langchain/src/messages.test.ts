import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  ChatMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { type LangChainMessage, shapeOf } from "@palimpsest/core/internal/message";
import { givenMessage, shownMessages } from "./messages.ts";

const shape = shapeOf("langchain");
const call = { name: "look", args: { at: 1 }, id: "c", type: "tool_call" as const };

const MESSAGES: Readonly<Record<string, readonly [BaseMessage, string]>> = {
  "a question": [new HumanMessage({ content: "How deep?", id: "1", name: "ann" }), "user"],
  "a question in blocks": [
    new HumanMessage({
      id: "2",
      content: [
        { type: "text", text: "And here?" },
        { type: "image_url", image_url: { url: "https://example.org/a.png" } },
      ],
    }),
    "user",
  ],
  "an answer with a call": [
    new AIMessage({ content: "", id: "3", tool_calls: [call], response_metadata: { model: "m" } }),
    "assistant",
  ],
  "a streamed answer": [new AIMessageChunk({ content: "Four.", id: "4" }), "assistant"],
  "a result": [
    new ToolMessage({ content: "4", tool_call_id: "c", id: "5", name: "look", status: "error", artifact: { a: 1 } }),
    "tool",
  ],
  "a system message": [new SystemMessage({ content: "Be brief.", id: "6" }), "system"],
  "a message of a role": [new ChatMessage({ content: "Hi.", role: "assistant", id: "7" }), "assistant"],
};

for (const [name, [message, role]] of Object.entries(MESSAGES)) {
  test(`${name} is read as what it is, comes back as the same object, and as an equal one when only its data is left`, () => {
    const given = givenMessage(message, 0);
    assert.equal(shape.role(given.message), role);
    assert.equal(shownMessages([given.message], [given])[0], message);
    const [made] = shownMessages([given.message], []);
    assert.equal(made!.getType(), message.getType());
    assert.deepEqual(JSON.parse(JSON.stringify(made!.toDict())), given.message);
  });
}

test("a shortened message comes back shortened, and bytes are kept as text", () => {
  const given = givenMessage(MESSAGES["a result"]![0], 0);
  const short = shape.withPart(given.message, 0, { ...shape.parts(given.message)[0]!, text: "short" } as never);
  const [made] = shownMessages([short], [given]);
  assert.ok(made instanceof ToolMessage && made.content === "short" && made.tool_call_id === "c");
  const bytes = [Buffer.from("hi"), new Uint8Array(Buffer.from("hi"))];
  const content = bytes.map((data) => ({ type: "image", data, mimeType: "image/png" }));
  const { body } = givenMessage(new HumanMessage({ content: content as never, id: "b" }), 0);
  assert.equal(body.match(/"data":"aGk="/g)?.length, 2);
});

test("what we write ourselves becomes messages too", () => {
  const made = shownMessages([shape.turn("user", "A summary."), ...shape.results([RESULT])], []);
  assert.deepEqual(
    made.map((message) => [message.getType(), message.text]),
    [
      ["human", "A summary."],
      ["tool", "no answer"],
    ],
  );
});

const RESULT = { id: "c", name: "look", text: "no answer", isError: true } satisfies Parameters<
  typeof shape.results
>[0][number];

test("a message that has no id yet is known by its place, and by its id once it has one", () => {
  const message = new HumanMessage("How deep?");
  assert.equal(givenMessage(message, 3).id, "message-3");
  message.id = "named";
  assert.equal(givenMessage(message, 3).id, "named");
  const read: LangChainMessage = givenMessage(message, 3).message;
  assert.equal(shape.role(read), "user");
});
