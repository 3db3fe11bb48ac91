import assert from "node:assert/strict";
import { test } from "node:test";
import { messagesWriter } from "./anthropic/vendor.ts";
import type { PieceEnd } from "./converted-answer.ts";
import { chatWriter } from "./openai-chat.ts";
import { responsesWriter } from "./openai-responses/vendor.ts";

const OPTIONS = { id: "1", model: "m", body: {} };
const END: PieceEnd = { reason: "stop", input: 10, output: 5, cached: 4, reasoning: 3 };

test("a call whose input is no object is an object in Anthropic's words, whole and streamed", () => {
  const rows: readonly (readonly [string, unknown])[] = [
    ['{"depth":7}', { depth: 7 }],
    ["", {}],
    ['{"depth":', { INVALID_JSON: '{"depth":' }],
    ["7", { INVALID_JSON: "7" }],
  ];
  for (const [input, read] of rows) {
    const writer = messagesWriter(OPTIONS);
    const events = writer.add({ type: "call", call: { id: "c", name: "look", input } });
    const delta = events.split("\n").find((line) => line.includes("input_json_delta"))!;
    const { partial_json: streamed } = JSON.parse(delta.slice("data: ".length)).delta;
    assert.deepEqual(JSON.parse(streamed || "{}"), read, input);
    const { content } = writer.whole() as { readonly content: readonly { readonly input: unknown }[] };
    assert.deepEqual(content[0]?.input, read, input);
  }
});

test("an answer that was filtered is an incomplete response, with its reason", () => {
  for (const [reason, status, details] of [
    ["stop", "completed", null],
    ["calls", "completed", null],
    ["length", "incomplete", { reason: "max_output_tokens" }],
    ["filtered", "incomplete", { reason: "content_filter" }],
  ] as const) {
    const writer = responsesWriter(OPTIONS);
    assert.match(writer.add({ type: "end", end: { ...END, reason } }), new RegExp(`event: response.${status}\n`));
    const whole = writer.whole() as { readonly status: string; readonly incomplete_details: unknown };
    assert.deepEqual([whole.status, whole.incomplete_details], [status, details]);
  }
});

test("the tokens of thoughts are told where the protocol has a place for them", () => {
  const chat = chatWriter(OPTIONS);
  const responses = responsesWriter(OPTIONS);
  for (const writer of [chat, responses]) writer.add({ type: "end", end: END });
  type Whole = { readonly usage: Readonly<Record<string, { readonly reasoning_tokens: number }>> };
  assert.equal((chat.whole() as Whole).usage["completion_tokens_details"]?.reasoning_tokens, 3);
  assert.equal((responses.whole() as Whole).usage["output_tokens_details"]?.reasoning_tokens, 3);
});
