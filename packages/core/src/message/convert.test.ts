import assert from "node:assert/strict";
import { test } from "node:test";
import { randomConversation, render } from "@palimpsest/testing/internal/shapes";
import fc from "fast-check";
import type { AiSdkMessage } from "./ai-sdk.ts";
import type { AnthropicMessage } from "./anthropic.ts";
import { convert, DIALECTS, type Dialect, type MessageOf, rulesOf, shapeOf } from "./dialects.ts";
import type { OpenAiMessage } from "./openai.ts";
import { repair } from "./repair.ts";
import { anthropicRules, openaiRules, violations } from "./rules.ts";
import type { Shape } from "./shape.ts";

const pairs = DIALECTS.flatMap((from) => DIALECTS.filter((to) => to !== from).map((to) => [from, to] as const));

for (const [from, to] of pairs) {
  test(`${from} to ${to} and back: every text, call, result and image arrives`, () => {
    fc.assert(
      fc.property(fc.nat(), fc.boolean(), (seed, wild) => {
        const script = randomConversation(seed, { wild, messages: 12, longest: 40, images: 0.2, parallel: 6 });
        const given = render(script, shapeOf(from));
        const there = convert(given, from, to);
        const back = convert(there, to, from);
        assert.deepEqual(contents(there, to), contents(given, from));
        assert.deepEqual(contents(back, from), contents(given, from));
      }),
    );
  });

  test(`${from} to ${to}: a valid conversation stays valid but for reasoning nobody there has signed`, () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const given = render(randomConversation(seed, { messages: 12, longest: 40, images: 0.1 }), shapeOf(from));
        const broken = violations(convert(given, from, to), shapeOf(to), rulesOf(to));
        assert.deepEqual(
          broken.filter(({ rule }) => rule !== "reasoning-signed"),
          [],
        );
      }),
    );
  });
}

test("Anthropic messages come back from the AI SDK exactly as they were, signatures included [F19]", () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const given = render(randomConversation(seed, { messages: 12, longest: 40, images: 0 }), shapeOf("anthropic"));
      assert.deepEqual(convert(convert(given, "anthropic", "ai-sdk"), "ai-sdk", "anthropic"), given);
    }),
  );
});

test("results in one Anthropic message become one OpenAI message each, with the user's words after them", () => {
  const given: AnthropicMessage[] = [
    { role: "assistant", content: [call("a"), call("b")] },
    { role: "user", content: [answer("a"), answer("b"), { type: "text", text: "and hurry" }] },
  ];
  assert.deepEqual(
    convert(given, "anthropic", "openai").map(({ role, content }) => [role, content]),
    [
      ["assistant", null],
      ["tool", "of a"],
      ["tool", "of b"],
      ["user", "and hurry"],
    ],
  );
  assert.deepEqual(convert(convert(given, "anthropic", "openai"), "openai", "anthropic"), given);
});

test("OpenAI results become one AI SDK tool message that knows the tools' names", () => {
  const given: OpenAiMessage[] = [
    {
      role: "assistant",
      tool_calls: ["a", "b"].map((id) => ({ id, function: { name: `tool ${id}`, arguments: "" } })),
    },
    { role: "tool", tool_call_id: "a", content: "1" },
    { role: "tool", tool_call_id: "b", content: "2" },
  ];
  assert.deepEqual(convert(given, "openai", "ai-sdk")[1], {
    role: "tool",
    content: [
      { type: "tool-result", toolCallId: "a", toolName: "tool a", output: { type: "text", value: "1" } },
      { type: "tool-result", toolCallId: "b", toolName: "tool b", output: { type: "text", value: "2" } },
    ],
  });
});

test("a foreign signature is dropped, the thought kept, and a thought that is only a signature goes", () => {
  const given: AiSdkMessage[] = [
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm", providerOptions: { google: { thoughtSignature: "g" } } },
        { type: "reasoning", text: "", providerOptions: { google: { thoughtSignature: "h" } } },
        { type: "text", text: "yes" },
      ],
    },
  ];
  const there = convert(given, "ai-sdk", "anthropic");
  assert.deepEqual(there[0]?.content, [
    { type: "thinking", thinking: "hm", signature: "" },
    { type: "text", text: "yes" },
  ]);
  const valid = repair([{ role: "user", content: "?" }, ...there], shapeOf("anthropic"), anthropicRules);
  assert.deepEqual(valid.messages[1]?.content, [{ type: "text", text: "yes" }]);
});

test("arguments that are no JSON reach Anthropic inside an object", () => {
  const given: OpenAiMessage[] = [
    { role: "assistant", tool_calls: [{ id: "a", function: { name: "f", arguments: '{"cut' } }] },
  ];
  assert.deepEqual(convert(given, "openai", "anthropic")[0]?.content, [
    { type: "tool_use", id: "a", name: "f", input: { input: '{"cut' } },
  ]);
});

test("OpenAI's older function calls pair by name and convert as tool calls", () => {
  const given: OpenAiMessage[] = [
    { role: "user", content: "now?" },
    { role: "assistant", content: null, function_call: { name: "time", arguments: "{}" } },
    { role: "function", name: "time", content: "noon" },
  ];
  assert.deepEqual(violations(given, shapeOf("openai"), openaiRules), []);
  assert.deepEqual(violations(convert(given, "openai", "anthropic"), shapeOf("anthropic"), anthropicRules), []);
});

const call = (id: string) => ({ type: "tool_use", id, name: "f", input: {} }) as const;
const answer = (id: string) => ({ type: "tool_result", tool_use_id: id, content: `of ${id}` }) as const;

/**
 * What must survive. Inputs as values, because providers space JSON differently; texts and images wherever they stand,
 * because some formats have no place for them in a tool message, or only one text in a system message.
 */
function contents<D extends Dialect>(messages: readonly MessageOf[D][], dialect: D) {
  const shape: Shape<MessageOf[D]> = shapeOf(dialect);
  const parts = messages.flatMap((message) => shape.parts(message));
  const images = parts.flatMap((part) => (part.kind === "image" ? [part] : part.kind === "result" ? part.images : []));
  return {
    texts: parts.flatMap((part) => (part.kind === "text" ? part.text.split(/\n+/).filter(Boolean) : [])).sort(),
    calls: parts.flatMap((part) => (part.kind === "call" ? [[part.id, part.name, JSON.parse(part.input)]] : [])),
    results: parts.flatMap((part) => (part.kind === "result" ? [[part.id, part.text.replace(FOLLOWS, "")]] : [])),
    images: images.map((part) => JSON.stringify(part.source)).sort(),
  };
}

const FOLLOWS = "[the image follows]";
