// The request of a past turn is shown as it was sent, whatever happened to the thread since.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type Part, type Shape, shapeOf } from "@palimpsest/core/internal/message";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { type ScriptedCall, scriptedModel } from "@palimpsest/testing";
import { type ModelMessage, streamText, tool } from "ai";
import { z } from "zod";
import { agentKit, deepAgentKit } from "../../test/agent/agent-kit.ts";
import { forgetEverywhere } from "../features/memory/erase-message.ts";
import { fileStorage } from "../features/memory/file-storage.ts";
import { memory } from "../features/memory/middleware.ts";
import { openRepository } from "../features/memory/repository.ts";
import { memoryService } from "../features/memory/service.ts";
import { withoutExecute } from "../models/wrap.ts";
import { openSqlite } from "../stores/sqlite.ts";
import type { FullStore } from "../stores/store.ts";
import { copyStore } from "../thread/copy.ts";
import { openThread } from "../thread/open-thread.ts";
import { redact } from "../thread/redact.ts";
import { threadWindow } from "../thread/thread-window.ts";
import { threadDeps } from "../thread/writer.ts";
import type { ToolSchema } from "./fixed-part.ts";
import { pastRequest, type SentRequest, toolsOf } from "./past-request.ts";

const look = tool({
  description: "Looks at a thing.",
  inputSchema: z.object({ thing: z.string() }),
  execute: async ({ thing }) => `a ${thing}`,
});

for (const provider of ["openai.chat", "anthropic.messages"])
  test(`every request of a thread with tools and compactions is shown as ${provider} got it`, async (t) => {
    const store = openSqlite({ path: ":memory:" });
    t.after(() => store.close());
    let step = 0;
    const kit = deepAgentKit(
      () => {
        step += 1;
        return step % 3 === 1
          ? { text: "let me look", calls: [{ name: "look", input: { thing: `cat ${step}` } }] }
          : "ok";
      },
      { store, tools: { look }, temperature: 0.3, maxOutputTokens: 500, scripted: { provider } },
    );
    for (let turn = 1; turn <= 8; turn++) {
      await kit.agent.generate({ threadId: "t", prompt: `turn ${turn}: ${`word${turn} `.repeat(60)}` });
      if (turn % 3 === 0) assert.equal((await kit.agent.compact("t")).kind, "compacted");
    }
    const { calls } = kit.model;
    const answers = await answersOf(store, "t");
    assert.equal(answers.length, calls.length);
    for (const [index, answer] of answers.entries()) {
      const request = await pastRequest(threadDeps(store), "t", answer);
      assert.equal(request.kind, "request");
      await assertAsSent(request as SentRequest, calls[index]!);
    }
    assert.equal((await store.prompts.list()).length, 3, "system prompt, tools and parameters stand once");
  });

for (const dialect of ["openai", "anthropic", "ai-sdk"] as const)
  test(`every request of a loop on ${dialect} messages is shown as openThread gave it, whatever was compacted since`, async (t) => {
    const store = openSqlite({ path: ":memory:" });
    t.after(() => store.close());
    const shape = shapeOf(dialect) as unknown as Shape<object>;
    const model = dialect === "anthropic" ? "claude-opus-5-5" : "gpt-5";
    const opened = await openThread({ store, id: "t", shape, window: 100_000, model, counter: charsPerToken(4) });
    assert.ok(opened.kind === "open");
    const { thread } = opened;
    t.after(() => thread.close());
    const requests: { readonly answer: number; readonly system: string; readonly messages: readonly object[] }[] = [];
    for (let turn = 1; turn <= 8; turn++) {
      await thread.append([shape.turn("user", `turn ${turn}: ${`word${turn} `.repeat(60)}`)]);
      const system = `Be brief ${Math.ceil(turn / 4)}.`;
      const { messages } = await thread.prompt({ fixed: { system, tools: [{ name: "look" }] } });
      const thought = { kind: "reasoning", text: "hm", signature: `s${turn}`, signedBy: "anthropic", redacted: false };
      const text = { kind: "text", text: `answer ${turn}` } as const;
      const answers = shape.make("assistant", dialect === "anthropic" ? [thought as Part, text] : [text]);
      const [answer] = await thread.append(answers);
      requests.push({ answer: answer!, system, messages });
      const outcome = turn % 3 === 0 ? await thread.compact({ keep: { type: "messages", value: 2 } }) : null;
      assert.ok(outcome === null || outcome.kind === "compacted");
    }
    for (const { answer, system, messages } of requests) {
      const request = await pastRequest(threadDeps(store), "t", answer);
      assert.ok(request.kind === "request");
      assert.deepEqual([request.system, request.messages], [system, messages]);
      assert.deepEqual([request.tools, request.parameters?.model], [[{ name: "look" }], model]);
    }
    assert.equal((await store.prompts.list()).length, 4, "two system prompts, tools and parameters");
  });

