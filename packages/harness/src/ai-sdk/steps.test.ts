import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { scriptedModel } from "@palimpsest/testing";
import { generateText, jsonSchema, type ModelMessage, stepCountIs, streamText, ToolLoopAgent, tool } from "ai";
import { toldModel } from "../../test/agent/told-model.ts";
import { openSqlite } from "../stores/sqlite.ts";
import type { Store } from "../stores/store.ts";
import { replay, verify } from "../thread/audit.ts";
import { threadDeps } from "../thread/writer.ts";
import { threadSettings } from "./steps.ts";

const RUN = fileURLToPath(new URL("../../test/ai-sdk/killed-run.ts", import.meta.url));
const counter = charsPerToken(4);

function newStore(t: TestContext, path = ":memory:"): Store {
  const store = openSqlite({ path });
  t.after(() => store.close());
  return store;
}

const sound = tool({
  description: "Sounds the depth at a buoy.",
  inputSchema: jsonSchema<{ buoy: number }>({ type: "object", properties: { buoy: { type: "number" } } }),
  execute: ({ buoy }) => `buoy ${buoy}: ${"four fathoms, sand and shell. ".repeat(40)}`,
});

/** Sounds three times, then answers. */
const sailor = () =>
  scriptedModel(({ index }) =>
    index % 4 < 3 ? { calls: [{ name: "sound", input: { buoy: index } }] } : `answer ${index}`,
  );

async function said(store: Store, threadId = "t"): Promise<ModelMessage[]> {
  assert.equal((await verify(threadDeps(store), threadId)).kind, "whole");
  const messages: ModelMessage[] = [];
  for await (const { body } of replay({ store }, threadId)) messages.push(JSON.parse(body));
  return messages;
}

test("run after run, each with only what is new: every step fits, and every word is in the log in order", async (t) => {
  const store = newStore(t);
  const model = sailor();
  const all: unknown[] = [];
  for (let turn = 1; turn <= 12; turn += 1) {
    const question: ModelMessage = { role: "user", content: `Question ${turn}: ${"how deep is it? ".repeat(20)}` };
    const steps = threadSettings({ store, threadId: "t", window: 4_000, counter, tools: { sound } });
    const { responseMessages } = await generateText({
      model,
      instructions: "Be brief.",
      messages: [question],
      tools: { sound },
      stopWhen: stepCountIs(5),
      ...steps.settings,
    });
    await steps.close();
    all.push(question, ...responseMessages);
  }
  assert.ok(model.calls.every(({ inputTokens }) => inputTokens < 4_000));
  assert.deepEqual(await said(store), JSON.parse(JSON.stringify(all)));
  const reports: number[] = [];
  for await (const { record } of store.records("t", { kinds: ["usage"] }))
    if (record.kind === "usage") reports.push(record.input);
  assert.equal(reports.length, 48);
});

test("streamText is the same, and prepareStep alone is the function itself", async (t) => {
  const store = newStore(t);
  const steps = threadSettings({ store, threadId: "t", window: 4_000 });
  const { onLanguageModelCallEnd, onStepEnd } = steps;
  const result = streamText({
    model: sailor(),
    prompt: "How deep is it?",
    tools: { sound },
    stopWhen: stepCountIs(5),
    prepareStep: steps,
    onLanguageModelCallEnd,
    onStepEnd,
  });
  await result.consumeStream();
  assert.equal((await said(store)).length, 8);
});

test("a whole history where only what is new belongs is refused in words, and nothing is said twice", async (t) => {
  const store = newStore(t);
  const first: ModelMessage[] = [{ role: "user", content: "Hi." }];
  const ask = (messages: ModelMessage[]) =>
    generateText({
      model: scriptedModel(["Hello.", "Hello again."]),
      messages,
      ...threadSettings({ store, threadId: "t", window: 4_000 }).settings,
    });
  const { responseMessages } = await ask(first);
  await assert.rejects(ask([...first, ...responseMessages, { role: "user", content: "Bye." }]), /only what is new/);
  assert.equal((await said(store)).length, 2);
});

test("killed inside a tool, the request that comes again goes on after the last whole step, with nothing said twice", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-ai-sdk-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "t.db");
  const child = spawn(process.execPath, ["--conditions=palimpsest-source", RUN, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.on("exit", (_, signal) => resolve(signal)));
  for await (const chunk of child.stdout) if (String(chunk).includes("in the tool")) break;
  child.kill("SIGKILL");
  assert.equal(await ended, "SIGKILL");

  const store = newStore(t, path);
  assert.equal((await said(store, "voyage")).length, 5, "the question and two steps");
  const model = scriptedModel(["Four fathoms at both."]);
  const { text } = await generateText({
    model,
    prompt: "How deep is it?",
    tools: { sound },
    ...threadSettings({ store, threadId: "voyage", requestId: "request-1", window: 8_000 }).settings,
  });
  assert.equal(text, "Four fathoms at both.");
  assert.deepEqual(
    model.calls[0]!.prompt.map(({ role }) => role),
    ["user", "assistant", "tool", "assistant", "tool"],
  );
  assert.equal((await said(store, "voyage")).length, 6);
});

