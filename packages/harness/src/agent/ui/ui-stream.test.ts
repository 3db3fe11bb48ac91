import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createUIMessageStreamResponse,
  DefaultChatTransport,
  isToolUIPart,
  readUIMessageStream,
  tool,
  type UIMessage,
  type UIMessageChunk,
} from "ai";
import { z } from "zod";
import { agentKit, deepAgentKit } from "../../../test/agent/agent-kit.ts";
import { AgentError } from "../errors.ts";
import type { AgentStream } from "../stream.ts";

const WORDS = "the parser reads tokens one by one and keeps a stack of what is open ".repeat(12);
const add = tool({ inputSchema: z.object({ a: z.number() }), execute: ({ a }) => ({ sum: a + 1 }) });

test("useChat's transport reads a run: texts, tool calls with results and steps, in their order", async () => {
  const kit = agentKit(
    [{ text: "Let me add.", reasoning: "hm", calls: [{ name: "add", input: { a: 1 } }] }, "It is 2."],
    {
      tools: { add },
    },
  );
  const message = await shown(kit.agent.stream({ threadId: "t", prompt: "1 + 1?" }));
  assert.deepEqual(
    message.parts.map(({ type }) => type),
    ["step-start", "reasoning", "text", "tool-add", "step-start", "text"],
  );
  const call = message.parts.find(isToolUIPart);
  assert.equal(call?.state, "output-available");
  assert.deepEqual(call?.output, { sum: 2 });
  assert.deepEqual(texts(message), ["Let me add.", "It is 2."]);
});

test("a compaction is shown as a data part, with its numbers", async () => {
  const kit = deepAgentKit(() => WORDS, { window: 6_000 });
  const parts: unknown[] = [];
  for (let turn = 0; turn < 12; turn++) {
    const message = await shown(kit.agent.stream({ threadId: "t", prompt: `Question ${turn}: ${WORDS}` }));
    parts.push(...message.parts.filter(({ type }) => type === "data-compaction"));
  }
  const { data } = parts[0] as { data: { tokensBefore: number; tokensAfter: number; rung: string } };
  assert.ok(data.tokensAfter < data.tokensBefore);
  assert.equal(data.rung, "extract");
});

test("a failing tool is a tool error, a failing run an error chunk, an abort an abort chunk", async () => {
  const bad = tool({
    inputSchema: z.object({}),
    execute: (): string => {
      throw new Error("kaboom");
    },
  });
  const kit = agentKit([{ calls: [{ name: "bad", input: {} }] }, { error: new Error("model down") }], {
    tools: { bad },
  });
  const types = await chunkTypes(kit.agent.stream({ threadId: "t", prompt: "x" }));
  assert.ok(types.includes("tool-output-error"));
  assert.deepEqual(types.slice(-2), ["finish-step", "error"]);
  const aborted = agentKit([]).agent.stream({ threadId: "t", prompt: "x", signal: AbortSignal.abort() });
  assert.equal((await chunkTypes(aborted)).at(-1), "abort");
});

const SECRET = "ECONNREFUSED postgres://svc:hunter2@10.0.0.5/prod";
const leaking = {
  tools: {
    bad: tool({
      inputSchema: z.object({}),
      execute: (): string => {
        throw new Error(SECRET);
      },
    }),
  },
};
const leak = [{ calls: [{ name: "bad", input: {} }] }, { error: new Error(SECRET) }];

test("what a browser is told of an error names nothing of the server, unless onError says so", async () => {
  const masked = await chunks(agentKit(leak, leaking).agent.stream({ threadId: "t", prompt: "x" }).toUIMessageStream());
  assert.ok(!JSON.stringify(masked).includes("10.0.0.5"));
  assert.deepEqual(errorTexts(masked), ["An error occurred.", "An error occurred."]);

  const codes: unknown[] = [];
  const onError = (error: Error): string => {
    codes.push(error instanceof AgentError ? error.code : error.message.includes("10.0.0.5"));
    return "Sorry!";
  };
  const told = agentKit(leak, leaking).agent.stream({ threadId: "t", prompt: "x" }).toUIMessageStream({ onError });
  assert.deepEqual(errorTexts(await chunks(told)), ["Sorry!", "Sorry!"]);
  assert.deepEqual(codes, [true, "model-failed"]);
});

