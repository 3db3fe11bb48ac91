import assert from "node:assert/strict";
import { test } from "node:test";
import { tool } from "ai";
import { z } from "zod";
import { agentKit, deepAgentKit, type Kit, textOf } from "../../test/agent/agent-kit.ts";
import { openSqlite } from "../stores/sqlite.ts";
import type { AgentEvent } from "./events.ts";
import type { Middleware, Run } from "./run.ts";

const STORY = "Once upon a time there was a log that nobody ever edited, and it kept every word that was said to it.";
const never = new Promise<never>(() => {});

test("closing during a tool that ignores its signal: the run ends aborted, the thread is free, no late result is written", async (t) => {
  const late = Promise.withResolvers<string>();
  const deaf = tool({ inputSchema: z.object({}), execute: () => late.promise });
  const kit = agentKit([{ text: "Let me see.", calls: [{ name: "deaf", input: {} }] }], { tools: { deaf } });
  t.after(() => kit.store.close());
  const stream = kit.agent.stream({ threadId: "t", prompt: "go" });
  await seen(stream, ({ type }) => type === "tool-start");
  await kit.agent.close();
  assert.deepEqual((await stream.result).end, { kind: "aborted" });
  assert.equal(await nextAnswer(kit), "next");
  late.resolve("too late");
  await new Promise(setImmediate);
  assert.deepEqual(await kit.origins(), ["user", "model", "tool", "user", "model"]);
  assert.match(textOf((await kit.said())[2]!), /stopped before this tool had finished/);
});

test("closing while the model speaks keeps what was said, marked as aborted", async (t) => {
  const kit = agentKit([STORY]);
  t.after(() => kit.store.close());
  const stream = kit.agent.stream({ threadId: "t", prompt: "tell me" });
  await seen(stream, ({ type }) => type === "text-delta");
  await kit.agent.close();
  assert.deepEqual(await kit.origins(), ["user", "aborted"]);
  assert.equal(await nextAnswer(kit), "next");
});

for (const hook of ["beforeAgent", "afterModel", "afterAgent"] as const) {
  test(`a run that hangs in ${hook} loses its thread when the time to close is over`, async (t) => {
    const hanging = Promise.withResolvers<Run>();
    const stuck: Middleware = {
      name: "stuck",
      [hook](run: Run) {
        hanging.resolve(run);
        return never;
      },
    };
    const kit = agentKit([STORY], { middleware: [stuck] });
    t.after(() => kit.store.close());
    const stream = kit.agent.stream({ threadId: "t", prompt: "tell me" });
    const run = await hanging.promise;
    await kit.agent.close({ withinMs: 0 });
    assert.deepEqual((await stream.result).end, { kind: "aborted" });
    assert.equal(await nextAnswer(kit), "next");
    await assert.rejects(run.say({ role: "assistant", content: "too late" }, "model"), { code: "lease-lost" });
  });
}

test("a closed agent starts nothing: runs and compactions are refused and say so", async (t) => {
  const kit = agentKit([]);
  t.after(() => kit.store.close());
  await kit.agent.close();
  await kit.agent.close();
  await assert.rejects(kit.agent.generate({ threadId: "t", prompt: "hi" }), { code: "closed" });
  await assert.rejects(kit.agent.compact("t"), { code: "closed" });
  assert.equal(await kit.store.head("t"), undefined);
});

test("a run that waits for a busy thread stops waiting", async (t) => {
  const kit = agentKit(["first"]);
  t.after(() => kit.store.close());
  await kit.agent.generate({ threadId: "t", prompt: "hi" });
  await kit.store.acquireLease("t", "another", 30_000);
  const stream = kit.agent.stream({ threadId: "t", prompt: "and?", waitMs: 30_000 });
  await seen(stream, ({ type }) => type === "thread-wait");
  await kit.agent.close();
  assert.deepEqual((await stream.result).end, { kind: "aborted" });
});

test("closing ends what its middleware has running, and leaves open a store it was given", async () => {
  let closed = 0;
  const kit = deepAgentKit([], { middleware: [{ name: "worker", close: () => void closed++ }] });
  await kit.agent.close();
  assert.equal(closed, 1);
  await kit.store.head("t");
  await kit.store.close();
});

test("a compaction under way is stopped and its thread given back", async (t) => {
  const asked = Promise.withResolvers<void>();
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const kit = deepAgentKit(() => STORY.repeat(20), {
    store,
    summarizer: () => {
      asked.resolve();
      return never;
    },
  });
  for (let turn = 0; turn < 4; turn++) await kit.agent.generate({ threadId: "t", prompt: STORY.repeat(20) });
  const compacting = kit.agent.compact("t").catch((error: unknown) => error);
  await asked.promise;
  await kit.agent.close({ withinMs: 0 });
  await compacting;
  assert.equal(await nextAnswer(kit), "next");
});

/** Resolves at the first event that is asked for. */
async function seen(events: AsyncIterable<AgentEvent>, isIt: (event: AgentEvent) => boolean): Promise<void> {
  for await (const event of events) if (isIt(event)) return;
  assert.fail("the run has ended without it");
}

/** What another process is told on the same thread, right away. */
async function nextAnswer({ store }: Kit): Promise<string> {
  const next = agentKit(["next"], { store });
  return (await next.agent.generate({ threadId: "t", prompt: "go on" })).text;
}
