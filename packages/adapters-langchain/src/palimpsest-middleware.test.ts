// With LangChain's own agent, checkpointer and classes: nothing here stands in for the framework.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { AIMessage, type BaseMessage, HumanMessage, mapChatMessagesToStoredMessages } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { createAgent, tool } from "langchain";
import { replay } from "palimpsest/internal/threads";
import { threadDeps, verify } from "palimpsest/session";
import { openSqlite, type Store } from "palimpsest/stores";
import { type Sent, StrictModel, sailor } from "../test/strict-model.ts";
import { type PalimpsestMiddlewareOptions, palimpsestMiddleware } from "./palimpsest-middleware.ts";

function newStore(t: TestContext): Store {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  return store;
}

const sound = tool((input) => `buoy ${(input as { buoy: number }).buoy}: ${"four fathoms, sand. ".repeat(30)}`, {
  name: "sound",
  description: "Sounds the depth at a buoy.",
  schema: {
    type: "object" as const,
    additionalProperties: true,
    properties: { buoy: { type: "number" as const } },
  },
});

const counter = charsPerToken(4);
const question = (turn: number): string =>
  `Question ${turn}: how deep is it? ${"It matters a great deal. ".repeat(12)}`;

function newAgent(model: StrictModel, options: PalimpsestMiddlewareOptions) {
  return createAgent({
    model,
    tools: [sound],
    systemPrompt: "Be brief.",
    checkpointer: new MemorySaver(),
    middleware: [palimpsestMiddleware({ counter, ...options })],
  });
}

const at = (thread_id: string) => ({ configurable: { thread_id } });

async function ask(agent: ReturnType<typeof newAgent>, question: string, thread = "t"): Promise<BaseMessage[]> {
  return (await agent.invoke({ messages: [new HumanMessage(question)] }, at(thread))).messages;
}

const stored = (messages: readonly BaseMessage[]): unknown =>
  JSON.parse(JSON.stringify(mapChatMessagesToStoredMessages([...messages])));

async function bodiesIn(store: Store, threadId: string): Promise<unknown> {
  assert.equal((await verify(threadDeps(store), threadId)).kind, "whole");
  const bodies: unknown[] = [];
  for await (const { body } of replay({ store }, threadId)) bodies.push(JSON.parse(body));
  return bodies;
}

const assertAccepted = (sent: readonly Sent[]): void => {
  for (const { broken, verdict } of sent) assert.deepEqual([broken, verdict], [[], "answered"]);
};

test("many turns: each request fits and keeps the rules, the state stays whole, and the log is the state", async (t) => {
  const store = newStore(t);
  const model = new StrictModel({ limit: 4000, answer: sailor });
  const agent = newAgent(model, { store });
  let state: BaseMessage[] = [];
  for (let turn = 1; turn <= 30; turn += 1) state = await ask(agent, question(turn));
  assertAccepted(model.sent);
  assert.equal(state.length, 120);
  assert.deepEqual(await bodiesIn(store, "t"), stored(state));
  const [last] = model.sent.slice(-1);
  assert.ok(last!.messages.length < 100, "not everything is shown");
  assert.ok(last!.messages.some(({ additional_kwargs }) => additional_kwargs["lc_source"] === "summarization"));
  assert.ok(
    state.slice(-4).filter((message) => last!.messages.includes(message)).length >= 3,
    "what is unchanged is sent as the very object",
  );
});

test("what the provider counted is reported, so that counts are anchored on it", async (t) => {
  const store = newStore(t);
  const agent = newAgent(new StrictModel({ limit: 4000, answer: sailor }), { store });
  await ask(agent, "How deep is it?");
  const usages: number[] = [];
  for await (const { record } of store.records("t", { kinds: ["usage"] }))
    if (record.kind === "usage") usages.push(record.input);
  assert.equal(usages.length, 2);
});

test("a refusal for length is recovered from in the same call, once, and the limit is remembered", async (t) => {
  const store = newStore(t);
  const model = new StrictModel({ limit: 4000, stated: 100_000, answer: sailor });
  const agent = newAgent(model, { store });
  for (let turn = 1; turn <= 20; turn += 1) await ask(agent, question(turn));
  assert.equal(model.sent.filter(({ verdict }) => verdict === "too-long").length, 1);
  assert.deepEqual(
    model.sent.flatMap(({ broken }) => broken),
    [],
  );
});

test("another error is the caller's, and the thread goes on after it", async (t) => {
  const store = newStore(t);
  let fails = true;
  const answer = (messages: readonly BaseMessage[], index: number): AIMessage => {
    if (fails) throw new Error("connect ECONNREFUSED");
    return sailor(messages, index);
  };
  const agent = newAgent(new StrictModel({ limit: 4000, answer }), { store });
  await assert.rejects(ask(agent, "How deep is it?"), /ECONNREFUSED/);
  fails = false;
  const state = await ask(agent, "And now?");
  assert.deepEqual(await bodiesIn(store, "t"), stored(state));
});

