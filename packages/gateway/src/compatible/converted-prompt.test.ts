import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnthropicMessage, OpenAiMessage, Shape } from "@palimpsest/core/internal/message";
import { anthropicShape, openaiShape } from "@palimpsest/core/internal/message";
import { callOptions } from "./converted-prompt.ts";

const NOTHING = {
  model: "m",
  stream: false,
  leading: [],
  system: "",
  tools: [],
  maxTokens: null,
  reference: null,
};
const PIXEL = "iVBORw0KGgo=";

function optionsOf<M>(messages: readonly M[], shape: Shape<M>, tools: readonly unknown[] = []) {
  return callOptions({ request: { ...NOTHING, messages, tools }, messages, body: {} }, shape);
}

const called = (input: string): OpenAiMessage => ({
  role: "assistant",
  content: null,
  tool_calls: ["a", "b"].map((id) => ({ id, type: "function", function: { name: "look", arguments: input } })),
});

test("a function without parameters is still a tool of another vendor's model, and one that its vendor runs is not", () => {
  const schema = { type: "object", properties: { depth: { type: "number" } } };
  const none = { type: "object", properties: {} };
  const rows: readonly (readonly [unknown, unknown])[] = [
    [{ type: "function", function: { name: "look" } }, none],
    [{ type: "function", function: { name: "look", parameters: schema } }, schema],
    [{ type: "function", name: "look", parameters: null }, none],
    [{ name: "look" }, none],
    [{ name: "look", input_schema: schema }, schema],
    [{ type: "custom", name: "look", input_schema: schema }, schema],
    [{ type: "web_search_20250305", name: "look" }, undefined],
    [{ type: "custom", name: "look" }, undefined],
    [{ type: "custom", custom: { name: "look" } }, undefined],
  ];
  for (const [tool, inputSchema] of rows) {
    const [first] = optionsOf([{ role: "user", content: "?" }], openaiShape, [tool]).tools ?? [];
    assert.deepEqual(first?.type === "function" ? first.inputSchema : undefined, inputSchema, JSON.stringify(tool));
  }
});

test("images in tool results follow the results, so that calls and results stay side by side", () => {
  const image = { type: "image_url" as const, image_url: { url: `data:image/png;base64,${PIXEL}` } };
  const messages: readonly OpenAiMessage[] = [
    { role: "user", content: "?" },
    called("{}"),
    { role: "tool", tool_call_id: "a", content: [image] },
    { role: "tool", tool_call_id: "b", content: [{ type: "text", text: "dark" }, image] },
    { role: "user", content: "And?" },
  ];
  const { prompt } = optionsOf(messages, openaiShape);
  const file = { type: "file", mediaType: "image/png", data: { type: "data", data: PIXEL } };
  const result = (id: string, value: string) => ({
    role: "tool",
    content: [{ type: "tool-result", toolCallId: id, toolName: "look", output: { type: "text", value } }],
  });
  assert.deepEqual(prompt.slice(2), [
    result("a", "[the image follows]"),
    result("b", "dark"),
    { role: "user", content: [file, file] },
    { role: "user", content: [{ type: "text", text: "And?" }] },
  ]);
});

test("the input of a call is an object for another vendor's model, also where the text was none or is too deep", () => {
  const deep = `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
  const rows: readonly (readonly [string, unknown])[] = [
    ['{"depth":7}', { depth: 7 }],
    ["", {}],
    ['{"depth":', { INVALID_JSON: '{"depth":' }],
    ["[1]", { INVALID_JSON: "[1]" }],
    ["null", { INVALID_JSON: "null" }],
    [deep, { INVALID_JSON: deep }],
  ];
  for (const [text, input] of rows) {
    const { content } = optionsOf([called(text)], openaiShape).prompt[0]!;
    assert.deepEqual((content[0] as { readonly input?: unknown }).input, input, text.slice(0, 20));
  }
});

test("a message of which nothing can be told to another vendor's model is left out", () => {
  const messages: readonly AnthropicMessage[] = [
    { role: "user", content: "?" },
    { role: "assistant", content: [{ type: "thinking", thinking: "hm", signature: "s" }] },
    { role: "user", content: "Well?" },
  ];
  assert.deepEqual(
    optionsOf(messages, anthropicShape).prompt.map(({ role }) => role),
    ["user", "user"],
  );
});

test("a file keeps its name at another vendor's model", () => {
  const file_data = "data:application/pdf;base64,JVBERi0=";
  const message: OpenAiMessage = {
    role: "user",
    content: [{ type: "file", file: { filename: "chart.pdf", file_data } }],
  };
  const { content } = optionsOf([message], openaiShape).prompt[0]!;
  assert.equal((content[0] as { readonly filename?: unknown }).filename, "chart.pdf");
});
