// Small files, each written by hand the way its app writes it, through the whole reading: what is imported, what is said.
import assert from "node:assert/strict";
import { test } from "node:test";
import { detectDialect, repair, rulesOf, type Shape, shapeOf, violations } from "@palimpsest/core/internal/message";
import { readConversations } from "../read-conversations.ts";
import { messageProblem } from "../validate.ts";

async function read(...lines: readonly unknown[]) {
  const reading = await readConversations(Buffer.from(lines.map((line) => JSON.stringify(line)).join("\n")));
  const [conversation] = reading.conversations;
  const values = conversation?.messages.map(({ value }) => value) ?? [];
  const { dialect } = detectDialect(values);
  const shape = shapeOf(dialect) as Shape<unknown>;
  for (const value of values) assert.equal(messageProblem(value, dialect), null);
  return { ...reading, conversation, values, dialect, shape, said: values.map((value) => saidIn(value, shape)) };
}

const saidIn = (value: unknown, shape: Shape<unknown>) => [
  shape.role(value),
  ...shape.parts(value).map((part) => ("text" in part ? part.text : part.kind)),
];

const node = (id: string, parent: string | null, children: readonly string[], message: object | null) => ({
  id,
  parent,
  children,
  message,
});

const says = (role: string, content: object, more: object = {}) => ({
  author: { role },
  create_time: 1_767_322_800.5,
  content,
  recipient: "all",
  ...more,
});

const text = (...parts: readonly unknown[]) => ({ content_type: "text", parts });

test("a ChatGPT export is read along its current branch, with calls, thoughts and title; other branches are forks", async () => {
  const mapping = {
    root: node("root", null, ["s"], null),
    s: node("s", "root", ["u"], says("system", text(""))),
    u: node(
      "u",
      "s",
      ["old", "t"],
      says("user", {
        content_type: "multimodal_text",
        parts: [{ content_type: "image_asset_pointer", asset_pointer: "file-service://f1" }, "Plot it"],
      }),
    ),
    old: node("old", "u", [], says("assistant", text("An answer that was tried again"))),
    t: node(
      "t",
      "u",
      ["c"],
      says("assistant", { content_type: "thoughts", thoughts: [{ summary: "Plan", content: "Use Python" }] }),
    ),
    c: node(
      "c",
      "t",
      ["r"],
      says("assistant", { content_type: "code", language: "python", text: "plot()" }, { recipient: "python" }),
    ),
    r: node("r", "c", ["r2"], says("tool", { content_type: "execution_output", text: "ok" })),
    r2: node("r2", "r", ["a"], says("tool", { content_type: "execution_output", text: "saved" })),
    a: node("a", "r2", [], says("assistant", text("Done."), { metadata: { model_slug: "gpt-5" } })),
  };
  const { format, conversation, conversations, said, dialect, shape, values } = await read([
    { title: "A plot", current_node: "a", mapping },
  ]);
  assert.equal(format, "ChatGPT export");
  assert.deepEqual([dialect, conversation?.title, conversation?.messages.at(-1)?.model], ["openai", "A plot", "gpt-5"]);
  assert.deepEqual(said, [
    ["user", "[file: file-service://f1]\n\nPlot it"],
    ["assistant", "Use Python"],
    ["assistant", "call"],
    ["tool", "ok\n\nsaved"],
    ["assistant", "Done."],
  ]);
  const [, branch] = conversations;
  assert.deepEqual(
    [branch?.shared, branch?.messages.map(({ value }) => saidIn(value, shape).at(-1))],
    [1, ["[file: file-service://f1]\n\nPlot it", "An answer that was tried again"]],
  );
  assert.equal(conversation?.messages[0]?.at, "2026-01-02T03:00:00.500Z");
  assert.deepEqual(violations(repair(values, shape, rulesOf("openai")).messages, shape, rulesOf("openai")), []);
});

