import assert from "node:assert/strict";
import { test } from "node:test";
import { tool } from "ai";
import { z } from "zod";
import { subagentKit, taskCall } from "../../../test/subagents/subagent-kit.ts";
import { openSqlite } from "../../stores/sqlite.ts";
import { createGate } from "./delegate.ts";
import { subagentLogLines } from "./result.ts";

const look = tool({ inputSchema: z.object({}), execute: () => "seen" });
const looking = { text: "I looked", calls: [{ name: "look", input: {} }] };

test("an unknown type is a tool error that names the known ones, and the run goes on", async () => {
  const kit = subagentKit({
    parent: [{ calls: [taskCall("x", { subagent_type: "wizard" })] }, "ok"],
    child: () => "?",
  });
  assert.equal((await kit.agent.generate({ threadId: "t", prompt: "go" })).text, "ok");
  assert.match((await kit.results())[0]!.error!, /"wizard".*general-purpose, bash/);
  assert.deepEqual(await kit.delegations(), []);
});

test("an empty prompt is a tool error and starts nothing", async () => {
  const kit = subagentKit({ parent: [{ calls: [taskCall("  ")] }, "ok"], child: () => "?" });
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  assert.match((await kit.results())[0]!.error!, /prompt is empty/);
  assert.equal(kit.of("subagent-start").length, 0);
});

test("a child whose model throws is failed, with the reason", async () => {
  const kit = subagentKit({
    parent: [{ calls: [taskCall("x")] }, "ok"],
    child: () => ({ error: new Error("no luck") }),
  });
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  const [result] = await kit.results();
  assert.equal(result!.status, "failed");
  assert.match(result!.reason!, /no luck/);
  assert.equal(result!.output, "No response");
});

test("a child that answers nothing is failed with No response", async () => {
  const kit = subagentKit({ parent: [{ calls: [taskCall("x")] }, "ok"], child: () => "" });
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  const [result] = await kit.results();
  assert.equal(result!.status, "failed");
  assert.equal(result!.output, "No response");
});

test("a child that hangs is timed out, and what it said is kept", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const never = tool({
    inputSchema: z.object({}),
    execute: () => {
      setImmediate(() => t.mock.timers.tick(5000));
      return new Promise<string>(() => {});
    },
  });
  const kit = subagentKit(
    {
      parent: [{ calls: [taskCall("x")] }, "ok"],
      child: () => ({ text: "wait", calls: [{ name: "never", input: {} }] }),
    },
    { tools: { never }, timeoutSeconds: 5 },
  );
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  const [result] = await kit.results();
  assert.equal(result!.status, "timed-out");
  assert.equal(result!.output, "wait");
  assert.equal((await kit.delegations())[0]!.status, "timed-out");
});

test("[F69] a child that loops makes exactly max_turns model calls and one more without tools for its answer", async () => {
  const kit = subagentKit(
    {
      parent: [{ calls: [taskCall("x", { max_turns: 4 })] }, "ok"],
      child: (_, turn, call) => (call.options.tools === undefined ? `found by turn ${turn}` : looking),
    },
    { tools: { look } },
  );
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  const [result] = await kit.results();
  assert.equal(result!.status, "turn-capped");
  assert.equal(result!.output, "found by turn 5");
  assert.equal(kit.model.calls.length, 2 + 4 + 1);
  assert.equal(kit.of("subagent-end")[0]!.turns, 5);
  const lines = [...kit.of("subagent-step"), ...kit.of("subagent-end")].flatMap(subagentLogLines);
  assert.ok(lines.includes("[SubagentExecutor] Turn 4/4 completed"));
  assert.ok(lines.includes("[SubagentExecutor] Answered without tools after 4/4 turns"));
  assert.ok(lines.includes("[SubagentExecutor] Task turn-capped: it used all 4 turns"));
  assert.ok(!lines.some((line) => line.includes("5/4")), lines.join("\n"));
});

test("[F70] a child stays inside its token budget: the last call it has room for is for its answer", async () => {
  const kit = subagentKit(
    {
      parent: [{ calls: [taskCall("x", { max_turns: 500 })] }, "ok"],
      child: (_, __, call) => (call.options.tools === undefined ? "what I have" : looking),
    },
    { tools: { look }, tokenBudget: 5000 },
  );
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  const [result] = await kit.results();
  assert.equal(result!.status, "token-capped");
  assert.equal(result!.output, "what I have");
  const { input, output } = result!.usage;
  assert.ok(input + output <= 5000 && input + output > 3000, `${input + output}`);
});

test("[F70] a budget that has no room for one call is token-capped before the provider is asked", async () => {
  const kit = subagentKit({ parent: [{ calls: [taskCall("x")] }, "ok"], child: () => "?" }, { tokenBudget: 10 });
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  const [result] = await kit.results();
  assert.equal(result!.status, "token-capped");
  assert.equal(kit.model.calls.length, 2);
});

