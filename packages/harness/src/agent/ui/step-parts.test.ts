import assert from "node:assert/strict";
import { test } from "node:test";
import { APICallError, type LanguageModelV4StreamPart } from "@ai-sdk/provider";
import {
  isToolUIPart,
  readUIMessageStream,
  simulateReadableStream,
  tool,
  type UIMessage,
  type UIMessageChunk,
} from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { agentKit, deepAgentKit } from "../../../test/agent/agent-kit.ts";
import { Chat } from "../../../test/agent/chat.ts";
import { createAgent } from "../agent.ts";

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that says these parts, then `done`. */
function speaking(...parts: LanguageModelV4StreamPart[]) {
  const finish = { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: USAGE } as const;
  const chunks: LanguageModelV4StreamPart[] = [{ type: "stream-start", warnings: [] }, ...parts, finish];
  return new MockLanguageModelV4({ doStream: async () => ({ stream: simulateReadableStream({ chunks }) }) });
}

const SEARCH = { toolCallId: "s1", toolName: "web_search" } as const;
const SPOKEN: LanguageModelV4StreamPart[] = [
  { type: "tool-input-start", id: "s1", toolName: "web_search", providerExecuted: true },
  { type: "tool-input-delta", id: "s1", delta: '{"q":' },
  { type: "tool-input-delta", id: "s1", delta: '"tea"}' },
  { type: "tool-input-end", id: "s1" },
  { type: "tool-call", ...SEARCH, input: '{"q":"tea"}', providerExecuted: true, dynamic: true },
  { type: "tool-result", ...SEARCH, result: { hits: 2 }, dynamic: true },
  { type: "source", sourceType: "url", id: "u1", url: "https://example.org/tea", title: "Tea" },
  {
    type: "source",
    sourceType: "document",
    id: "d1",
    mediaType: "application/pdf",
    title: "Leaves",
    filename: "l.pdf",
  },
  { type: "file", mediaType: "image/png", data: { type: "data", data: "iVBORw0KGgo=" } },
  { type: "text-start", id: "0" },
  { type: "text-delta", id: "0", delta: "Green." },
  { type: "text-end", id: "0" },
];

test("what a provider's own tools do, sources and files are events and parts of the message, and the page that is loaded again has them", async (t) => {
  const agent = createAgent({ model: speaking(...SPOKEN), window: 10_000 });
  t.after(() => agent.close());
  const stream = agent.stream({ threadId: "t", prompt: "Which tea?" });
  const types: string[] = [];
  for await (const { type } of stream) types.push(type);
  const of = new Set(["tool-input-start", "tool-input-delta", "tool-start", "tool-end", "source-add", "file-add"]);
  assert.deepEqual(
    types.filter((type) => of.has(type)),
    [
      "tool-input-start",
      "tool-input-delta",
      "tool-input-delta",
      "tool-start",
      "tool-end",
      "source-add",
      "source-add",
      "file-add",
    ],
  );
  const message = (await messages(stream.toUIMessageStream())).at(-1)!;
  assert.deepEqual(
    message.parts.map(({ type }) => type),
    ["step-start", "tool-web_search", "source-url", "source-document", "file", "text"],
  );
  const call = message.parts.find(isToolUIPart)!;
  assert.deepEqual([call.state, call.input, call.output], ["output-available", { q: "tea" }, { hits: 2 }]);
  const [, loaded] = await agent.messages("t");
  assert.deepEqual(
    loaded!.parts.map(({ type }) => type),
    ["step-start", "tool-web_search", "file", "text"],
    "a provider takes no sources back, so that the log has none",
  );
  const again = loaded!.parts.find(isToolUIPart)!;
  assert.deepEqual([again.state, again.output, again.providerExecuted], ["output-available", { hits: 2 }, true]);
});

test("a tool's input is shown while it is written", async (t) => {
  const add = tool({ inputSchema: z.object({ a: z.number() }), execute: ({ a }) => a + 1 });
  const kit = agentKit([{ calls: [{ id: "c1", name: "add", input: { a: 1 } }] }, "done"], { tools: { add } });
  t.after(() => kit.store.close());
  const states = (await messages(kit.agent.stream({ threadId: "t", prompt: "x" }).toUIMessageStream())).flatMap(
    ({ parts }) => parts.filter(isToolUIPart).map(({ state }) => state),
  );
  assert.deepEqual([...new Set(states)], ["input-streaming", "input-available", "output-available"]);
});

test("an input that the model never finished is taken back, and is nothing that useChat could answer", async (t) => {
  const pay = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => "paid" });
  const error = new APICallError({ message: "overloaded", url: "", requestBodyValues: {}, statusCode: 529 });
  const cut = { by: "error", error } as const;
  const kit = agentKit(
    [
      { calls: [{ id: "lost", name: "pay", input: {} }], ends: cut },
      { calls: [{ id: "c1", name: "pay", input: {} }] },
      "Paid.",
    ],
    { tools: { pay }, retry: { maxRetries: 1 }, sleep: async () => {} },
  );
  t.after(() => kit.store.close());
  const chat = new Chat(kit.agent);
  await chat.sendMessage({ text: "pay" });
  assert.deepEqual(
    chat.calls().map(({ toolCallId, state }) => [toolCallId, state]),
    [
      ["lost", "output-error"],
      ["c1", "approval-requested"],
    ],
  );
  await chat.addToolApprovalResponse({ id: "c1", approved: true });
  await chat.settled();
  assert.equal(chat.error, undefined);
  assert.deepEqual(chat.texts(), ["Paid."]);
  assert.deepEqual(await kit.origins(), ["user", "model", "tool", "model"]);
});

test("what a child says and does is told as it happens, and to a browser without its errors and beside the message", async (t) => {
  const SECRET = "ECONNREFUSED 10.0.0.5";
  const look = tool({
    inputSchema: z.object({ at: z.string() }),
    execute: (): string => {
      throw new Error(SECRET);
    },
  });
  const task = { description: "look", prompt: "Look.", subagent_type: "general-purpose" };
  const kit = deepAgentKit(
    [
      { calls: [{ name: "task", input: task }] },
      { text: "I look.", reasoning: "hm", calls: [{ name: "look", input: { at: "home" } }] },
      "Nothing there.",
      "It is not there.",
    ],
    { tools: { look } },
  );
  t.after(() => kit.store.close());
  const stream = kit.agent.stream({ threadId: "t", prompt: "x" });
  await stream.result;
  const children = kit.of("subagent-event");
  const texts = children.flatMap(({ event }) => (event.type === "text-delta" ? [event.text] : []));
  assert.deepEqual(texts, ["I look.", "Nothing there."]);
  const inputs = children.flatMap(({ event }) => (event.type === "tool-start" ? [event.input] : []));
  assert.deepEqual(inputs, [{ at: "home" }]);
  const { threadId } = kit.of("subagent-start")[0]!;
  assert.ok(children.every((child) => child.threadId === threadId));
  const chunks: UIMessageChunk[] = [];
  for await (const chunk of stream.toUIMessageStream({ sendReasoning: false })) chunks.push(chunk);
  const told = chunks.filter(({ type }) => type === "data-subagent-event");
  assert.equal(told.length, children.length - 1, "all but its reasoning");
  assert.ok(told.every((chunk) => "transient" in chunk && chunk.transient === true));
  assert.ok(!JSON.stringify(told).includes(SECRET));
});

async function messages(stream: ReadableStream<UIMessageChunk>): Promise<UIMessage[]> {
  const all: UIMessage[] = [];
  for await (const message of readUIMessageStream({ stream })) all.push(structuredClone(message));
  return all;
}
