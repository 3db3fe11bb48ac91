import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { describe, it, test } from "node:test";
import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import { scriptedModel } from "@palimpsest/testing";
import { type ToolSet, tool } from "ai";
import { z } from "zod";
import { bodyOf } from "../thread/log.ts";
import { type ModelCall, type ModelStream, openModelStream, streamConversation, streamSingleCall } from "./stream.ts";

const usage: LanguageModelV4Usage = {
  inputTokens: { total: 40, noCache: 30, cacheRead: 10, cacheWrite: 0 },
  outputTokens: { total: 7, text: 5, reasoning: 2 },
};
const START: LanguageModelV4StreamPart = { type: "stream-start", warnings: [] };
const finish = (unified: "stop" | "tool-calls" | "length" | "error" = "stop"): LanguageModelV4StreamPart => {
  return { type: "finish", finishReason: { unified, raw: unified }, usage };
};
const signed = { anthropic: { signature: "s1" } };
const text = (words: string, id = "0"): LanguageModelV4StreamPart[] => [
  { type: "text-start", id },
  ...words.split(/(?<= )/).map((delta): LanguageModelV4StreamPart => ({ type: "text-delta", id, delta })),
  { type: "text-end", id },
];
const call = (toolName: string, input: string, more = {}): LanguageModelV4StreamPart => {
  return { type: "tool-call", toolCallId: `call-${toolName}`, toolName, input, ...more };
};

const STREAMS: Readonly<Record<string, readonly LanguageModelV4StreamPart[]>> = {
  "a text": [START, ...text("The tide turns at six."), finish()],
  "an empty text": [START, ...text(""), finish()],
  nothing: [START, finish()],
  "a text that was cut off by its limit": [START, ...text("The tide"), finish("length")],
  "two texts with a source between them": [
    START,
    ...text("one", "a"),
    { type: "source", sourceType: "url", id: "s", url: "https://tides.example", title: "Tides" },
    ...text("two", "b"),
    finish(),
  ],
  "a signed thought before a call": [
    START,
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-delta", id: "r", delta: "Let me look." },
    { type: "reasoning-end", id: "r", providerMetadata: signed },
    ...text("I look."),
    call("look", '{"at":"six"}', { providerMetadata: { openai: { itemId: "i" } } }),
    finish("tool-calls"),
  ],
  "texts that are told in turns": [
    START,
    { type: "text-start", id: "a" },
    { type: "reasoning-start", id: "r", providerMetadata: signed },
    { type: "text-delta", id: "a", delta: "one" },
    { type: "reasoning-delta", id: "r", delta: "hm" },
    { type: "text-delta", id: "a", delta: " more", providerMetadata: { openai: { phase: "end" } } },
    { type: "reasoning-end", id: "r" },
    { type: "text-end", id: "a" },
    finish(),
  ],
  "a call in pieces": [
    START,
    { type: "tool-input-start", id: "call-look", toolName: "look" },
    { type: "tool-input-delta", id: "call-look", delta: '{"at":"six"}' },
    { type: "tool-input-end", id: "call-look" },
    call("look", '{"at":"six"}'),
    finish("tool-calls"),
  ],
  "a call that its schema refuses": [START, call("look", '{"at":6}'), finish("tool-calls")],
  "a call that is no JSON": [START, call("look", "{at"), finish("tool-calls")],
  "a call of a tool that isn't there": [START, call("swim", "{}"), finish("tool-calls")],
  "a tool that the provider ran itself": [
    START,
    call("web", "{}", { providerExecuted: true, dynamic: true }),
    { type: "tool-result", toolCallId: "call-web", toolName: "web", result: { found: ["six", null] }, dynamic: true },
    ...text("At six."),
    finish(),
  ],
  "a tool of the provider that failed": [
    START,
    call("web", "{}", { providerExecuted: true, dynamic: true }),
    { type: "tool-result", toolCallId: "call-web", toolName: "web", result: "no line", isError: true, dynamic: true },
    finish(),
  ],
  "a picture": [START, { type: "file", mediaType: "image/png", data: { type: "data", data: "aGk=" } }, finish()],
  "an error in the stream": [
    START,
    ...text("The tide"),
    { type: "error", error: new Error("overloaded") },
    finish("error"),
  ],
  "an end without a word": [START, ...text("The tide")],
};