test("what could not be written when its step ended is written when the steps are closed", async (t) => {
  const store = newStore(t);
  let fails = true;
  const failing: Store = {
    ...store,
    append: (threadId, batch) =>
      fails && batch.records.some(({ body }) => body?.includes("Hello."))
        ? Promise.reject(new Error("the disk is full"))
        : store.append(threadId, batch),
  };
  const steps = threadSettings({ store: failing, threadId: "t", window: 4_000 });
  await generateText({ model: scriptedModel(["Hello."]), prompt: "Hi.", ...steps.settings });
  assert.equal((await said(store)).length, 1);
  fails = false;
  await steps.close();
  assert.equal((await said(store)).length, 2);
});

async function origins(store: Store): Promise<readonly (readonly [string, string])[]> {
  const list: (readonly [string, string])[] = [];
  for await (const { origin, body } of replay({ store }, "t")) list.push([origin, JSON.parse(body).role]);
  return list;
}

test("an answer that is stopped is in the log as far as it was heard, marked as aborted, when the stream ends", async (t) => {
  const store = newStore(t);
  const stop = new AbortController();
  const steps = threadSettings({ store, threadId: "t", window: 4_000 });
  const model = toldModel();
  const result = streamText({
    model,
    prompt: "Tell me.",
    abortSignal: stop.signal,
    ...steps.settings,
  });
  void model.next().then((call) => call.say("Once upon a time"));
  let heard = "";
  for await (const text of result.textStream) {
    heard += text;
    stop.abort();
  }
  assert.equal(heard, "Once upon a time");
  assert.deepEqual(await origins(store), [
    ["user", "user"],
    ["aborted", "assistant"],
  ]);
  assert.deepEqual((await said(store)).at(-1), { role: "assistant", content: [{ type: "text", text: heard }] });
  const next = scriptedModel(["The end."]);
  const { settings } = threadSettings({ store, threadId: "t", window: 4_000 });
  await generateText({ model: next, prompt: "Go on.", ...settings });
  assert.deepEqual(
    next.calls[0]!.prompt.map(({ role }) => role),
    ["user", "assistant", "user"],
  );
});

test("a stop while tools run keeps the answer that called them and the results that had come", async (t) => {
  const store = newStore(t);
  const stop = new AbortController();
  const steps = threadSettings({ store, threadId: "t", window: 4_000 });
  const tools = {
    sound,
    wait: tool({
      inputSchema: jsonSchema<object>({ type: "object" }),
      execute: () => Promise.withResolvers<string>().promise,
    }),
  };
  const calls = [
    { id: "c1", name: "sound", input: { buoy: 1 } },
    { id: "c2", name: "wait", input: {} },
  ];
  const result = streamText({
    model: scriptedModel([{ text: "I sound.", calls }]),
    prompt: "How deep?",
    tools,
    abortSignal: stop.signal,
    ...steps.settings,
  });
  for await (const part of result.stream) if (part.type === "tool-result") stop.abort();
  assert.deepEqual(await origins(store), [
    ["user", "user"],
    ["model", "assistant"],
    ["tool", "tool"],
  ]);
  const [, answer, results] = (await said(store)) as [unknown, { content: object[] }, { content: object[] }];
  assert.deepEqual(
    answer.content.map((part) => "toolCallId" in part && part.toolCallId),
    [false, "c1", "c2"],
  );
  assert.deepEqual(
    results.content.map((part) => "toolCallId" in part && part.toolCallId),
    ["c1"],
  );
});

test("a ToolLoopAgent keeps a stopped answer, too", async (t) => {
  const store = newStore(t);
  const stop = new AbortController();
  const model = toldModel();
  const agent = new ToolLoopAgent({ model, ...threadSettings({ store, threadId: "t", window: 4_000 }).settings });
  const result = await agent.stream({ prompt: "Tell me.", abortSignal: stop.signal });
  void model.next().then((call) => call.say("Once upon a time"));
  for await (const _ of result.textStream) stop.abort();
  assert.deepEqual(await origins(store), [
    ["user", "user"],
    ["aborted", "assistant"],
  ]);
});