test("a Claude.ai export is read with attachments, and a tool's result goes to the user's side", async () => {
  const chat_messages = [
    {
      uuid: "1",
      sender: "human",
      text: "Sum it",
      content: [{ type: "text", text: "Sum it" }],
      attachments: [{ file_name: "a.csv", extracted_content: "1,2" }],
    },
    {
      uuid: "2",
      sender: "assistant",
      content: [
        { type: "thinking", thinking: "Add." },
        { type: "tool_use", name: "repl", input: { code: "1+2" } },
        { type: "tool_result", name: "repl", content: [{ type: "text", text: "3" }] },
        { type: "text", text: "It is 3." },
        { type: "token_budget" },
      ],
      created_at: "2026-01-02T03:04:05Z",
    },
  ];
  const { format, said, dialect, conversation, notes, shape, values } = await read([
    { uuid: "c", name: "Sums", chat_messages },
  ]);
  assert.deepEqual([format, dialect, conversation?.title], ["Claude.ai export", "anthropic", "Sums"]);
  assert.deepEqual(said, [
    ["user", "[file: a.csv]\n1,2", "Sum it"],
    ["assistant", "Add.", "call"],
    ["tool", "3"],
    ["assistant", "It is 3."],
  ]);
  assert.deepEqual(shape.calls(values[1]), shape.answers(values[2]));
  assert.match(notes[0]!.message, /token_budget/);
});

test("a Codex rollout gives the items of its answers, with model, usage and instructions", async () => {
  const line = (type: string, payload: object) => ({ timestamp: "2026-01-02T03:04:05.000Z", type, payload });
  const { format, dialect, conversation, said, skipped } = await read(
    line("session_meta", { id: "s", cwd: "/w", instructions: "Be brief." }),
    line("turn_context", { model: "gpt-5-codex" }),
    line("response_item", { type: "message", role: "user", content: [{ type: "input_text", text: "go" }] }),
    line("response_item", {
      type: "reasoning",
      summary: [{ type: "summary_text", text: "Look." }],
      encrypted_content: "x",
    }),
    line("response_item", { type: "function_call", name: "shell", arguments: "{}", call_id: "a" }),
    line("event_msg", {
      type: "token_count",
      info: { last_token_usage: { input_tokens: 900, cached_input_tokens: 500, output_tokens: 20 } },
    }),
    line("response_item", { type: "function_call_output", call_id: "a", output: { content: "ok", success: true } }),
    line("response_item", { type: "ghost_snapshot", ghost_commit: {} }),
  );
  assert.deepEqual([format, dialect, skipped], ["Codex rollout", "openai-responses", 4]);
  assert.deepEqual(conversation?.request, { system: "Be brief." });
  assert.deepEqual(said, [
    ["user", "go"],
    ["assistant", "Look."],
    ["assistant", "call"],
    ["tool", "ok"],
  ]);
  const { usage, model } = conversation!.messages[2]!;
  assert.deepEqual([usage, model], [{ input: 900, output: 20, cacheRead: 500, cacheWrite: 0 }, "gpt-5-codex"]);
});

test("a gemini-cli session is read from a document and from lines, which can grow and be taken back", async () => {
  const session = { sessionId: "s", projectHash: "p", startTime: "2026-01-02T03:04:05Z" };
  const call = {
    id: "a",
    name: "read_file",
    args: { path: "x" },
    status: "success",
    result: [{ functionResponse: { name: "read_file", response: { output: "text" } } }],
  };
  const messages = [
    { id: "1", type: "user", content: "read x" },
    {
      id: "2",
      type: "gemini",
      content: "Reading.",
      thoughts: [{ subject: "Plan", description: "read" }],
      toolCalls: [call],
      tokens: { input: 70, output: 5, cached: 10 },
      model: "gemini-3-pro",
    },
    { id: "3", type: "info", content: "Update available" },
  ];
  const document = await read({ ...session, messages });
  const expected = [
    ["user", "read x"],
    ["assistant", "Plan\nread", "Reading.", "call"],
    ["tool", "text"],
  ];
  assert.deepEqual([document.format, document.dialect, document.said], ["gemini-cli session", "gemini", expected]);
  assert.deepEqual(document.conversation!.messages[1]!.usage, { input: 70, output: 5, cacheRead: 10, cacheWrite: 0 });
  const lines = await read(
    session,
    messages[0],
    { ...messages[1], toolCalls: [] },
    messages[1],
    { id: "9", type: "user", content: "no" },
    { $rewindTo: "9" },
  );
  assert.deepEqual(lines.said, expected);
});