describe("a model is asked by the SDK's single call or by streamText, with the same answer", () => {
  for (const [name, parts] of Object.entries(STREAMS))
    it(name, async () => {
      const whole = await read(streamConversation(callOf(playing(parts))));
      assert.deepEqual(await read(await streamSingleCall(callOf(playing(parts)))), whole);
    });

  it("a call that is refused", async () => {
    const refusing = () => ({ ...playing([]), doStream: () => Promise.reject(new Error("no such key")) });
    const whole = await read(streamConversation(callOf(refusing())));
    assert.deepEqual(whole.errors, ["no such key"]);
    await assert.rejects(streamSingleCall(callOf(refusing())), /no such key/);
  });

  it("with the same request", async () => {
    const models = [scriptedModel(["a"]), scriptedModel(["a"])] as const;
    await read(streamConversation(callOf(models[0])));
    await read(await streamSingleCall(callOf(models[1])));
    const [first, second] = models.map(({ calls }) => {
      const { abortSignal: _, headers: __, ...options } = calls[0]!.options;
      return JSON.parse(bodyOf(options));
    });
    assert.deepEqual(second, first);
  });
});

test("a provider's warnings are told as the SDK tells them", async (t) => {
  const told: unknown[] = [];
  globalThis.AI_SDK_LOG_WARNINGS = (given) => void told.push(given);
  t.after(() => {
    globalThis.AI_SDK_LOG_WARNINGS = undefined as never;
  });
  const warning = { type: "unsupported", feature: "temperature" } as const;
  const parts: LanguageModelV4StreamPart[] = [{ type: "stream-start", warnings: [warning] }, ...text("a"), finish()];
  await read(await streamSingleCall(callOf(playing(parts))));
  await read(streamConversation(callOf(playing(parts))));
  assert.equal(told.length, 2);
  assert.deepEqual(told[0], told[1]);
});

test("whoever listens to the SDK's telemetry hears of every call", async (t) => {
  const heard: unknown[] = [];
  const listen = (message: unknown): void => void heard.push(message);
  subscribe("tracing:ai:telemetry:start", listen);
  t.after(() => unsubscribe("tracing:ai:telemetry:start", listen));
  await read(await openModelStream(callOf(scriptedModel(["a"]))));
  assert.ok(heard.length > 0);
});

function callOf(model: LanguageModelV4): ModelCall {
  const look = tool({ description: "Looks.", inputSchema: z.object({ at: z.string() }) });
  return {
    model,
    instructions: "You know the tides.",
    messages: [{ role: "user", content: "When does it turn?" }],
    // Nobody runs it: a step has taken `execute` from its tools.
    tools: { look } as unknown as ToolSet,
    abortSignal: new AbortController().signal,
    temperature: 0.5,
    maxOutputTokens: 100,
  };
}

function playing(parts: readonly LanguageModelV4StreamPart[]): LanguageModelV4 {
  return { ...scriptedModel([]), doStream: async () => ({ stream: ReadableStream.from(parts) }) };
}

/** All that a step takes from it. */
async function read({ parts, end }: ModelStream) {
  const shown: unknown[] = [];
  const errors: string[] = [];
  for await (const part of parts as AsyncIterable<{ type: string } & Record<string, unknown>>) {
    const { type, id, text: words, toolCallId, toolName, input, invalid, providerExecuted, error } = part;
    if (["text-delta", "reasoning-delta"].includes(type)) shown.push({ type, id, words });
    if (type === "tool-input-delta") shown.push(part["delta"]);
    if (type === "tool-call")
      shown.push({ toolCallId, toolName, input, invalid, providerExecuted, why: String(error) });
    if (type === "error") errors.push((error as Error).message);
  }
  if (errors.length > 0) return { shown, errors };
  const done = await end().catch(String);
  if (done === null || typeof done === "string") return { shown, errors, done: "cut off" };
  const { finishReason, rawFinishReason, usage: reported, message } = done;
  if (finishReason === "other" && rawFinishReason === undefined) return { shown, errors, done: "cut off" };
  return { shown, errors, finishReason, rawFinishReason, reported, body: bodyOf(message) };
}