test("a child that failed tells a browser no more than its parent would", async () => {
  const kit = deepAgentKit(
    ({ index }) => {
      const input = { description: "look", prompt: "Look.", subagent_type: "general-purpose" };
      if (index === 0) return { calls: [{ name: "task", input }] };
      return index === 1 ? { error: new Error(SECRET) } : "It failed.";
    },
    { tools: {} },
  );
  const seen = await chunks(kit.agent.stream({ threadId: "t", prompt: "x" }).toUIMessageStream());
  const [end] = seen.flatMap((chunk) =>
    chunk.type === "data-subagent" && (chunk.data as { type: string }).type === "subagent-end" ? [chunk.data] : [],
  );
  assert.equal((end as { reason: string }).reason, "An error occurred.");
  assert.ok(!JSON.stringify(seen).includes("10.0.0.5"));
});

test("reasoning can be left out, and metadata goes with the message", async () => {
  const kit = agentKit([{ text: "Hello.", reasoning: "hm" }]);
  const seen = await chunks(
    kit.agent.stream({ threadId: "t", prompt: "x" }).toUIMessageStream({
      sendReasoning: false,
      messageMetadata: ({ event }) => {
        if (event.type === "run-start") return { thread: event.threadId };
        if (event.type === "step-end") return { step: event.step };
        return event.type === "run-end" ? { end: event.end.kind } : undefined;
      },
    }),
  );
  assert.ok(!seen.some(({ type }) => type.startsWith("reasoning")));
  assert.deepEqual(
    seen.flatMap((chunk) => ("messageMetadata" in chunk ? [chunk.messageMetadata] : [])),
    [{ thread: "t" }, { step: 1 }, { end: "answered" }],
  );
});

test("any number of readers see the same run from its beginning, also after its end", async () => {
  const kit = agentKit(["hello there, this is an answer of some length"]);
  const stream = kit.agent.stream({ threadId: "t", prompt: "x" });
  const live = await collect(stream);
  assert.deepEqual(await collect(stream), live);
  let text = "";
  for await (const piece of stream.textStream) text += piece;
  assert.equal(text, "hello there, this is an answer of some length");
  assert.deepEqual([live[0], live.at(-1)], ["run-start", "run-end"]);
});

/** As a browser would: over the transport's own fetch, parsed and validated by the SDK. */
async function shown(stream: AgentStream): Promise<UIMessage> {
  const transport = new DefaultChatTransport({
    fetch: async () => createUIMessageStreamResponse({ stream: stream.toUIMessageStream() }),
  });
  const chunks = await transport.sendMessages({
    trigger: "submit-message",
    chatId: "t",
    messageId: undefined,
    messages: [],
    abortSignal: undefined,
  });
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream: chunks })) last = message;
  assert.ok(last !== undefined);
  return last;
}

const texts = (message: UIMessage): string[] =>
  message.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));

async function chunks(stream: ReadableStream<UIMessageChunk>): Promise<UIMessageChunk[]> {
  const all: UIMessageChunk[] = [];
  for await (const chunk of stream) all.push(chunk);
  return all;
}

const errorTexts = (all: readonly UIMessageChunk[]): string[] =>
  all.flatMap((chunk) => ("errorText" in chunk ? [chunk.errorText] : []));

async function chunkTypes(stream: AgentStream): Promise<string[]> {
  const types: string[] = [];
  for await (const { type } of stream.toUIMessageStream()) types.push(type);
  return types;
}

async function collect(stream: AgentStream): Promise<string[]> {
  const types: string[] = [];
  for await (const { type } of stream) types.push(type);
  return types;
}
