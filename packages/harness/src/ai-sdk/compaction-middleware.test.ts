import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedModel } from "@palimpsest/testing";
import {
  APICallError,
  generateText,
  jsonSchema,
  type ModelMessage,
  stepCountIs,
  streamText,
  tool,
  wrapLanguageModel,
} from "ai";
import { compactionMiddleware } from "./compaction-middleware.ts";

const sound = tool({
  inputSchema: jsonSchema<{ buoy: number }>({ type: "object", properties: { buoy: { type: "number" } } }),
  execute: ({ buoy }) => `buoy ${buoy}: ${"four fathoms, sand and shell. ".repeat(40)}`,
});

const question = (turn: number): ModelMessage => ({
  role: "user",
  content: `Question ${turn}: ${"how deep is it? ".repeat(30)}`,
});

test("the whole conversation each time, by steps and by turns: no prompt is longer than the window, and none is broken", async () => {
  const inner = scriptedModel(({ index }) =>
    index % 4 < 3 ? { calls: [{ name: "sound", input: { buoy: index } }] } : `answer ${index}`,
  );
  const model = wrapLanguageModel({ model: inner, middleware: compactionMiddleware({ window: 4_000 }) });
  const messages: ModelMessage[] = [];
  for (let turn = 1; turn <= 12; turn += 1) {
    messages.push(question(turn));
    const { responseMessages } = await generateText({ model, messages, tools: { sound }, stopWhen: stepCountIs(5) });
    messages.push(...responseMessages);
  }
  assert.equal(messages.length, 12 * 8);
  assert.ok(inner.calls.every(({ inputTokens }) => inputTokens < 4_000));
  for (const { prompt } of inner.calls) {
    const ids = (type: string) =>
      prompt.flatMap(({ content }) =>
        typeof content === "string"
          ? []
          : content.flatMap((part) => (part.type === type && "toolCallId" in part ? [part.toolCallId] : [])),
      );
    assert.deepEqual(ids("tool-result"), ids("tool-call"));
  }
});

test("a refusal for length is answered with less, in a stream too, and the limit is remembered", async () => {
  let refusals = 0;
  const inner = scriptedModel(({ inputTokens, index }) => {
    if (inputTokens <= 3_000) return `answer ${index}`;
    refusals += 1;
    const message = `This model's maximum context length is 3000 tokens. However, you requested ${inputTokens}.`;
    const error = new APICallError({ message, url: "", requestBodyValues: {}, statusCode: 400, isRetryable: false });
    return { error };
  });
  const model = wrapLanguageModel({ model: inner, middleware: compactionMiddleware({ window: 100_000 }) });
  const messages: ModelMessage[] = [];
  for (let turn = 1; turn <= 40; turn += 1) {
    messages.push(question(turn));
    const result = streamText({ model, messages, onError: () => {} });
    messages.push(...(await result.responseMessages));
  }
  assert.equal(refusals, 1);
  assert.equal(messages.length, 80);
});

test("another error is the caller's", async () => {
  const inner = scriptedModel(() => ({ error: new Error("connect ECONNREFUSED") }));
  const model = wrapLanguageModel({ model: inner, middleware: compactionMiddleware({ window: 4_000 }) });
  await assert.rejects(generateText({ model, prompt: "Hi.", maxRetries: 0 }), /ECONNREFUSED/);
  assert.equal(inner.calls.length, 1);
});

test("conversations that begin otherwise are kept apart", async () => {
  const inner = scriptedModel(({ index }) => `answer ${index}`);
  const model = wrapLanguageModel({ model: inner, middleware: compactionMiddleware({ window: 4_000 }) });
  const long = Array.from(
    { length: 60 },
    (_, at): ModelMessage => (at % 2 ? { role: "assistant", content: "yes" } : question(at)),
  );
  await generateText({ model, messages: [...long, question(61)] });
  await generateText({ model, prompt: "Something else." });
  assert.deepEqual(
    inner.calls[1]!.prompt.map(({ content }) => content),
    [[{ type: "text", text: "Something else." }]],
  );
});
