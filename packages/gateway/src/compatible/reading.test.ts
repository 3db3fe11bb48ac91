/** How far an answer is can be told piece by piece without putting the answer together. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { messagesReader } from "./anthropic/vendor.ts";
import { chatReader } from "./openai-chat.ts";
import { responsesReader } from "./openai-responses/vendor.ts";
import type { AnswerReader } from "./vendor.ts";

const call = (text: string) => ({
  index: 0,
  delta: { tool_calls: [{ index: 0, id: "c", function: { arguments: text } }] },
});

const STREAMS: readonly (readonly [string, AnswerReader<object>, readonly object[], readonly string[]])[] = [
  [
    "chat completions",
    chatReader("stream"),
    [
      { choices: [{ index: 0, delta: { content: "so" } }] },
      { choices: [call('{"a"')] },
      { choices: [call(":1}")] },
      { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
    ],
    ["open", "open", "open", "ending"],
  ],
  [
    "messages",
    messagesReader("stream"),
    [
      { type: "message_start", message: { role: "assistant", content: [], usage: { input_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "so" } },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
      { type: "message_stop" },
    ],
    ["open", "open", "open", "ending", "ended"],
  ],
  [
    "responses",
    responsesReader("stream"),
    [
      { type: "response.output_text.delta", output_index: 0, delta: "so" },
      { type: "error", message: "no" },
    ],
    ["open", "failed"],
  ],
];

for (const [name, reader, events, states] of STREAMS)
  test(`${name}: the state of an answer is the same with and without the answer`, () => {
    const told = events.map((event) => {
      reader.read(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
      assert.equal(reader.state(), reader.answer().state);
      return reader.state();
    });
    assert.deepEqual(told, states);
  });
