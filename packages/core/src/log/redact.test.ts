import assert from "node:assert/strict";
import { test } from "node:test";
import { aiSdkShape, anthropicShape, openaiShape, type Shape } from "../message/index.ts";
import { skeleton } from "./redact.ts";

const SECRET = "swordfish-4711";

const CASES: readonly [string, Shape<never>, object][] = [
  ["openai user", openaiShape, { role: "user", name: SECRET, content: SECRET }],
  [
    "openai blocks",
    openaiShape,
    {
      role: "user",
      content: [
        { type: "text", text: SECRET },
        { type: "image_url", image_url: { url: `data:image/png;base64,${SECRET}` } },
      ],
    },
  ],
  [
    "openai call",
    openaiShape,
    {
      role: "assistant",
      content: null,
      reasoning_content: SECRET,
      tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: `{"a":"${SECRET}"}` } }],
    },
  ],
  ["openai result", openaiShape, { role: "tool", tool_call_id: "c1", content: SECRET }],
  ["openai system", openaiShape, { role: "system", content: SECRET }],
  [
    "anthropic call",
    anthropicShape,
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: SECRET, signature: SECRET },
        { type: "text", text: SECRET },
        { type: "tool_use", id: "c1", name: "f", input: { a: SECRET } },
      ],
    },
  ],
  [
    "anthropic results",
    anthropicShape,
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: SECRET }] },
        { type: "tool_result", tool_use_id: "c2", content: SECRET, is_error: true },
      ],
    },
  ],
  [
    "anthropic results and words",
    anthropicShape,
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "c1", content: SECRET },
        { type: "text", text: SECRET },
      ],
    },
  ],
  [
    "anthropic thinking only",
    anthropicShape,
    { role: "assistant", content: [{ type: "thinking", thinking: SECRET, signature: "s" }] },
  ],
  [
    "ai-sdk call",
    aiSdkShape,
    {
      role: "assistant",
      content: [
        { type: "text", text: SECRET, providerOptions: { x: { y: SECRET } } },
        { type: "tool-call", toolCallId: "c1", toolName: "f", input: { a: SECRET } },
      ],
    },
  ],
  [
    "ai-sdk results",
    aiSdkShape,
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "c1", toolName: "f", output: { type: "text", value: SECRET } }],
    },
  ],
] as unknown as [string, Shape<never>, object][];

for (const [name, shape, given] of CASES) {
  test(`a redacted message keeps its role and call ids and nothing it said: ${name}`, () => {
    const message = given as never;
    const erased = skeleton(shape, message);
    assert.ok(!JSON.stringify(erased).includes(SECRET), JSON.stringify(erased));
    assert.equal(shape.role(erased), shape.role(message));
    assert.deepEqual(shape.calls(erased), shape.calls(message));
    assert.deepEqual(shape.answers(erased), shape.answers(message));
    assert.ok(shape.parts(erased).length > 0);
  });
}