test("ShareGPT turns are read whatever they call the speakers, calls included", async () => {
  const turns = [
    ["human", "hi"],
    ["function_call", '{"name":"look","arguments":{"at":1}}'],
    ["observation", "42"],
    ["gpt", "It is 42."],
    ["narrator", "x"],
  ];
  const conversations = turns.map(([from, value]) => ({ from, value }));
  const { format, said, conversation, notes } = await read([{ id: "1", system: "Be kind.", conversations }]);
  assert.deepEqual([format, conversation?.request], ["ShareGPT", { system: "Be kind." }]);
  assert.deepEqual(said, [
    ["user", "hi"],
    ["assistant", "call"],
    ["tool", "42"],
    ["assistant", "It is 42."],
  ]);
  assert.match(notes[0]!.message, /a turn of narrator/);
});

test("UI messages are read from an array, from lines and from a stored chat, and never as empty ones", async () => {
  const shown = [
    { id: "1", role: "user", parts: [{ type: "text", text: "hi" }], createdAt: "2026-01-02T03:04:05Z" },
    {
      id: "2",
      role: "assistant",
      parts: [{ type: "step-start" }, { type: "text", text: "ho" }, { type: "data-x", data: 1 }],
    },
    { id: "3", role: "user", parts: [{ type: "data-x", data: 1 }] },
  ];
  for (const file of [[shown], shown, [{ id: "chat", messages: shown }]]) {
    const { format, said, notes } = await read(...file);
    assert.equal(format, "AI SDK UI messages");
    assert.deepEqual(said, [
      ["user", "hi"],
      ["assistant", "ho"],
    ]);
    assert.match(notes.map(({ message }) => message).join("; "), /data-x: data for the page.*message: nothing in it/);
  }
});

test("messages of LangChain, Gemini and the Responses API are read as they are, from lists and from what holds them", async () => {
  const lc = (name: string, kwargs: object) => ({
    lc: 1,
    type: "constructor",
    id: ["langchain_core", "messages", name],
    kwargs,
  });
  const contents = [
    { role: "user", parts: [{ text: "hi" }] },
    { role: "model", parts: [{ text: "ho" }] },
  ];
  const files: readonly (readonly [dialect: string, file: readonly unknown[]])[] = [
    [
      "langchain",
      [
        [
          { type: "human", content: "hi" },
          { type: "ai", content: "ho" },
        ],
      ],
    ],
    [
      "langchain",
      [
        [
          { type: "human", data: { content: "hi" } },
          { type: "ai", data: { content: "ho" } },
        ],
      ],
    ],
    ["langchain", [[lc("HumanMessage", { content: "hi" }), lc("AIMessage", { content: "ho" })]]],
    [
      "langchain",
      [
        {
          values: {
            messages: [
              { type: "human", content: "hi" },
              { type: "ai", content: "ho" },
            ],
          },
          next: [],
        },
      ],
    ],
    ["gemini", [contents]],
    ["gemini", [{ systemInstruction: { parts: [{ text: "Be brief." }] }, contents }]],
    ["gemini", [{ history: contents, authType: "oauth" }]],
    [
      "openai-responses",
      [
        {
          model: "m",
          instructions: "Be brief.",
          input: [
            { type: "message", role: "user", content: "hi" },
            { type: "message", role: "assistant", content: [{ type: "output_text", text: "ho" }] },
          ],
        },
      ],
    ],
  ];
  for (const [dialect, file] of files) {
    const found = await read(...file);
    assert.deepEqual(
      [found.dialect, found.said],
      [
        dialect,
        [
          ["user", "hi"],
          ["assistant", "ho"],
        ],
      ],
      JSON.stringify(file),
    );
    const { request } = found.conversation!;
    assert.ok(request === null || request.system === "Be brief.");
  }
});

test("a file of another kind is told apart by what it has, with what could be read", async () => {
  const { conversations, seen } = await read({ event: 1, level: "info" });
  assert.equal(conversations.length, 0);
  assert.match(
    seen,
    /fields event, level\. What can be read: .*Gemini.*ChatGPT export; Claude\.ai export; Claude Code session; Codex rollout/,
  );
});
