// The official clients and the AI SDK's providers against the fake provider: what they understand of it is the proof.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { APICallError, jsonSchema, type LanguageModel, type ModelMessage, streamText, type Tool } from "ai";
import OpenAI from "openai";
import { type ProviderServer, type ProviderServerOptions, startProviderServer } from "./provider-server.ts";

interface Got {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  readonly input: number | undefined;
  readonly output: number | undefined;
}

/** Asks a question of two messages with one tool offered, or rejects with the client's own error. */
type Ask = (server: ProviderServer, signal?: AbortSignal) => Promise<Got>;

const schema = { type: "object" as const, properties: { path: { type: "string" as const } } };
const key = { apiKey: "key" };
const chatTool = { type: "function" as const, function: { name: "read", parameters: schema } };
const question = "what is in a.txt?";

const chatBody = {
  model: "m",
  messages: [
    { role: "system" as const, content: "be brief" },
    { role: "user" as const, content: question },
  ],
  tools: [chatTool],
};

const responsesBody = {
  model: "m",
  instructions: "be brief",
  input: question,
  tools: [{ type: "function" as const, name: "read", parameters: schema, strict: false }],
};

const claudeBody = {
  model: "m",
  max_tokens: 1000,
  system: "be brief",
  messages: [{ role: "user" as const, content: question }],
  tools: [{ name: "read", input_schema: schema }],
};

const openai = (server: ProviderServer) => new OpenAI({ ...key, baseURL: server.url, maxRetries: 0 });
const anthropic = (server: ProviderServer) => new Anthropic({ ...key, baseURL: server.origin, maxRetries: 0 });

const clients: Record<string, Ask> = {
  "openai chat, whole": async (server, signal) => {
    const { choices, usage } = await openai(server).chat.completions.create(chatBody, { signal: signal ?? null });
    return { ...ofChat(choices[0]!.message), input: usage?.prompt_tokens, output: usage?.completion_tokens };
  },
  "openai chat, streamed": async (server, signal) => {
    const body = { ...chatBody, stream_options: { include_usage: true } };
    const { choices, usage } = await openai(server)
      .chat.completions.stream(body, { signal: signal ?? null })
      .finalChatCompletion();
    return { ...ofChat(choices[0]!.message), input: usage?.prompt_tokens, output: usage?.completion_tokens };
  },
  "openai responses, whole": async (server, signal) =>
    ofResponse(await openai(server).responses.create(responsesBody, { signal: signal ?? null })),
  "openai responses, streamed": async (server, signal) =>
    ofResponse(
      await openai(server)
        .responses.stream(responsesBody, { signal: signal ?? null })
        .finalResponse(),
    ),
  "anthropic, whole": async (server, signal) =>
    ofClaude(await anthropic(server).messages.create(claudeBody, { signal: signal ?? null })),
  "anthropic, streamed": async (server, signal) =>
    ofClaude(
      await anthropic(server)
        .messages.stream(claudeBody, { signal: signal ?? null })
        .finalMessage(),
    ),
  "AI SDK openai responses": viaSdk((server) => createOpenAI({ ...key, baseURL: server.url })("m")),
  "AI SDK openai chat": viaSdk((server) => createOpenAI({ ...key, baseURL: server.url }).chat("m")),
  "AI SDK openai-compatible": viaSdk((server) =>
    createOpenAICompatible({ name: "local", baseURL: server.url, includeUsage: true })("m"),
  ),
  "AI SDK anthropic": viaSdk((server) => createAnthropic({ ...key, baseURL: server.url })("m")),
};

