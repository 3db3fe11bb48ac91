import assert from "node:assert/strict";
import { test } from "node:test";
import { tool } from "ai";
import { z } from "zod";
import { agentKit } from "../../test/agent/agent-kit.ts";
import { subagentKit, taskCall } from "../../test/subagents/subagent-kit.ts";

const look = tool({ inputSchema: z.object({}), execute: () => "seen ".repeat(50) });
const forever = () => ({ calls: [{ name: "look", input: {} }] });
const prices = { input: 1, output: 10, cacheRead: 0.1, cacheWrite: 1 };

test("a run ends before the call that would go beyond its tokens, with all it has done in the log", async (t) => {
  const kit = agentKit(forever, { tools: { look } });
  t.after(() => kit.store.close());
  const { end, usage, steps } = await kit.agent.generate({ threadId: "t", prompt: "go", budget: { tokens: 3_000 } });
  assert.ok(end.kind === "budget" && end.tokens <= 3_000 && end.tokens === usage.input + usage.output);
  assert.equal(kit.model.calls.length, steps);
  assert.equal((await kit.said()).at(-1)?.role, "tool");
  const next = await kit.agent.generate({ threadId: "t", budget: { tokens: 3_000 } });
  assert.ok(next.end.kind === "budget" && next.steps > 0, "each run has its own budget");
});

test("a budget in money needs prices, and holds by them", async (t) => {
  const kit = agentKit(forever, { tools: { look }, budget: { cost: 0.003, prices } });
  t.after(() => kit.store.close());
  const { end, steps } = await kit.agent.generate({ threadId: "t", prompt: "go" });
  assert.ok(end.kind === "budget" && end.cost !== null && end.cost > 0 && end.cost <= 0.003, JSON.stringify(end));
  assert.ok(steps > 0);
  const wrong = [{ cost: 1 }, { tokens: 0 }, { cost: -1, prices }];
  for (const budget of wrong) {
    await assert.rejects(kit.agent.generate({ threadId: "t", prompt: "go", budget }), { code: "bad-budget" });
  }
});

test("what children spend counts", async () => {
  const kit = subagentKit({
    parent: [{ calls: [taskCall("look around")] }, "done"],
    child: () => "seen ".repeat(4_000),
  });
  const { end } = await kit.agent.generate({ threadId: "t", prompt: "go", budget: { tokens: 5_000 } });
  assert.ok(end.kind === "budget" && end.tokens > 5_000);
});