test("a loop that states only the size of what it sends beside the messages has no request to show", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const opened = await openThread({
    store,
    id: "t",
    shape: shapeOf("openai"),
    window: 100_000,
    fixed: { tokens: 300 },
  });
  assert.ok(opened.kind === "open");
  t.after(() => opened.thread.close());
  await opened.thread.append([{ role: "user", content: "hi" }]);
  await opened.thread.prompt();
  await opened.thread.append([{ role: "assistant", content: "hello" }]);
  const request = await pastRequest(threadDeps(store), "t", 1);
  assert.deepEqual(request, { kind: "no-request", reason: "not-recorded" });
});

test("a turn is named by any of its records; a thread that nobody answered in has no request", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const { agent } = agentKit(["hello"], { store });
  const deps = threadDeps(store);
  assert.deepEqual(await pastRequest(deps, "t", 1), { kind: "missing" });
  await agent.generate({ threadId: "t", prompt: "hi" });
  const [answer] = await answersOf(store, "t");
  const first = await pastRequest(deps, "t", 1);
  assert.ok(first.kind === "request" && first.answer === answer);
  assert.deepEqual(await pastRequest(deps, "t", answer! + 1), { kind: "no-request", reason: "no-answer" });
});

test("a text that holds the words of an erased message goes with it, and the request says what is missing", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const SECRET = "the password of the harbor master is swordfish-4711";
  const quoting = { name: "quoting", prompt: () => [{ slot: "instructions", text: `Know this: ${SECRET}` }] as const };
  const { agent } = agentKit(["noted", "noted again"], { store, middleware: [quoting] });
  await agent.generate({ threadId: "t", prompt: SECRET });
  const deps = threadDeps(store);
  let message = 0;
  for await (const { record } of store.records("t", { kinds: ["message"] })) if (message === 0) message = record.seq;
  assert.equal((await redact(deps, "t", message)).kind, "redacted");
  assert.ok((await store.prompts.list()).every(({ text }) => !text.includes("swordfish")));
  const request = await pastRequest(deps, "t", message);
  assert.ok(request.kind === "erased" && request.what === "system", request.kind);
});

test("a past request says which of its messages were redacted since, and that its summary was made anew", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const { agent } = agentKit(() => "Noted, and so on. ".repeat(40), { store });
  for (let turn = 1; turn <= 6; turn += 1)
    await agent.generate({ threadId: "t", prompt: `Turn ${turn}: the boat is called Heron-${turn}.` });
  assert.equal((await agent.compact("t", { keep: { type: "messages", value: 2 } })).kind, "compacted");
  await agent.generate({ threadId: "t", prompt: "Turn 7: and now?" });
  const deps = threadDeps(store);
  const [first, ...others] = await answersOf(store, "t");
  const told = async (seq: number) => {
    const request = await pastRequest(deps, "t", seq);
    assert.ok(request.kind === "request");
    return [request.redacted, request.rewritten];
  };
  const last = others.at(-1)!;
  for (const answer of [first!, last]) assert.deepEqual(await told(answer), [[], []]);
  const message = first! - 1;
  assert.equal((await redact(deps, "t", message)).kind, "redacted");
  assert.deepEqual(await told(first!), [[message], []]);
  const { compaction } = (await store.head("t"))!;
  assert.deepEqual(await told(last), [[], [compaction]]);
  assert.equal((await threadWindow(store, "t", { window: 8000, at: last - 1 }))!.compaction!.rewritten, true);
});