test("a child whose prompt can't fit its window is failed, and the parent is unharmed", async () => {
  const spec = { name: "tiny", description: "tiny", systemPrompt: "rule ".repeat(3000) };
  const kit = subagentKit(
    { parent: [{ calls: [taskCall("x", { subagent_type: "tiny" })] }, "ok"], child: () => "?" },
    { agents: [spec], window: 2000 },
  );
  assert.equal((await kit.agent.generate({ threadId: "t", prompt: "go" })).text, "ok");
  const [result] = await kit.results();
  assert.equal(result!.status, "failed");
  assert.match(result!.reason!, /window/);
});

test("a child that tries task gets an error from its own step and goes on", async () => {
  const kit = subagentKit({
    parent: [{ calls: [taskCall("x")] }, "ok"],
    child: (_, turn) => (turn === 1 ? { calls: [taskCall("deeper")] } : "did it myself"),
  });
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  const [result] = await kit.results();
  assert.equal(result!.output, "did it myself");
  assert.match((await kit.results(result!.threadId))[0]!.error!, /task/);
  assert.equal(kit.of("subagent-start").length, 1);
});

test("[F71] stopping the parent ends the running child and those that wait, and no place is lost", async () => {
  const gate = createGate();
  const stop = new AbortController();
  const started = Promise.withResolvers<void>();
  const kit = subagentKit(
    {
      parent: [{ calls: [taskCall("a"), taskCall("b"), taskCall("c")] }],
      child: async () => {
        started.resolve();
        return new Promise<never>(() => {});
      },
    },
    { gate, maxConcurrent: 1 },
  );
  const stream = kit.agent.stream({ threadId: "t", prompt: "go", signal: stop.signal });
  await started.promise;
  stop.abort();
  assert.deepEqual((await stream.result).end, { kind: "aborted" });
  assert.deepEqual(
    (await kit.delegations()).map(({ status }) => status),
    ["cancelled"],
  );
  assert.deepEqual(
    kit.of("subagent-end").map(({ status }) => status),
    ["cancelled"],
  );
  assert.deepEqual([gate.running, gate.waiting], [0, 0]);
});

test("a store that fails during a child's step makes that child failed; the parent answers", async () => {
  const inner = openSqlite({ path: ":memory:" });
  const store = {
    ...inner,
    append: (threadId: string, batch: Parameters<typeof inner.append>[1]) =>
      threadId.startsWith("subagent-") && batch.expect > 2
        ? Promise.reject(new Error("disk full"))
        : inner.append(threadId, batch),
  };
  const kit = subagentKit(
    { parent: [{ calls: [taskCall("x")] }, "ok"], child: () => looking },
    { tools: { look }, store },
  );
  assert.equal((await kit.agent.generate({ threadId: "t", prompt: "go" })).text, "ok");
  const [result] = await kit.results();
  assert.equal(result!.status, "failed");
  assert.match(result!.reason!, /disk full/);
});

test("over max_per_run a call is a tool error that says so", async () => {
  const kit = subagentKit(
    { parent: [{ calls: [taskCall("a"), taskCall("b"), taskCall("c")] }, "ok"], child: () => "done" },
    { maxPerRun: 2 },
  );
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  const results = await kit.results();
  assert.deepEqual(
    results.map(({ status }) => status),
    ["completed", "completed", undefined],
  );
  assert.match(results[2]!.error!, /2 tasks/);
});

test("resume takes only a child of this very thread", async () => {
  const kit = subagentKit({
    parent: [{ calls: [taskCall("a")] }, "ok", { calls: [taskCall("b", { resume: "subagent-none" })] }, "no"],
    child: () => "done",
  });
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  const { threadId } = (await kit.results())[0]!;
  await kit.agent.generate({ threadId: "u", prompt: "go" });
  assert.match((await kit.results("u"))[0]!.error!, /subagent-none is no sub-agent of this conversation/);
  const other = subagentKit(
    { parent: [{ calls: [taskCall("b", { resume: threadId })] }, "no"], child: () => "leaked" },
    { store: kit.store },
  );
  await other.agent.generate({ threadId: "v", prompt: "go" });
  assert.match((await other.results("v"))[0]!.error!, /is no sub-agent of this conversation/);
});

test("a finished run leaves no timer or handle behind", async () => {
  const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const kit = subagentKit(
    { parent: [{ calls: [taskCall("a"), taskCall("b")] }, "ok"], child: () => "done" },
    { timeoutSeconds: 5000 },
  );
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  await kit.store.close();
  assert.equal(process.getActiveResourcesInfo().filter((name) => name === "Timeout").length, before);
});

test("[F71] the end of a child is told also when the parent's thread can't be written any more", async () => {
  const inner = openSqlite({ path: ":memory:" });
  let broken = false;
  const store = {
    ...inner,
    append: (threadId: string, batch: Parameters<typeof inner.append>[1]) =>
      threadId === "t" && broken ? Promise.reject(new Error("disk full")) : inner.append(threadId, batch),
  };
  const child = (): string => {
    broken = true;
    return "done";
  };
  const kit = subagentKit({ parent: [{ calls: [taskCall("x")] }, "ok"], child }, { store });
  const { end } = await kit.agent.stream({ threadId: "t", prompt: "go" }).result;
  assert.equal(end.kind, "failed");
  assert.deepEqual(
    kit.of("subagent-end").map(({ status, output }) => [status, output]),
    [["completed", "done"]],
  );
});
