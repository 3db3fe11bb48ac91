import assert from "node:assert/strict";
import { test } from "node:test";
import { describeTool } from "@palimpsest/core/internal/message";
import { tool } from "ai";
import { z } from "zod";
import { subagentKit, taskCall } from "../../../test/subagents/subagent-kit.ts";
import type { Middleware } from "../../agent/run.ts";
import { getRun } from "../../agent/tools.ts";
import { threadRules } from "../../thread/chosen.ts";
import { threadDeps } from "../../thread/writer.ts";

const look = tool({ inputSchema: z.object({}), execute: () => "seen" });

test("a child has nobody to ask: a call that needs approval is denied, and the child told", async () => {
  let ran = 0;
  const pay = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => ++ran });
  const kit = subagentKit(
    {
      parent: [{ calls: [taskCall("pay the bill")] }, "it can't"],
      child: (_, turn, { prompt }) =>
        turn === 1 ? { calls: [{ name: "pay", input: {} }] } : JSON.stringify(prompt.at(-1)),
    },
    { tools: { pay } },
  );
  await kit.agent.generate({ threadId: "t", prompt: "pay" });
  assert.equal(ran, 0);
  assert.match((await kit.results())[0]!.output, /execution-denied.*a sub-agent has nobody to ask/);
});

test("a child's tools have the context of the run that asked for it", async () => {
  const whose = tool({
    inputSchema: z.object({}),
    contextSchema: z.object({ key: z.string() }),
    execute: (_, options) => `${options.context.key} of ${String(getRun(options).runtimeContext)}`,
  });
  const kit = subagentKit(
    {
      parent: [{ calls: [taskCall("look")] }, "done"],
      child: (_, turn, { prompt }) =>
        turn === 1 ? { calls: [{ name: "whose", input: {} }] } : JSON.stringify(prompt.at(-1)),
    },
    { tools: { whose } },
  );
  const context = { runtimeContext: "request 7", toolsContext: { whose: { key: "k-1" } } };
  await kit.agent.generate({ threadId: "t", prompt: "look", ...context });
  assert.match((await kit.results())[0]!.output, /k-1 of request 7/);
});

test("a sub-agent has middleware of its own, with tools for each user, and its spec holds for them", async () => {
  const own: Middleware = {
    name: "crm",
    tools: ({ userId }) => ({
      orders: tool({ inputSchema: z.object({}), execute: () => `the orders of ${userId}` }),
      erase: look,
    }),
  };
  const kit = subagentKit(
    {
      parent: [{ calls: [taskCall("look", { subagent_type: "clerk" })] }, "done"],
      child: (_, turn, { prompt }) =>
        turn === 1 ? { calls: [{ name: "orders", input: {} }] } : JSON.stringify(prompt.at(-1)),
    },
    { agents: [{ name: "clerk", description: "Reads orders.", middleware: [own], disallowedTools: ["erase"] }] },
  );
  await kit.agent.generate({ threadId: "t", userId: "ann", prompt: "look" });
  const offered = kit.model.calls.map(({ options }) => options.tools?.map(({ name }) => name).join());
  assert.deepEqual(offered, ["task", "orders", "orders", "task"]);
  assert.match(kit.of("subagent-end")[0]!.output, /the orders of ann/);
});

test("a sub-agent with a schema answers with its data, and one that can't has failed and says why", async () => {
  const counted = async (said: string) => {
    const parent = [{ calls: [taskCall("count", { subagent_type: "clerk" })] }, "done"];
    const clerk = { name: "clerk", description: "Counts.", output: z.object({ total: z.number() }) };
    const kit = subagentKit({ parent, child: () => said }, { agents: [clerk] });
    await kit.agent.generate({ threadId: "t", prompt: "count" });
    return (await kit.results())[0]!;
  };
  const { status, output } = await counted('```json\n{ "total": 3 }\n```');
  assert.deepEqual([status, output], ["completed", '{"total":3}']);
  const failed = await counted("three");
  assert.deepEqual([failed.status, failed.output], ["failed", "three"]);
  assert.match(failed.reason ?? "", /does not fit the schema/);
});

