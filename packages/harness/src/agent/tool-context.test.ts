import assert from "node:assert/strict";
import { test } from "node:test";
import { tool } from "ai";
import { z } from "zod";
import { agentKit, textOf } from "../../test/agent/agent-kit.ts";
import type { Middleware } from "./run.ts";
import { getRun, type ToolRun } from "./tools.ts";

const contextSchema = z.object({ apiKey: z.string(), retries: z.number().default(3) });
const calls = [{ id: "c1", name: "fetch", input: {} }];

test("a tool gets the context its schema asks for, checked, and the run it serves", async (t) => {
  const seen: { readonly context: unknown; readonly run: ToolRun }[] = [];
  const fetch = tool({
    inputSchema: z.object({}),
    contextSchema,
    execute: (_, options) => {
      seen.push({ context: options.context, run: getRun(options) });
      return options.context.apiKey;
    },
  });
  const kit = agentKit([{ calls }, "done"], { tools: { fetch } });
  t.after(() => kit.store.close());
  const { runId } = await kit.agent.generate({
    threadId: "t",
    userId: "ann",
    prompt: "go",
    runtimeContext: { tenant: 7 },
    toolsContext: { fetch: { apiKey: "k-1" } },
  });
  assert.equal(seen.length, 1);
  const { context, run } = seen[0]!;
  assert.deepEqual(context, { apiKey: "k-1", retries: 3 });
  const { signal, ...facts } = run;
  const named = { threadId: "t", userId: "ann", agentName: "default", runId, runtimeContext: { tenant: 7 } };
  assert.deepEqual(facts, named);
  assert.equal(signal.aborted, false);
});

for (const [what, toolsContext] of [
  ["missing", undefined],
  ["of the wrong shape", { fetch: { apiKey: 7 } }],
  ["another tool's", { other: { apiKey: "k-1" } }],
] as const) {
  test(`a tool whose context is ${what} is not run, and its result says which`, async (t) => {
    let ran = 0;
    const fetch = tool({ inputSchema: z.object({}), contextSchema, execute: () => ++ran });
    const kit = agentKit([{ calls }, "done"], { tools: { fetch } });
    t.after(() => kit.store.close());
    await kit.agent.generate({ threadId: "t", prompt: "go", toolsContext });
    assert.equal(ran, 0);
    assert.match(textOf((await kit.said())[2]!), /its context is missing or wrong \(toolsContext\.fetch\)/);
  });
}

test("middleware sees the run's context from its first hook on, and nothing of it is logged or sent", async (t) => {
  const seen: unknown[] = [];
  const watch: Middleware = {
    name: "watch",
    tools: (run) => {
      seen.push(run.runtimeContext);
      return {};
    },
    beforeAgent: (run) => void seen.push(run.runtimeContext),
  };
  const kit = agentKit(["done"], { middleware: [watch] });
  t.after(() => kit.store.close());
  await kit.agent.generate({ threadId: "t", prompt: "go", runtimeContext: "only-for-tools" });
  assert.deepEqual(seen, ["only-for-tools", "only-for-tools"]);
  assert.doesNotMatch(JSON.stringify([kit.model.calls[0]!.prompt, await kit.said()]), /only-for-tools/);
});
