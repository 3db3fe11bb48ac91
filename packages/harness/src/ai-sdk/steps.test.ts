import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { charsPerToken } from "@palimpsest/core/tokens";
import { generateText, jsonSchema, type ModelMessage, stepCountIs, streamText, tool } from "ai";
import { openSqlite } from "../stores/sqlite.ts";
import type { Store } from "../stores/store.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { replay, verify } from "../threads/audit.ts";
import { threadDeps } from "../threads/writer.ts";
import { palimpsest } from "./steps.ts";

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
    const steps = palimpsest({ store, threadId: "t", window: 4_000, counter, tools: { sound } });
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
  const steps = palimpsest({ store, threadId: "t", window: 4_000 });
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
      ...palimpsest({ store, threadId: "t", window: 4_000 }).settings,
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
    ...palimpsest({ store, threadId: "voyage", requestId: "request-1", window: 8_000 }).settings,
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
  const steps = palimpsest({ store: failing, threadId: "t", window: 4_000 });
  await generateText({ model: scriptedModel(["Hello."]), prompt: "Hi.", ...steps.settings });
  assert.equal((await said(store)).length, 1);
  fails = false;
  await steps.close();
  assert.equal((await said(store)).length, 2);
});
