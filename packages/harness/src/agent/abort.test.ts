import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { tool } from "ai";
import { z } from "zod";
import { agentKit } from "../../test/agent/agent-kit.ts";
import type { AgentEvent } from "./events.ts";
import type { Middleware, Run } from "./run.ts";

const echo = tool({ inputSchema: z.object({ text: z.string() }), execute: ({ text }) => `echo ${text}` });
const STORY = "Once upon a time there was a log that nobody ever edited, and it kept every word that was said to it.";

const moments: readonly (readonly [string, (event: AgentEvent) => boolean, readonly string[]])[] = [
  ["before the first step", ({ type }) => type === "run-start", ["user"]],
  ["before the model is asked", ({ type }) => type === "step-start", ["user"]],
  ["while it speaks", ({ type }) => type === "text-delta", ["user", "aborted"]],
  ["when a tool starts", ({ type }) => type === "tool-start", ["user", "model", "tool"]],
  ["when a step ends", ({ type }) => type === "step-end", ["user", "model", "tool"]],
];
for (const [when, isNow, expected] of moments) {
  test(`an abort ${when} leaves a thread that goes on, with what was shown kept`, async () => {
    const stop = new AbortController();
    const kit = agentKit([{ text: STORY, calls: [{ name: "echo", input: { text: "x" } }] }, "after"], {
      tools: { echo },
      middleware: [{ name: "watch" }],
    });
    const stream = kit.agent.stream({ threadId: "t", prompt: "tell me", signal: stop.signal });
    for await (const event of stream) if (isNow(event)) stop.abort();
    const { end, text } = await stream.result;
    assert.deepEqual(end, { kind: "aborted" });
    assert.deepEqual(await kit.origins(), expected);
    if (expected.includes("aborted")) assert.ok(STORY.startsWith(text) && text !== "");
    const next = agentKit(["after"], { store: kit.store, tools: { echo } });
    assert.equal((await next.agent.generate({ threadId: "t", prompt: "go on" })).text, "after");
  });
}

test("a signal that is aborted already: the prompt is logged and no model is asked", async () => {
  const kit = agentKit([]);
  const { end } = await kit.agent.stream({ threadId: "t", prompt: "hi", signal: AbortSignal.abort() }).result;
  assert.deepEqual(end, { kind: "aborted" });
  assert.equal(kit.model.calls.length, 0);
  assert.deepEqual(await kit.origins(), ["user"]);
});

test("a run that loses its lease stops, and its late answer isn't written", async () => {
  const release = Promise.withResolvers<void>();
  const kit = agentKit([{ text: "too late", delayMs: 1 }], { scripted: { sleep: () => release.promise } });
  const stream = kit.agent.stream({ threadId: "t", prompt: "hi" });
  for await (const event of stream) if (event.type === "step-start") break;
  const run = stream[Symbol.asyncIterator]();
  const { value: start } = await run.next();
  assert.equal(start.type, "run-start");
  // Somebody takes the thread over, as after a pause longer than the lease.
  const acquire = kit.store.acquireLease.bind(kit.store);
  await expireLease(kit.store);
  assert.equal((await acquire("t", "thief", 30_000)).kind, "acquired");
  release.resolve();
  const { end } = await stream.result;
  assert.equal(end.kind === "failed" && end.code, "lease-lost");
  assert.deepEqual(await kit.origins(), ["user"]);
});

/** Gives back the lease under which the run writes, whoever holds it. */
async function expireLease(store: {
  releaseLease: ReturnType<typeof agentKit>["store"]["releaseLease"];
  acquireLease: ReturnType<typeof agentKit>["store"]["acquireLease"];
}): Promise<void> {
  const busy = await store.acquireLease("t", "asks", 1);
  assert.equal(busy.kind, "busy");
  if (busy.kind === "busy") await store.releaseLease({ threadId: "t", owner: busy.owner, epoch: 1 });
}

for (const hook of ["beforeAgent", "beforeModel"] as const) {
  test(`stopped while a middleware waits on the run's signal in ${hook}: it was aborted, it didn't fail`, async () => {
    const stop = new AbortController();
    const waiting: Middleware = {
      name: "waiting",
      async [hook](run: Run) {
        queueMicrotask(() => stop.abort());
        await sleep(10_000, undefined, { signal: run.signal });
      },
    };
    const kit = agentKit([STORY], { middleware: [waiting] });
    const { end } = await kit.agent.stream({ threadId: "t", prompt: "tell me", signal: stop.signal }).result;
    assert.deepEqual(end, { kind: "aborted" });
    assert.deepEqual(await kit.origins(), ["user"]);
  });
}
