// How other loops stand on an open thread, with their own types and without a cast: this file compiles, and runs.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type TestContext, test } from "node:test";
import { type ResponsesItem, responsesItems, responsesTurns, shapeOf } from "@palimpsest/core/internal/message";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { scriptedModel, startProviderServer } from "@palimpsest/testing";
import { generateText, jsonSchema, type ModelMessage, stepCountIs, tool } from "ai";
import OpenAI from "openai";
import { openSqlite } from "../stores/sqlite.ts";
import type { Store } from "../stores/store.ts";
import { fork } from "./acts.ts";
import { replay, verify } from "./audit.ts";
import { type OpenThread, type OpenThreadOptions, openThread } from "./open-thread.ts";
import { threadDeps } from "./writer.ts";

function newStore(t: TestContext): Store {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  return store;
}

type Given<M extends object> = Pick<OpenThreadOptions<M>, "store" | "shape"> & Partial<OpenThreadOptions<M>>;

async function opened<M extends object>(given: Given<M>): Promise<OpenThread<M>> {
  const result = await openThread({ id: "t", window: 4000, counter: charsPerToken(4), ...given });
  assert.ok(result.kind === "open");
  return result.thread;
}

async function bodiesIn(store: Store, threadId = "t"): Promise<unknown[]> {
  assert.equal((await verify(threadDeps(store), threadId)).kind, "whole");
  const bodies: unknown[] = [];
  for await (const { body } of replay(threadDeps(store), threadId)) bodies.push(JSON.parse(body));
  return bodies;
}

test("AI SDK: prepareStep sends the thread's prompt, onLanguageModelCallEnd reports, and a run of many steps fits", async (t) => {
  const store = newStore(t);
  const thread = await opened({ store, shape: shapeOf<ModelMessage>("ai-sdk") });
  const instructions = "Answer from the soundings.";
  const sound = tool({
    description: "Sounds the depth at a buoy.",
    inputSchema: jsonSchema<{ buoy: number }>({ type: "object", properties: { buoy: { type: "number" } } }),
    execute: ({ buoy }) => `buoy ${buoy}: ${"four fathoms, sand and shell. ".repeat(60)}`,
  });
  const steps = 12;
  const model = scriptedModel(({ index }) =>
    index < steps ? { calls: [{ name: "sound", input: { buoy: index } }] } : "Four fathoms everywhere.",
  );
  const reports: string[] = [];
  const run = "run-1";
  const said = (messages: readonly ModelMessage[]) =>
    thread.append(messages.map((message, index) => ({ id: `${run}-${index}`, message })));

  const question: ModelMessage = { role: "user", content: "How deep is the water?" };
  await thread.append([{ id: run, message: question }]);
  const { text, responseMessages } = await generateText({
    model,
    instructions,
    messages: [question],
    tools: { sound },
    stopWhen: stepCountIs(steps + 1),
    prepareStep: async ({ responseMessages }) => {
      await said(responseMessages);
      const { messages } = await thread.prompt({ fixed: { system: instructions, tools: [sound] } });
      return { messages: [...messages] };
    },
    onLanguageModelCallEnd: async ({ usage }) => {
      reports.push((await thread.report(usage)).kind);
    },
  });
  await said(responseMessages);

  assert.equal(text, "Four fathoms everywhere.");
  assert.deepEqual(reports, Array(steps + 1).fill("pending"), "a report waits for its answer");
  assert.ok(model.calls.every(({ inputTokens }) => inputTokens < 4000));
  assert.deepEqual(await bodiesIn(store), JSON.parse(JSON.stringify([question, ...responseMessages])));
  const { count } = await thread.prompt();
  assert.equal(count.source, "anchored");
});

/** As LangChain's messages are stored (`mapChatMessagesToStoredMessages`): instances of its classes don't outlive a process. */
interface StoredMessage {
  type: string;
  data: {
    content: string;
    id?: string;
    tool_call_id?: string;
    tool_calls?: { id?: string; name: string; args: Record<string, unknown>; type?: "tool_call" }[];
    usage_metadata?: { input_tokens: number; output_tokens: number; total_tokens: number };
  };
}

