// Conversations with tool calls through an open thread alone, asked of the strict provider by the clients people use.
// PALIMPSEST_TURNS: how many turns, 60 unless told.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { shapeOf } from "@palimpsest/core/internal/message";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { type ProviderRequest, type ProviderServer, startProviderServer } from "@palimpsest/testing";
import { generateText, jsonSchema, type ModelMessage, type ToolSet } from "ai";
import OpenAI from "openai";
import type { PlayedAnswer } from "../models/offline/played-answer.ts";
import { openSqlite } from "../stores/sqlite.ts";
import type { Store } from "../stores/store.ts";
import { replay, verify } from "./audit.ts";
import { type OpenThreadOptions, openThread } from "./open-thread.ts";
import { threadDeps } from "./writer.ts";

interface StrictReport {
  readonly requests: number;
  readonly refused: number;
  readonly compactions: number;
  /** The largest request by the provider's own count. */
  readonly largest: number;
  readonly said: readonly unknown[];
  /** What the log gives back. */
  readonly replayed: readonly unknown[];
}

const TURNS = Number(process.env["PALIMPSEST_TURNS"] ?? 60);
const WINDOW = 4000;
const PARAMETERS = { type: "object" as const, properties: { buoy: { type: "number" as const } } };
const SYSTEM = "Answer from the soundings.";

/** One client: how it words a question, asks, and answers the calls of an answer. */
interface Client<M extends object> {
  readonly shape: OpenThreadOptions<M>["shape"];
  /** As they are sent. */
  readonly tools: readonly unknown[];
  question(text: string): M;
  ask(messages: readonly M[]): Promise<{ readonly answer: readonly M[]; readonly usage: object | undefined }>;
  /** Empty: it called nothing. */
  results(answer: readonly M[], text: string): readonly M[];
}

const CLIENTS = {
  openai: (played: Played) => play(openaiClient(played.server), played),
  anthropic: (played: Played) => play(anthropicClient(played.server), played),
  "ai-sdk": (played: Played) => play(aiSdkClient(played.server), played),
};

for (const [name, playClient] of Object.entries(CLIENTS)) {
  test(`${name}: ${TURNS} turns with tool calls in a window of 4,000, none refused, nothing lost`, async (t) => {
    const server = await startProviderServer({ window: WINDOW, record: "verdicts", respond });
    t.after(() => server.close());
    const store = openSqlite({ path: ":memory:" });
    t.after(() => store.close());
    const { said, replayed, ...figures } = await playClient({ server, store });
    t.diagnostic(JSON.stringify(figures));
    assert.equal(figures.refused, 0);
    assert.ok(figures.requests > TURNS && figures.compactions > TURNS / 20);
    assert.deepEqual(replayed, said);
    assert.equal((await verify(threadDeps(store), "t")).kind, "whole");
  });
}

/** Every second turn sounds before it answers. */
function respond({ index, turns }: ProviderRequest): string | PlayedAnswer {
  if (index % 3 === 0 || turns.at(-1)?.role === "tool") return `answer ${index}: ${"sand and shell. ".repeat(12)}`;
  return { text: "I'll sound it.", calls: [{ id: `call-${index}`, name: "sound", input: { buoy: index } }] };
}

interface Played {
  readonly server: ProviderServer;
  readonly store: Store;
}

