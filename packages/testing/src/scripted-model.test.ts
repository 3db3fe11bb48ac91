import assert from "node:assert/strict";
import { test } from "node:test";
import { APICallError, type LanguageModelV4Prompt } from "@ai-sdk/provider";
import { aiSdkShape } from "@palimpsest/core/internal/message";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { generateText, jsonSchema, streamText, type Tool } from "ai";
import { messagesOf } from "palimpsest/internal/played-answer";
import { scriptedModel } from "./scripted-model.ts";

const add: Tool = {
  inputSchema: jsonSchema<{ a: number }>({ type: "object", properties: { a: { type: "number" } } }),
};
const quiet = { maxRetries: 0, onError: () => {} };

async function collect(result: { stream: AsyncIterable<{ type: string }> }): Promise<string[]> {
  const types: string[] = [];
  for await (const part of result.stream) types.push(part.type);
  return types;
}

test("a script is played answer by answer, and every prompt is on record", async () => {
  const model = scriptedModel(["one", { text: "two", reasoning: "hm" }]);
  assert.equal(model.remaining, 2);
  assert.equal((await generateText({ model, prompt: "first" })).text, "one");
  const second = streamText({ model, prompt: "second", ...quiet });
  assert.equal(await second.text, "two");
  assert.equal(await second.reasoningText, "hm");
  assert.equal(model.remaining, 0);
  const asked = model.calls.map(({ kind, prompt }) => [kind, textIn(prompt)]);
  assert.deepEqual(asked, [
    ["generate", "first"],
    ["stream", "second"],
  ]);
});

test("a call beyond the script's end throws and says how many answers there were", async () => {
  const model = scriptedModel([]);
  await assert.rejects(generateText({ model, prompt: "x", maxRetries: 0 }), /called 1 times and has 0 answers/);
});

test("a function answers as often as it is asked", async () => {
  const model = scriptedModel(({ index }) => `answer ${index}`);
  for (let turn = 0; turn < 5; turn += 1) {
    assert.equal((await generateText({ model, prompt: "x" })).text, `answer ${turn}`);
  }
  assert.equal(model.remaining, Infinity);
});

test("tool calls get ids of their own and finish the step", async () => {
  const step = {
    calls: [
      { name: "add", input: { a: 1 } },
      { id: "mine", name: "add", input: { a: 2 } },
    ],
  };
  const result = streamText({ model: scriptedModel([step]), tools: { add }, prompt: "x", ...quiet });
  const calls = await result.toolCalls;
  assert.deepEqual(
    calls.map((call) => [call.toolCallId, call.input]),
    [
      ["call_0_0", { a: 1 }],
      ["mine", { a: 2 }],
    ],
  );
  assert.equal(await result.finishReason, "tool-calls");
});

test("arguments that aren't JSON reach the caller as such", async () => {
  const model = scriptedModel([{ calls: [{ name: "add", input: "{oops" }] }]);
  const [call] = await streamText({ model, tools: { add }, prompt: "x", ...quiet }).toolCalls;
  assert.equal(call?.invalid, true);
});

test("usage is the counter's: the whole request, its tools included, and the answer", async () => {
  const count = charsPerToken(1);
  const plain = scriptedModel(["four"], { count });
  const bare = (await generateText({ model: plain, prompt: "question" })).usage;
  assert.equal(bare.inputTokens, "question".length + 4);
  assert.equal(bare.outputTokens, 4);
  const tooled = scriptedModel(["four"], { count });
  const whole = (await generateText({ model: tooled, prompt: "question", tools: { add } })).usage;
  assert.ok(whole.inputTokens! > bare.inputTokens!);
  assert.equal(tooled.calls[0]!.inputTokens, whole.inputTokens);
});

test("an error is thrown by the call, in the stream, or breaks it; silence ends it without a finish", async () => {
  const refused = new APICallError({ message: "no", url: "", requestBodyValues: {}, statusCode: 400 });
  const refusing = streamText({ model: scriptedModel([{ error: refused }]), prompt: "x", ...quiet });
  assert.deepEqual(await collect(refusing), ["start", "error"]);

  const boom = new Error("boom");
  const reporting = scriptedModel([{ text: "a", ends: { by: "error", error: boom } }]);
  assert.ok((await collect(streamText({ model: reporting, prompt: "x", ...quiet }))).includes("error"));

  const breaking = scriptedModel([{ text: "a", ends: { by: "break", error: boom } }]);
  await assert.rejects(collect(streamText({ model: breaking, prompt: "x", ...quiet })), /boom/);

  const silent = streamText({ model: scriptedModel([{ text: "a", ends: { by: "silence" } }]), prompt: "x", ...quiet });
  assert.equal(await silent.finishReason, "other");
});

test("delays pass by the injected clock, and an abort ends them", async () => {
  const slept: number[] = [];
  const sleep = async (ms: number) => void slept.push(ms);
  const model = scriptedModel([{ text: "late", delayMs: 60_000 }], { sleep });
  assert.equal((await generateText({ model, prompt: "x" })).text, "late");
  assert.deepEqual(slept, [60_000]);

  const stop = new AbortController();
  const slow = scriptedModel([{ text: "never", delayMs: 60_000 }]);
  const asked = generateText({ model: slow, prompt: "x", abortSignal: stop.signal, maxRetries: 0 });
  stop.abort(new Error("enough"));
  await assert.rejects(asked);
});

test("an aborted call is not on record", async () => {
  const model = scriptedModel(["one"]);
  await assert.rejects(async () => model.doGenerate({ prompt: [], abortSignal: AbortSignal.abort() }));
  assert.equal(model.calls.length, 0);
  assert.equal(model.remaining, 1);
});

function textIn(prompt: LanguageModelV4Prompt): string {
  return messagesOf(prompt)
    .flatMap((message) => aiSdkShape.parts(message))
    .map((part) => (part.kind === "text" ? part.text : ""))
    .join("");
}