test("a task runs on a thread of its own and the parent gets only its answer [F74]", async () => {
  const kit = subagentKit(
    {
      parent: [{ calls: [taskCall("count the files")] }, "there are 3"],
      child: (_, turn) => (turn === 1 ? { calls: [{ name: "look", input: {} }] } : "3 files"),
    },
    { tools: { look } },
  );
  const { text } = await kit.agent.generate({ threadId: "t", prompt: "a secret of the parent" });
  assert.equal(text, "there are 3");
  const [result] = await kit.results();
  const { status, output, artifacts, usage, threadId } = result!;
  assert.equal(status, "completed");
  assert.equal(output, "3 files");
  assert.deepEqual(artifacts, []);
  assert.match(threadId, /^subagent-[0-9a-f-]{36}$/);
  assert.equal((await kit.said("t")).length, 4);
  const header = await kit.store.header(threadId);
  assert.equal(header?.kind, "subagent");
  assert.equal(header?.parent, "t");
  assert.equal(header?.memory, "off");
  assert.deepEqual((await kit.said(threadId))[0], { role: "user", content: "count the files" });
  const [first, second] = kit.model.calls.filter(({ options }) => !options.tools?.some(({ name }) => name === "task"));
  assert.deepEqual(
    first!.prompt.map(({ role }) => role),
    ["system", "user"],
  );
  assert.doesNotMatch(JSON.stringify(first!.prompt), /secret/);
  assert.deepEqual(
    second!.options.tools?.map(({ name }) => name),
    ["look"],
  );
  assert.equal(usage.input, first!.inputTokens + second!.inputTokens);
  assert.deepEqual(await kit.delegations(), [
    {
      id: "call_0_0",
      agent: "general-purpose",
      description: "do count the files",
      status: "completed",
      threadId,
      answer: null,
    },
  ]);
});

test("a child has only the tools its spec allows, whoever brings them, and its own system prompt", async () => {
  const delegate = { ...look, metadata: describeTool({ act: "none", children: "none" }) };
  const brought = { name: "brings", tools: { peek: look, poke: look, task: delegate } };
  const agents = [
    { name: "narrow", description: "only looks", systemPrompt: "You look.", tools: ["look", "peek", "task"] },
    { name: "careful", description: "does not poke", disallowedTools: ["poke", "look"] },
  ];
  const kit = subagentKit(
    {
      parent: [{ calls: agents.map(({ name }) => taskCall(`be ${name}`, { subagent_type: name })) }, "ok"],
      child: () => "done",
    },
    { tools: { look, grope: look }, agents, childMiddleware: () => [brought] },
  );
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  const asked = (prompt: string) =>
    kit.model.calls.find((call) => JSON.stringify(call.prompt.at(-1)).includes(prompt))!;
  const toolsOf = (prompt: string) => asked(prompt).options.tools?.map(({ name }) => name);
  assert.deepEqual(toolsOf("be narrow"), ["look", "peek"]);
  assert.deepEqual(toolsOf("be careful"), ["grope", "peek"]);
  assert.match(JSON.stringify(asked("be narrow").prompt[0]), /"content":"You look\./);
  const offered = JSON.stringify(kit.model.calls[0]!.options.tools);
  assert.match(offered, /general-purpose: .*bash: .*narrow: only looks.*careful: does not poke/);
});

test("one child can't be continued twice at the same time", async () => {
  const kit = subagentKit({ parent: [{ calls: [taskCall("a")] }, "ok"], child: () => "first" });
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  const { threadId: resume } = (await kit.results())[0]!;
  const twice = { calls: [taskCall("b", { resume }), taskCall("c", { resume })] };
  const again = subagentKit({ parent: [twice, "ok"], child: () => "second" }, { store: kit.store });
  await again.agent.generate({ threadId: "t", prompt: "again" });
  const [, one, two] = await again.results();
  assert.deepEqual([one!.status, one!.output], ["completed", "second"]);
  assert.match(two!.error!, /is running already/);
});

test("in a UI stream a child is one part that changes as it goes on", async () => {
  const kit = subagentKit({ parent: [{ calls: [taskCall("x")] }, "ok"], child: () => "done" });
  const chunks = [];
  for await (const chunk of kit.agent.stream({ threadId: "t", prompt: "go" }).toUIMessageStream()) chunks.push(chunk);
  const parts = chunks.flatMap((chunk) =>
    chunk.type === "data-subagent" ? [chunk as { id?: string; data: object }] : [],
  );
  assert.deepEqual(
    parts.map(({ data }) => ("type" in data ? data.type : "")),
    ["subagent-start", "subagent-step", "subagent-end"],
  );
  assert.equal(new Set(parts.map(({ id }) => id)).size, 1);
});

test("what a task's prompt says binds nobody: only a person's words become standing rules", async () => {
  const told = "Never push to main.";
  const kit = subagentKit({ parent: [{ calls: [taskCall(told)] }, "done"], child: () => "ok" });
  await kit.agent.generate({ threadId: "t", prompt: `${told} Then look.` });
  const deps = threadDeps(kit.store);
  const { threadId } = (await kit.delegations())[0]!;
  assert.deepEqual(
    (await threadRules(deps, "t"))?.list.map(({ text }) => text),
    [told],
  );
  assert.deepEqual((await threadRules(deps, threadId))?.list, []);
});