class ChatMessage {
  readonly stored: StoredMessage;
  constructor(type: string, data: StoredMessage["data"]) {
    this.stored = { type, data };
  }
  get id(): string | undefined {
    return this.stored.data.id;
  }
}

const toStored = (messages: readonly ChatMessage[]): StoredMessage[] => messages.map(({ stored }) => stored);
const fromStored = (messages: readonly StoredMessage[]): ChatMessage[] =>
  messages.map(({ type, data }) => new ChatMessage(type, data));

interface ModelRequest {
  messages: ChatMessage[];
  systemPrompt?: string;
  tools: { name: string; schema: object }[];
}
type WrapModelCall = (
  request: ModelRequest,
  handler: (request: ModelRequest) => Promise<ChatMessage>,
) => Promise<ChatMessage>;

test("LangChain: wrapModelCall appends by the messages' ids, asks again after a refusal for length, and reports", async (t) => {
  const store = newStore(t);
  const thread = await opened({ store, shape: shapeOf<StoredMessage>("langchain"), window: 100_000 });

  const wrapModelCall: WrapModelCall = async (request, handler) => {
    await thread.append(toStored(request.messages).map((message) => ({ id: message.data.id, message })));
    for (;;) {
      const { messages } = await thread.prompt({ fixed: { system: request.systemPrompt, tools: request.tools } });
      try {
        const answer = await handler({ ...request, messages: fromStored(messages) });
        const [message] = toStored([answer]);
        if (message !== undefined) await thread.append([{ id: answer.id, message }]);
        await thread.report(answer.stored.data.usage_metadata);
        return answer;
      } catch (error) {
        if (!(await thread.recover(error))) throw error;
      }
    }
  };

  const limit = 4096;
  let refusals = 0;
  let answers = 0;
  const sizeOf = (messages: readonly ChatMessage[]): number => Math.ceil(JSON.stringify(messages).length / 4);
  const handler = async ({ messages }: ModelRequest): Promise<ChatMessage> => {
    const input = sizeOf(messages);
    if (input > limit) {
      refusals += 1;
      throw new Error(`400 This model's maximum context length is ${limit} tokens. However, you requested ${input}.`);
    }
    answers += 1;
    const usage = { input_tokens: input, output_tokens: 30, total_tokens: input + 30 };
    const id = `ai-${answers}`;
    const call = { id: `call-${answers}`, name: "sound", args: { buoy: answers }, type: "tool_call" as const };
    const calls = answers % 2 === 1 ? [call] : [];
    return new ChatMessage("ai", { id, content: `answer ${answers}`, tool_calls: calls, usage_metadata: usage });
  };

  // The graph's state: it grows and is given whole each time.
  const state: ChatMessage[] = [];
  for (let turn = 1; turn <= 20; turn += 1) {
    state.push(new ChatMessage("human", { id: `human-${turn}`, content: `question ${turn} ${"deep ".repeat(80)}` }));
    for (;;) {
      const answer = await wrapModelCall({ messages: [...state], systemPrompt: "Be brief.", tools: [] }, handler);
      state.push(answer);
      const [call] = answer.stored.data.tool_calls ?? [];
      if (call?.id === undefined) break;
      const content = "four fathoms ".repeat(60);
      state.push(new ChatMessage("tool", { id: `tool-${turn}`, content, tool_call_id: call.id }));
    }
  }
  assert.equal(refusals, 1, "the limit that was stated is remembered");
  assert.deepEqual(await bodiesIn(store), toStored(state));
  await assert.rejects(
    wrapModelCall({ messages: state, tools: [] }, () => Promise.reject(new Error("connect ECONNREFUSED"))),
    /ECONNREFUSED/,
  );
});