for (const [name, ask] of Object.entries(clients)) {
  test(`${name}: text, tool calls and exact usage arrive`, async (t) => {
    const calls = [{ name: "read", input: { path: "a.txt" } }];
    const server = await start(t, { respond: ({ index }) => (index === 0 ? "It says hello. ✓" : { calls }) });
    const said = await ask(server);
    assert.equal(said.text, "It says hello. ✓");
    assert.deepEqual(said.calls, []);
    assert.deepEqual((await ask(server)).calls, calls);
    const { verdict, tools, turns } = server.requests[0]!;
    assert.deepEqual(verdict, { kind: "answered", input: said.input, cached: 0, output: said.output });
    assert.deepEqual(tools, ["read"]);
    assert.deepEqual(
      turns.map(({ role }) => role),
      ["system", "user"],
    );
  });

  test(`${name}: too long, too many requests and overload are errors with their status`, async (t) => {
    const faults = {
      0: { kind: "overflow" },
      1: { kind: "rate-limit", retryAfterSeconds: 3 },
      2: { kind: "server-error", status: 529 },
      3: { kind: "unauthorized" },
    } as const;
    const server = await start(t, { faults });
    for (const [status, words] of [
      [400, /context_length_exceeded|prompt is too long/],
      [429, /rate.limit/i],
      [529, /./],
      [401, /./],
    ] as const) {
      const error = await failed(ask(server));
      assert.equal(statusOf(error), status);
      assert.match(described(error), words);
      if (status === 429) assert.equal(retryAfter(error), "3");
    }
    assert.ok(server.requests.every(({ verdict }) => verdict.kind === "fault"));
  });

  test(`${name}: a dropped connection, a cut answer and a stall never pass for an answer`, async (t) => {
    const faults = { 0: { kind: "drop" }, 1: { kind: "cut" }, 2: { kind: "stall" } } as const;
    const server = await start(t, { respond: () => "a long answer ".repeat(40), faults });
    await failed(ask(server));
    await failed(ask(server));
    const stop = new AbortController();
    const stalled = failed(ask(server, stop.signal));
    while (server.requests.length < 3) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    await stalled;
  });
}

test("an AI SDK conversation with results, thinking and parallel calls passes the rules of each protocol", async (t) => {
  const server = await start(t);
  const messages: ModelMessage[] = [
    { role: "user", content: question },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I'll look." },
        { type: "tool-call", toolCallId: "c1", toolName: "read", input: { path: "a.txt" } },
        { type: "tool-call", toolCallId: "c2", toolName: "read", input: { path: "b.txt" } },
      ],
    },
    {
      role: "tool",
      content: [
        { type: "tool-result", toolCallId: "c1", toolName: "read", output: { type: "text", value: "hello" } },
        { type: "tool-result", toolCallId: "c2", toolName: "read", output: { type: "error-text", value: "no b.txt" } },
      ],
    },
  ];
  for (const model of sdkModels(server)) await viaSdk(() => model, messages)(server);
  assert.deepEqual(
    server.requests.map(({ verdict }) => verdict.kind),
    server.requests.map(() => "answered"),
  );
});

test("thinking comes back signed and is taken again", async (t) => {
  const server = await start(t, { respond: () => ({ reasoning: "let me see", text: "done" }) });
  const model = createAnthropic({ ...key, baseURL: server.url })("m");
  const first = streamText({ model, prompt: question, maxOutputTokens: 1000, onError: () => {} });
  assert.equal(await first.reasoningText, "let me see");
  const again: ModelMessage[] = [
    { role: "user", content: question },
    ...(await first.responseMessages),
    { role: "user", content: "go on" },
  ];
  await viaSdk(() => model, again)(server);
  assert.equal(server.requests[1]!.verdict.kind, "answered");
  assert.ok(server.requests[1]!.turns.some(({ parts }) => parts.some(({ kind }) => kind === "reasoning")));
});

for (const overflow of ["in-stream", "vllm", "llama.cpp", "too-large"] as const) {
  test(`the AI SDK reports a request refused as too long (${overflow}) as an error`, async (t) => {
    const server = await start(t, { window: 1, overflow });
    for (const model of sdkModels(server)) {
      const error = await failed(viaSdk(() => model)(server));
      assert.match(described(error), /context|too large|maximum size|too long/i, model.provider);
    }
    assert.ok(server.requests.every(({ verdict }) => verdict.kind === "refused"));
  });
}