async function play<M extends object>(client: Client<M>, { server, store }: Played): Promise<StrictReport> {
  const { shape, tools } = client;
  const fixed = { system: SYSTEM, tools };
  const opened = await openThread({ store, id: "t", shape, window: WINDOW, counter: charsPerToken(4), fixed });
  if (opened.kind !== "open") throw new Error(opened.kind);
  const { thread } = opened;
  const said: M[] = [];
  let compactions = 0;
  const append = async (messages: readonly M[]): Promise<void> => {
    said.push(...messages);
    await thread.append(messages);
  };
  for (let turn = 1; turn <= TURNS; turn += 1) {
    await append([client.question(`Question ${turn}: ${"how deep is it there? ".repeat(turn % 9)}`)]);
    for (;;) {
      const { messages, outcome } = await thread.prompt();
      if (outcome?.kind === "compacted") compactions += 1;
      const { answer, usage } = await client.ask(messages);
      await append(answer);
      await thread.report(usage);
      const results = client.results(answer, `turn ${turn}: ${"four fathoms. ".repeat(10 * (turn % 14))}`);
      if (results.length === 0) break;
      await append(results);
    }
  }
  await thread.close();
  const replayed: unknown[] = [];
  for await (const { body } of replay({ store }, "t")) replayed.push(JSON.parse(body));
  const { requests } = server;
  return {
    requests: requests.length,
    refused: requests.filter(({ verdict }) => verdict.kind !== "answered").length,
    compactions,
    largest: Math.max(...requests.map(({ tokens }) => tokens)),
    said: JSON.parse(JSON.stringify(said)),
    replayed,
  };
}

function openaiClient({ url }: ProviderServer): Client<OpenAI.ChatCompletionMessageParam> {
  const { completions } = new OpenAI({ apiKey: "key", baseURL: url, maxRetries: 0 }).chat;
  const tools = [{ type: "function" as const, function: { name: "sound", parameters: PARAMETERS } }];
  return {
    shape: shapeOf<OpenAI.ChatCompletionMessageParam>("openai"),
    tools,
    question: (content) => ({ role: "user", content }),
    async ask(messages) {
      const system = { role: "system" as const, content: SYSTEM };
      const { choices, usage } = await completions.create({ model: "m", messages: [system, ...messages], tools });
      return { answer: choices.map(({ message }) => message), usage };
    },
    results: (answer, content) =>
      answer
        .flatMap((message) => (message.role === "assistant" ? (message.tool_calls ?? []) : []))
        .map(({ id }) => ({ role: "tool", tool_call_id: id, content })),
  };
}

function anthropicClient({ origin }: ProviderServer): Client<Anthropic.MessageParam> {
  const { messages: api } = new Anthropic({ apiKey: "key", baseURL: origin, maxRetries: 0 });
  const tools = [{ name: "sound", input_schema: PARAMETERS }];
  return {
    shape: shapeOf<Anthropic.MessageParam>("anthropic"),
    tools,
    question: (content) => ({ role: "user", content }),
    async ask(messages) {
      const body = { model: "m", max_tokens: 200, system: SYSTEM, tools };
      const { role, content, usage } = await api.create({ ...body, messages: [...messages] });
      return { answer: [{ role, content }], usage };
    },
    results: (answer, content) => {
      const blocks = answer.flatMap((message) => (typeof message.content === "string" ? [] : message.content));
      const results = blocks.flatMap((block) =>
        block.type === "tool_use" ? [{ type: "tool_result" as const, tool_use_id: block.id, content }] : [],
      );
      return results.length === 0 ? [] : [{ role: "user", content: results }];
    },
  };
}

function aiSdkClient({ url }: ProviderServer): Client<ModelMessage> {
  const model = createOpenAI({ apiKey: "key", baseURL: url }).chat("m");
  const tools: ToolSet = { sound: { inputSchema: jsonSchema(PARAMETERS) } };
  return {
    shape: shapeOf<ModelMessage>("ai-sdk"),
    tools: [{ name: "sound", inputSchema: PARAMETERS }],
    question: (content) => ({ role: "user", content }),
    async ask(messages) {
      const request = { model, instructions: SYSTEM, tools, maxRetries: 0 };
      const { responseMessages, usage } = await generateText({ ...request, messages: [...messages] });
      return { answer: responseMessages, usage };
    },
    results: (answer, value) => {
      const parts = answer.flatMap((message) =>
        message.role === "assistant" && typeof message.content !== "string" ? message.content : [],
      );
      const content = parts.flatMap((part) => {
        if (part.type !== "tool-call") return [];
        const { toolCallId, toolName } = part;
        return [{ type: "tool-result" as const, toolCallId, toolName, output: { type: "text" as const, value } }];
      });
      return content.length === 0 ? [] : [{ role: "tool", content }];
    },
  };
}