/** Of `@openai/agents`: camel case where the Responses API has snake case. */
type AgentInputItem =
  | { type?: "message"; id?: string; role: "user" | "assistant"; content: string }
  | { type: "function_call"; id?: string; callId: string; name: string; arguments: string }
  | { type: "function_call_result"; id?: string; callId: string; name: string; output: { type: "text"; text: string } };

interface Session {
  getSessionId(): Promise<string>;
  getItems(limit?: number): Promise<AgentInputItem[]>;
  addItems(items: AgentInputItem[]): Promise<void>;
  popItem(): Promise<AgentInputItem | undefined>;
  clearSession(): Promise<void>;
}

function toItem(item: AgentInputItem): ResponsesItem {
  const id = item.id === undefined ? {} : { id: item.id };
  switch (item.type) {
    case "function_call":
      return { type: item.type, ...id, call_id: item.callId, name: item.name, arguments: item.arguments };
    case "function_call_result":
      return { type: "function_call_output", ...id, call_id: item.callId, name: item.name, output: item.output.text };
    default:
      return { ...id, role: item.role, content: item.content };
  }
}

function fromItem(item: ResponsesItem): AgentInputItem {
  const text = (name: string): string => String(item[name] ?? "");
  const id = item.id === undefined ? {} : { id: item.id };
  const call = { ...id, callId: text("call_id"), name: text("name") };
  if (item.type === "function_call") return { type: item.type, ...call, arguments: text("arguments") };
  if (item.type === "function_call_output")
    return { type: "function_call_result", ...call, output: { type: "text", text: text("output") } };
  return { ...id, role: item["role"] === "assistant" ? "assistant" : "user", content: text("content") };
}

/**
 * A log takes nothing back. To pop an item is to go on in a fork that ends before it, to clear is to go on in a new thread;
 * the session's id is then the new thread's, and whoever comes back must come back with that one.
 */
async function agentsSession(store: Store, name: string): Promise<Session> {
  const shape = shapeOf("openai-responses");
  let thread = await opened({ store, id: name, shape });
  let next = 1;
  const goOn = async (id: string): Promise<void> => {
    await thread.close();
    thread = await opened({ store, id, shape });
  };
  return {
    getSessionId: async () => thread.id,
    async getItems(limit) {
      const { messages, sources } = await thread.prompt();
      // The runner adds the next question itself: what was added so that the prompt ends with one is left out.
      const items = responsesItems(messages.filter((_, index) => sources[index] !== "added")).map(fromItem);
      return limit === undefined ? items : items.slice(-limit);
    },
    async addItems(items) {
      await thread.append(responsesTurns(items.map(toItem)));
    },
    async popItem() {
      let last: { readonly seq: number; readonly items: readonly ResponsesItem[] } | null = null;
      for await (const { seq, body } of replay({ store }, thread.id))
        last = { seq, items: responsesItems([JSON.parse(body)]) };
      if (last === null) return undefined;
      const as = `${name}-${next++}`;
      await fork(threadDeps(store), thread.id, { as, at: last.seq - 1 });
      await goOn(as);
      await thread.append(responsesTurns(last.items.slice(0, -1)));
      return last.items.slice(-1).map(fromItem)[0];
    },
    clearSession: () => goOn(`${name}-${next++}`),
  };
}

