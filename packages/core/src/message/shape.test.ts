// The same conversation, written by hand as each provider writes it, must look the same through the port.
import assert from "node:assert/strict";
import { test } from "node:test";
import { changed } from "@palimpsest/testing/internal/shapes";
import { DIALECTS, type MessageOf, rulesOf, shapeOf } from "./dialects.ts";
import { openaiRules, violations } from "./rules.ts";
import { file, image, text } from "./schema.ts";
import type { ReasoningPart, Shape } from "./shape.ts";

const PIXEL = "iVBORw0KGgo=";

/** The result of the first call comes with a picture where the provider has a place for it. */
const WRITTEN: { readonly [D in keyof MessageOf]: readonly MessageOf[D][] } = {
  openai: [
    { role: "developer", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}`, detail: "low" } },
        { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${PIXEL}` } },
      ],
    },
    {
      role: "assistant",
      content: "Let me look.",
      reasoning_content: "Two tools.",
      tool_calls: [
        { id: "a", type: "function", function: { name: "look", arguments: '{"at":1}' } },
        { id: "b", type: "function", function: { name: "read", arguments: "{}" } },
      ],
    },
    { role: "tool", tool_call_id: "a", content: "a pixel" },
    { role: "tool", tool_call_id: "b", content: [{ type: "text", text: "no such file" }] },
    { role: "assistant", content: "A pixel." },
  ],
  anthropic: [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "What is this?", cache_control: { type: "ephemeral" } },
        { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
        { type: "document", title: "a.pdf", source: { type: "base64", media_type: "application/pdf", data: PIXEL } },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Two tools.", signature: "proof" },
        { type: "text", text: "Let me look." },
        { type: "tool_use", id: "a", name: "look", input: { at: 1 } },
        { type: "tool_use", id: "b", name: "read", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "a pixel" }] },
        { type: "tool_result", tool_use_id: "b", content: "no such file", is_error: true },
      ],
    },
    { role: "assistant", content: [{ type: "text", text: "A pixel." }] },
  ],
  "ai-sdk": [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image", image: Uint8Array.from(atob(PIXEL), (c) => c.charCodeAt(0)), mediaType: "image/png" },
        { type: "file", data: `data:application/pdf;base64,${PIXEL}`, mediaType: "application/pdf", filename: "a.pdf" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "Two tools.", providerOptions: { anthropic: { signature: "proof" } } },
        { type: "text", text: "Let me look." },
        { type: "tool-call", toolCallId: "a", toolName: "look", input: { at: 1 } },
        { type: "tool-call", toolCallId: "b", toolName: "read", input: {} },
      ],
    },
    {
      role: "tool",
      content: [
        { type: "tool-result", toolCallId: "a", toolName: "look", output: { type: "text", value: "a pixel" } },
        {
          type: "tool-result",
          toolCallId: "b",
          toolName: "read",
          output: { type: "error-text", value: "no such file" },
        },
      ],
    },
    { role: "assistant", content: "A pixel." },
  ],
  gemini: [
    { role: "system", parts: [{ text: "Be brief." }] },
    {
      role: "user",
      parts: [
        { text: "What is this?" },
        { inlineData: { mimeType: "image/png", data: PIXEL } },
        { inline_data: { mime_type: "application/pdf", data: PIXEL, display_name: "a.pdf" } },
      ],
    },
    {
      role: "model",
      parts: [
        { text: "Two tools.", thought: true },
        { text: "Let me look." },
        { functionCall: { id: "a", name: "look", args: { at: 1 } }, thoughtSignature: "proof" },
        { functionCall: { id: "b", name: "read", args: {} } },
      ],
    },
    {
      role: "user",
      parts: [
        { functionResponse: { id: "a", name: "look", response: { output: "a pixel" } } },
        { functionResponse: { id: "b", name: "read", response: { error: "no such file" } } },
      ],
    },
    { role: "model", parts: [{ text: "A pixel." }] },
  ],
  "openai-responses": [
    { role: "developer", content: "Be brief." },
    {
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "What is this?" },
        { type: "input_image", image_url: `data:image/png;base64,${PIXEL}`, detail: "low" },
        { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${PIXEL}` },
      ],
    },
    [
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "Two tools." }],
        encrypted_content: "x",
      },
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        content: [{ type: "output_text", text: "Let me look.", annotations: [] }],
      },
      { type: "function_call", id: "fc_1", call_id: "a", name: "look", arguments: '{"at":1}' },
      { type: "function_call", id: "fc_2", call_id: "b", name: "read", arguments: "{}" },
    ],
    { type: "function_call_output", call_id: "a", output: "a pixel" },
    { type: "function_call_output", call_id: "b", output: [{ type: "input_text", text: "no such file" }] },
    { role: "assistant", content: "A pixel." },
  ],
  langchain: [
    { type: "system", content: "Be brief." },
    {
      type: "human",
      data: {
        content: [
          { type: "text", text: "What is this?" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
          { type: "file", mime_type: "application/pdf", filename: "a.pdf", base64: PIXEL },
        ],
      },
    },
    {
      lc: 1,
      type: "constructor",
      id: ["langchain_core", "messages", "AIMessage"],
      kwargs: {
        content: [
          { type: "thinking", thinking: "Two tools.", signature: "proof" },
          { type: "text", text: "Let me look." },
          { type: "tool_use", id: "a", name: "look", input: { at: 1 } },
          { type: "tool_use", id: "b", name: "read", input: {} },
        ],
        tool_calls: [
          { name: "look", args: { at: 1 }, id: "a", type: "tool_call" },
          { name: "read", args: {}, id: "b", type: "tool_call" },
        ],
      },
    },
    { type: "tool", content: "a pixel", tool_call_id: "a", name: "look" },
    { type: "tool", content: [{ type: "text", text: "no such file" }], tool_call_id: "b", status: "error" },
    { type: "ai", content: "A pixel." },
  ],
};

for (const dialect of DIALECTS) suite(shapeOf(dialect) as Shape<unknown>, WRITTEN[dialect]);

function suite(shape: Shape<unknown>, written: readonly unknown[]): void {
  const { dialect } = shape;
  const [system, user, caller, ...rest] = written;
  const answer = rest.at(-1);
  const results = rest.slice(0, -1);

  test(`${dialect}: every message has its role, and a message with results is the tool's`, () => {
    assert.deepEqual([system, user, caller, answer].map(shape.role), ["system", "user", "assistant", "assistant"]);
    assert.ok(results.every((message) => shape.role(message) === "tool"));
  });

  test(`${dialect}: the parts are the same as with every provider`, () => {
    assert.deepEqual(shape.parts(system), [text("Be brief.")]);
    assert.deepEqual(shape.parts(user), [
      text("What is this?"),
      image("image/png", { data: PIXEL }),
      file({ mediaType: "application/pdf", name: "a.pdf", data: PIXEL }),
    ]);
    const [thought, ...others] = shape.parts(caller);
    assert.equal((thought as ReasoningPart).text, "Two tools.");
    assert.deepEqual(others, [
      text("Let me look."),
      { kind: "call", id: "a", name: "look", input: '{"at":1}' },
      { kind: "call", id: "b", name: "read", input: "{}" },
    ]);
    assert.deepEqual(
      results.flatMap(shape.parts).map((part) => part.kind === "result" && [part.id, part.text, part.images.length]),
      [
        ["a", "a pixel", 0],
        ["b", "no such file", 0],
      ],
    );
  });

  test(`${dialect}: calls and answers are listed in order`, () => {
    assert.deepEqual(shape.calls(caller), ["a", "b"]);
    assert.deepEqual(results.flatMap(shape.answers), ["a", "b"]);
    assert.deepEqual([system, user, answer, ...results].flatMap(shape.calls), []);
    assert.deepEqual([system, user, caller, answer].flatMap(shape.answers), []);
  });

  test(`${dialect}: the conversation is valid`, () => {
    assert.deepEqual(violations(written, shape, rulesOf(dialect as keyof MessageOf)), []);
  });

  test(`${dialect}: an edited call leaves text and signature as they were [F19]`, () => {
    const before = structuredClone(caller);
    const edited = shape.withPart(caller, 2, { kind: "call", id: "a", name: "look", input: '{"at":2}' });
    assert.deepEqual(caller, before);
    assert.deepEqual(shape.parts(edited).toSpliced(2, 1), shape.parts(caller).toSpliced(2, 1));
    assert.deepEqual(shape.withPart(edited, 2, shape.parts(caller)[2]!), caller);
  });

  test(`${dialect}: a part replaced and put back gives the same JSON, fields we don't know included`, () => {
    for (const message of written) {
      const later = { refusal: null, later_field: [1] };
      const given = Array.isArray(message)
        ? message.map((item: object) => ({ ...item, ...later }))
        : { ...(message as object), ...later };
      for (const [index, part] of shape.parts(given).entries()) {
        assert.equal(shape.withPart(given, index, part), given);
        const back = shape.withPart(shape.withPart(given, index, changed(part)), index, part);
        if (part.kind !== "result") assert.equal(JSON.stringify(back), JSON.stringify(given));
        assert.deepEqual(shape.parts(back), shape.parts(given));
      }
    }
  });

  test(`${dialect}: a text can stand for an image, and marks on other blocks stay`, () => {
    const edited = shape.withPart(user, 1, text("[an old image]"));
    assert.deepEqual(shape.parts(edited), shape.parts(user).toSpliced(1, 1, text("[an old image]")));
    assert.deepEqual(blocksIn(edited)[0], blocksIn(user)[0]);
  });

  test(`${dialect}: a part that would tear the message apart is refused with the reason`, () => {
    assert.throws(() => shape.withPart(caller, 2, text("no")), /call part can't become a text part/);
    assert.throws(() => shape.withPart(user, 9, text("no")), /no part at this index/);
  });

  test(`${dialect}: some parts of a message can be kept, in any order`, () => {
    const kept = shape.select(caller, [0, 3]);
    assert.deepEqual(shape.parts(kept), [shape.parts(caller)[0], shape.parts(caller)[3]]);
    assert.deepEqual(shape.parts(shape.select(answer, [])), []);
  });

  test(`${dialect}: two turns of one speaker join with all their parts`, () => {
    const joined = shape.join(shape.turn("user", "one"), shape.turn("user", "two"));
    assert.equal(
      shape
        .parts(joined)
        .map((part) => part.kind === "text" && part.text)
        .join("\n\n"),
      "one\n\ntwo",
    );
    const said = shape.join(shape.turn("assistant", "Well."), caller);
    assert.deepEqual(shape.calls(said), ["a", "b"]);
    const words = shape.parts(said).flatMap((part) => (part.kind === "text" ? part.text.split("\n\n") : []));
    assert.deepEqual(words, ["Well.", "Let me look."]);
    assert.ok(shape.parts(said).some((part) => part.kind === "reasoning"));
  });

  test(`${dialect}: new results answer their calls in messages the provider accepts`, () => {
    const answers = ["a", "b"].map((id) => ({ id, name: "x", text: `of ${id}`, isError: false }));
    const made = shape.results(answers);
    assert.deepEqual(made.flatMap(shape.answers), ["a", "b"]);
    assert.deepEqual(violations([user, caller, ...made], shape, openaiRules), []);
  });
}

/** Where a message's blocks stand, whatever its form. */
function blocksIn(message: unknown): readonly unknown[] {
  const { content, parts, data } = message as { content?: unknown[]; parts?: unknown[]; data?: { content: unknown[] } };
  return content ?? parts ?? data!.content;
}
