import assert from "node:assert/strict";
import { test } from "node:test";
import { tool } from "ai";
import { z } from "zod";
import { agentKit, deepAgentKit } from "../../test/agent/agent-kit.ts";

const wait = (until: Promise<void>) => tool({ inputSchema: z.object({}), execute: () => until.then(() => "seen") });

test("a server knows before the first word whether a run has started, and finds the one under way", async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const kit = agentKit([{ text: "One moment.", calls: [{ name: "look", input: {} }] }, "done"], {
    tools: { look: wait(promise) },
  });
  t.after(() => kit.store.close());
  const first = kit.agent.stream({ threadId: "t", prompt: "go" });
  assert.deepEqual(await first.started, { kind: "started" });
  const second = kit.agent.stream({ threadId: "t", prompt: "me, too" });
  assert.equal((await second.started).kind, "busy");
  assert.equal((await second.result).end.kind, "busy");
  assert.equal(kit.agent.running("t"), first);
  assert.equal(kit.agent.running("t", { userId: "bob" }), null);
  resolve();
  const texts: string[] = [];
  for await (const text of kit.agent.running("t")!.textStream) texts.push(text);
  assert.equal(texts.join(""), "One moment.done");
  await first.result;
  assert.equal(kit.agent.running("t"), null);
  const bad = kit.agent.stream({ threadId: "t", prompt: " " });
  assert.equal((await bad.started).kind, "failed");
});

test("an agent lists the threads of one user", async (t) => {
  const kit = agentKit(["a", "b", "c"]);
  t.after(() => kit.store.close());
  for (const [threadId, userId] of [
    ["t1", "ann"],
    ["t2", "ann"],
    ["t3", "bob"],
  ] as const) {
    await kit.agent.generate({ threadId, userId, prompt: "hi" });
  }
  const { threads } = await kit.agent.threads({ userId: "ann" });
  assert.deepEqual(threads.map(({ header }) => header.id).sort(), ["t1", "t2"]);
  assert.deepEqual((await kit.agent.threads()).threads, []);
});

test("a name clash of tools is refused when the agent is made", () => {
  const own = tool({ inputSchema: z.object({}), execute: () => "mine" });
  for (const name of ["task", "recall", "write_todos", "ask_clarification", "compact_conversation"]) {
    assert.throws(() => deepAgentKit([], { tools: { [name]: own } }), {
      code: "duplicate-tool",
      message: new RegExp(name),
    });
  }
});

test("whatever a deep agent wires can be left out, and its names are then free", async (t) => {
  const own = tool({ inputSchema: z.object({}), execute: () => "mine" });
  const without = { recall: false, todos: false, clarification: false, compactTool: false, loopGuard: false };
  const kit = deepAgentKit(["done"], { ...without, subagents: false, title: false, tools: { recall: own } });
  t.after(() => kit.store.close());
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  assert.deepEqual(
    kit.model.calls[0]!.options.tools?.map(({ name }) => name),
    ["recall"],
  );
});

test("of two runs that are started at once on a thread the first holds it, and the second is busy", async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const kit = agentKit([{ text: "One moment.", calls: [{ name: "look", input: {} }] }, "done"], {
    tools: { look: wait(promise) },
  });
  t.after(() => kit.store.close());
  const first = kit.agent.stream({ threadId: "t", prompt: "one" });
  await assert.rejects(kit.agent.generate({ threadId: "t", prompt: "two" }), { code: "busy" });
  resolve();
  assert.equal((await first.result).end.kind, "answered");
});