test("OpenAI Agents: a session whose items are compacted, popped into a fork, and cleared into a new thread", async (t) => {
  const store = newStore(t);
  const session = await agentsSession(store, "s");
  const turn = (n: number): AgentInputItem[] => [
    { role: "user", content: `question ${n} ${"deep ".repeat(80)}` },
    { id: `msg-${n}`, role: "assistant", content: "I'll sound it." },
    { type: "function_call", id: `fc-${n}`, callId: `call-${n}`, name: "sound", arguments: `{"buoy":${n}}` },
    {
      type: "function_call_result",
      callId: `call-${n}`,
      name: "sound",
      output: { type: "text", text: "four fathoms ".repeat(60) },
    },
    { id: `end-${n}`, role: "assistant", content: `answer ${n}` },
  ];
  await session.addItems(turn(1));
  assert.deepEqual(await session.getItems(), turn(1), "as long as it fits it is what was added");
  assert.deepEqual(await session.getItems(2), turn(1).slice(-2));
  for (let n = 2; n <= 20; n += 1) {
    await session.addItems(turn(n));
    assert.ok(JSON.stringify(await session.getItems()).length < 4 * 4000);
  }
  assert.deepEqual((await session.getItems()).at(-1), turn(20).at(-1));

  const popped: (AgentInputItem | undefined)[] = [];
  for (let n = 1; n <= 3; n += 1) popped.unshift(await session.popItem());
  assert.deepEqual(popped, turn(20).slice(-3), "also out of the middle of an answer");
  assert.deepEqual((await session.getItems()).at(-1), turn(20)[1]);
  assert.equal(await session.getSessionId(), "s-3");
  assert.equal((await bodiesIn(store, "s")).length, 20 * 4, "the thread that was popped from is whole");
  assert.equal((await bodiesIn(store, "s-3")).length, 20 * 4 - 2);

  await session.clearSession();
  assert.deepEqual(await session.getItems(), []);
  assert.equal(await session.popItem(), undefined);
});

type ChatMessageParam = OpenAI.ChatCompletionMessageParam;

interface ProxiedRequest {
  readonly model: string;
  readonly messages: readonly ChatMessageParam[];
}

/** A client names no messages: each is known by all that was said up to it. */
function named(messages: readonly ChatMessageParam[]): { readonly id: string; readonly message: ChatMessageParam }[] {
  let id = "";
  return messages.map((message) => {
    const { role, content } = message;
    const calls = "tool_calls" in message ? message.tool_calls : undefined;
    const answers = "tool_call_id" in message ? message.tool_call_id : undefined;
    id = createHash("sha256")
      .update(JSON.stringify([id, role, content, calls, answers]))
      .digest("hex");
    return { id, message };
  });
}

test("a proxy: the whole history comes each time, what is new is kept, and what fits is forwarded", async (t) => {
  const store = newStore(t);
  const window = 4000;
  const server = await startProviderServer({
    window,
    respond: ({ index }) => `answer ${index} ${"and so on ".repeat(20)}`,
  });
  t.after(() => server.close());
  const upstream = new OpenAI({ apiKey: "key", baseURL: server.url, maxRetries: 0 });
  const thread = await opened({ store, shape: shapeOf<ChatMessageParam>("openai"), window });

  const proxy = async ({ model, messages }: ProxiedRequest, wanted = Infinity): Promise<string> => {
    await thread.append(named(messages));
    const prompt = await thread.prompt();
    const body = { model, messages: [...prompt.messages], stream_options: { include_usage: true } };
    const stream = await upstream.chat.completions.create({ ...body, stream: true });
    let content = "";
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      content += chunk.choices[0]?.delta.content ?? "";
      usage = chunk.usage;
      if (content.length >= wanted) break;
    }
    const aborted = content.length >= wanted;
    const answer = named([...messages, { role: "assistant", content }]).slice(-1);
    await thread.append(answer.map((one) => (aborted ? { ...one, origin: "aborted" } : one)));
    await thread.report(usage);
    return content;
  };

  const history: ChatMessageParam[] = [{ role: "system", content: "Be brief." }];
  for (let turn = 1; turn <= 30; turn += 1) {
    history.push({ role: "user", content: `question ${turn} ${"deep ".repeat(60)}` });
    // Every tenth answer is cut off by the client, which keeps what it has seen of it.
    history.push({
      role: "assistant",
      content: await proxy({ model: "m", messages: history }, turn % 10 === 0 ? 4 : undefined),
    });
  }
  assert.ok(server.requests.every(({ verdict }) => verdict.kind === "answered"));
  assert.deepEqual(await bodiesIn(store), history);
  const origins: string[] = [];
  for await (const { origin } of replay({ store }, "t")) origins.push(origin);
  assert.equal(origins.filter((origin) => origin === "aborted").length, 3);
});
