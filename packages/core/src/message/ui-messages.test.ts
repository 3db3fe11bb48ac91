import assert from "node:assert/strict";
import { test } from "node:test";
import { aiSdkShape } from "./ai-sdk.ts";
import { detectDialect, readMessage, rulesOf } from "./dialects.ts";
import { violations } from "./rules.ts";
import { isUiMessage, readUiMessages } from "./ui-messages.ts";

const tool = (state: string, more: object) => ({
  type: "tool-look",
  toolCallId: state,
  state,
  input: { at: 1 },
  ...more,
});

const SHOWN = [
  { id: "1", role: "system", parts: [{ type: "text", text: "Be brief." }] },
  {
    id: "2",
    role: "user",
    parts: [
      { type: "text", text: "What is this?" },
      { type: "file", mediaType: "image/png", url: "data:image/png;base64,iVBORw0KGgo=" },
      { type: "data-page", data: { scroll: 3 } },
    ],
  },
  {
    id: "3",
    role: "assistant",
    parts: [
      { type: "step-start" },
      { type: "reasoning", text: "Look.", providerMetadata: { anthropic: { signature: "proof" } } },
      tool("output-available", { output: { seen: true } }),
      { type: "dynamic-tool", toolName: "read", toolCallId: "d", state: "output-error", errorText: "no such file" },
      tool("input-streaming", {}),
      { type: "step-start" },
      { type: "text", text: "A pixel." },
      { type: "source-url", sourceId: "s", url: "https://example.org" },
    ],
  },
];

test("UI messages are read as model messages, step by step, and what is lost is named", () => {
  const { messages, origins, lost } = readUiMessages(SHOWN);
  assert.deepEqual(
    messages.map(({ role }) => role),
    ["system", "user", "assistant", "tool", "assistant"],
  );
  assert.deepEqual(origins, [0, 1, 2, 2, 2]);
  assert.deepEqual(violations(messages, aiSdkShape, rulesOf("ai-sdk")), []);
  assert.ok(messages.every((message) => readMessage("ai-sdk", message).kind === "message"));
  const results = aiSdkShape.parts(messages[3]!).map((part) => part.kind === "result" && [part.text, part.isError]);
  assert.deepEqual(results, [
    ['{"seen":true}', false],
    ["no such file", true],
  ]);
  assert.deepEqual(
    lost.map(({ index, type }) => [index, type]),
    [
      [1, "data-page"],
      [2, "tool-look"],
      [2, "source-url"],
    ],
  );
  assert.equal(detectDialect(messages).dialect, "ai-sdk");
});

test("version 4's invocations are read, too, and a message with nothing for a model is named, not made empty", () => {
  const call = { state: "result", toolCallId: "a", toolName: "look", args: {}, result: "1" };
  const { messages, lost } = readUiMessages([
    { role: "assistant", content: "done", toolInvocations: [call] },
    { role: "user", parts: [{ type: "data-x", data: 1 }] },
  ]);
  assert.deepEqual(
    messages.map(({ role }) => role),
    ["assistant", "tool", "assistant"],
  );
  assert.deepEqual(
    lost.map(({ type }) => type),
    ["data-x", "message"],
  );
});

test("Gemini's contents and model messages are no UI messages", () => {
  assert.ok(SHOWN.every(isUiMessage));
  assert.ok(![{ role: "user", parts: [{ text: "hi" }] }, { role: "user", content: "hi" }, null].some(isUiMessage));
});