test("the model finds with recall what a summary has replaced", async (t) => {
  const store = newStore(t);
  let asked = false;
  const answer = (messages: readonly BaseMessage[], index: number): AIMessage => {
    const last = messages.at(-1)!;
    if (!last.text.includes("password") || last.getType() === "tool") return sailor(messages, index);
    asked = true;
    const call = { name: "recall", args: { query: "password of the lighthouse" }, id: "r", type: "tool_call" as const };
    return new AIMessage({ content: "", id: "recalls", tool_calls: [call] });
  };
  const model = new StrictModel({ limit: 4000, answer });
  const agent = newAgent(model, { store });
  await ask(agent, "Note: the lighthouse opens to periwinkle.");
  for (let turn = 1; turn <= 30; turn += 1) await ask(agent, question(turn));
  const state = await ask(agent, "What was the password of the lighthouse?");
  assert.ok(asked);
  const found = state.findLast((message) => message.getType() === "tool");
  assert.match(found!.text, /periwinkle/);
  assertAccepted(model.sent);
});

test("a checkpoint that is gone back to is a fork: the model is shown that branch, and the log keeps both", async (t) => {
  const store = newStore(t);
  const model = new StrictModel({ limit: 4000, answer: sailor });
  const agent = newAgent(model, { store });
  const first = await ask(agent, "How deep is it?");
  const config = (await agent.graph.getState(at("t"))).config;
  await ask(agent, "Forget it. Is it raining?");
  const { messages } = await agent.invoke({ messages: [new HumanMessage("And further out?")] }, config as never);
  assert.ok(model.sent.at(-1)!.messages.every(({ text }) => !text.includes("raining")));
  assert.equal(messages.length, 2 * first.length);
  assert.deepEqual(await bodiesIn(store, "t-1"), stored(messages));
  assert.match(JSON.stringify(await bodiesIn(store, "t")), /raining/);
});

test("without a store it is the same, also for another process that has only the state", async () => {
  const checkpointer = new MemorySaver();
  const agentOf = (model: StrictModel) =>
    createAgent({ model, tools: [sound], checkpointer, middleware: [palimpsestMiddleware({ counter })] });
  const first = new StrictModel({ limit: 4000, answer: sailor });
  for (let turn = 1; turn <= 20; turn += 1) await ask(agentOf(first), question(turn));
  const second = new StrictModel({ limit: 4000, answer: sailor });
  const state = await ask(agentOf(second), "And now?");
  assert.equal(state.length, 84);
  assertAccepted([...first.sent, ...second.sent]);
});

test("a thread is its user's, and a run without a thread is kept under its first message", async (t) => {
  const store = newStore(t);
  const userId = (runtime: { configurable?: Record<string, unknown> }) => runtime.configurable?.["user"] as string;
  const agent = newAgent(new StrictModel({ limit: 4000, answer: sailor }), { store, userId });
  for (const user of ["ann", "bob"])
    await agent.invoke(
      { messages: [new HumanMessage(`I am ${user}.`)] },
      { configurable: { thread_id: `t-${user}`, user } },
    );
  assert.match(JSON.stringify(await bodiesIn(store.forUser("ann"), "t-ann")), /I am ann/);
  assert.equal(await store.forUser("ann").head("t-bob"), undefined);
  const bare = createAgent({
    model: new StrictModel({ limit: 4000, answer: sailor }),
    tools: [sound],
    middleware: [palimpsestMiddleware({ counter, store })],
  });
  const { messages } = await bare.invoke({ messages: [new HumanMessage({ content: "Hi.", id: "first" })] });
  assert.deepEqual(await bodiesIn(store, "first"), stored(messages));
});

test("a chat model writes the summaries, out of sight of whoever streams the run", async (t) => {
  const store = newStore(t);
  const model = new StrictModel({ limit: 4000, answer: sailor });
  let prompts = 0;
  const summarizer = new StrictModel({
    limit: 100_000,
    answer: () => {
      prompts += 1;
      return new AIMessage("no summary at all");
    },
  });
  const agent = newAgent(model, { store, summarizer });
  const streamed: string[] = [];
  for (let turn = 1; turn <= 30; turn += 1) {
    const input = { messages: [new HumanMessage(question(turn))] };
    for await (const [message] of await agent.stream(input, { ...at("t"), streamMode: "messages" }))
      streamed.push((message as BaseMessage).text);
  }
  assert.ok(prompts > 0);
  assert.ok(!streamed.some((text) => text.includes("no summary at all")));
  assertAccepted(model.sent);
});