test("a copied thread's past requests are the same where it arrived", async (t) => {
  const [store, copy] = [openSqlite({ path: ":memory:" }), openSqlite({ path: ":memory:" })];
  t.after(() => Promise.all([store.close(), copy.close()]));
  const { agent } = agentKit(["one", "two"], { store, tools: { look } });
  for (const prompt of ["first", "second"]) await agent.generate({ threadId: "t", prompt });
  await copyStore(store, copy);
  assert.deepEqual(await copy.prompts.list(), await store.prompts.list());
  for (const answer of await answersOf(store, "t")) {
    const request = await pastRequest(threadDeps(store), "t", answer);
    assert.equal(request.kind, "request");
    assert.deepEqual(await pastRequest(threadDeps(copy), "t", answer), request);
  }
});

test("a memory block is shown as it was sent, and no longer once it was erased", async (t) => {
  const home = mkdtempSync(join(tmpdir(), "palimpsest-past-"));
  const store = openSqlite({ path: ":memory:" });
  t.after(async () => {
    await store.close();
    rmSync(home, { recursive: true });
  });
  const deps = threadDeps(store);
  const repository = openRepository(fileStorage({ base: home, storagePath: "memory.json" }), deps.clock);
  const service = memoryService({ repository, clock: deps.clock, ids: () => "f1" });
  const scope = { userId: "default", agentName: null };
  await service.add(scope, { content: "User's boat is called $& Wanderlust" });
  const { agent, model } = deepAgentKit(["aye", "aye aye"], { store, middleware: [memory({ repository })] });
  await agent.generate({ threadId: "t", prompt: "Where does my boat lie?" });
  const request = await pastRequest(deps, "t", 1);
  assert.equal(request.kind, "request");
  assert.match(JSON.stringify((request as SentRequest).system), /Wanderlust/);
  await assertAsSent(request as SentRequest, model.calls[0]!);
  assert.ok(
    (await store.prompts.list()).every(({ text }) => !text.includes("Wanderlust")),
    "kept apart from the block",
  );
  await forgetEverywhere({ deps, repository, cleanFiles: null }, service, { scope, ids: ["f1"], turns: "redact" });
  const after = await pastRequest(deps, "t", 1);
  assert.ok(after.kind === "erased" && after.what === "memory", after.kind);
});

/** The same call once more, made from what is shown: the model must get the same. */
async function assertAsSent({ system, messages, tools, parameters }: SentRequest, sent: ScriptedCall): Promise<void> {
  const { provider, model: modelId, settings } = parameters!;
  const model = scriptedModel(["again"], { provider, modelId });
  const { steps } = streamText({
    ...settings,
    model,
    instructions: system,
    messages: messages as unknown as ModelMessage[],
    tools: withoutExecute(toolsOf(tools as readonly ToolSchema[])),
  });
  await steps;
  const [again] = model.calls;
  assert.deepEqual(again!.prompt, sent.prompt);
  const shown = ({ options }: ScriptedCall) => {
    const { abortSignal: _, headers: _headers, ...rest } = options;
    return JSON.parse(JSON.stringify(rest));
  };
  assert.deepEqual(shown(again!), shown(sent));
}

async function answersOf(store: FullStore, threadId: string): Promise<number[]> {
  const found: number[] = [];
  for await (const { record } of store.records(threadId, { kinds: ["message"] }))
    if (record.kind === "message" && record.origin === "model") found.push(record.seq);
  return found;
}