test("an error in the middle of a stream is no answer", async (t) => {
  const server = await start(t, { faults: () => ({ kind: "stream-error", afterEvents: 2, status: 529 }) });
  for (const model of sdkModels(server)) await failed(viaSdk(() => model)(server));
  await failed(clients["anthropic, streamed"]!(server));
  await failed(clients["openai chat, streamed"]!(server));
  await failed(clients["openai responses, streamed"]!(server));
});

async function start(t: TestContext, options?: ProviderServerOptions): Promise<ProviderServer> {
  const server = await startProviderServer(options);
  t.after(() => server.close());
  return server;
}

function sdkModels({ url: baseURL }: ProviderServer): Exclude<LanguageModel, string>[] {
  const provider = createOpenAI({ ...key, baseURL });
  return [
    provider("m"),
    provider.chat("m"),
    createOpenAICompatible({ name: "local", baseURL, includeUsage: true })("m"),
    createAnthropic({ ...key, baseURL })("m"),
  ];
}

function viaSdk(modelOf: (server: ProviderServer) => LanguageModel, messages?: ModelMessage[]): Ask {
  const read: Tool = { inputSchema: jsonSchema(schema) };
  return async (server, signal) => {
    const result = streamText({
      model: modelOf(server),
      instructions: "be brief",
      messages: messages ?? [{ role: "user", content: question }],
      tools: { read },
      maxRetries: 0,
      maxOutputTokens: 1000,
      providerOptions: { openai: { store: false } },
      onError: () => {},
      ...(signal && { abortSignal: signal }),
    });
    for await (const part of result.stream) {
      if (part.type === "error") throw part.error;
      if (part.type === "abort") throw new Error("aborted");
    }
    const [step] = await result.steps;
    if (step!.finishReason === "interrupted" || step!.finishReason === "error") throw new Error("interrupted");
    const calls = step!.toolCalls.map(({ toolName, input }) => ({ name: toolName, input }));
    return { text: step!.text, calls, input: step!.usage.inputTokens, output: step!.usage.outputTokens };
  };
}

function ofChat(message: OpenAI.ChatCompletionMessage): Pick<Got, "text" | "calls"> {
  const calls = (message.tool_calls ?? []).flatMap((call) =>
    call.type === "function"
      ? [{ name: call.function.name, input: JSON.parse(call.function.arguments) as unknown }]
      : [],
  );
  return { text: message.content ?? "", calls };
}

function ofResponse(response: OpenAI.Responses.Response): Got {
  const calls = response.output.flatMap((item) =>
    item.type === "function_call" ? [{ name: item.name, input: JSON.parse(item.arguments) as unknown }] : [],
  );
  const { input_tokens: input, output_tokens: output } = response.usage!;
  return { text: response.output_text, calls, input, output };
}

function ofClaude({ content, usage }: Anthropic.Message): Got {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
  const calls = content.flatMap((block) =>
    block.type === "tool_use" ? [{ name: block.name, input: block.input as unknown }] : [],
  );
  return { text, calls, input: usage.input_tokens, output: usage.output_tokens };
}

async function failed(asked: Promise<unknown>): Promise<unknown> {
  try {
    await asked;
  } catch (error) {
    return error;
  }
  return assert.fail("it passed for an answer");
}

function statusOf(error: unknown): number | undefined {
  return APICallError.isInstance(error) ? error.statusCode : (error as { status?: number }).status;
}

function described(error: unknown): string {
  const body = APICallError.isInstance(error)
    ? error.responseBody
    : JSON.stringify((error as { error?: unknown }).error);
  return `${String(error)} ${body}`;
}

function retryAfter(error: unknown): string | null | undefined {
  if (APICallError.isInstance(error)) return error.responseHeaders?.["retry-after"];
  return (error as { headers?: Headers }).headers?.get("retry-after");
}
