import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { aiSdkShape } from "@palimpsest/core/internal/message";
import { createMeter } from "@palimpsest/core/internal/tokens";
import { tool } from "ai";
import { z } from "zod";
import { subagentKit, taskCall } from "../../../test/subagents/subagent-kit.ts";
import type { Middleware } from "../../agent/run.ts";
import { summarization } from "../../compaction/middleware.ts";
import { totalUsage } from "../../home/cost.ts";
import { exactCounterFor } from "../../models/tokenizers.ts";
import { workspaceTools } from "../workspace/middleware.ts";
import { threadWorkspace } from "../workspace/workspace.ts";
import { subagentLogLines } from "./result.ts";
import { answerFiles, workspaceFor } from "./spec.ts";

test("analysing data.csv takes a child fifty messages and the parent two: same files, own history, shared artifact", async () => {
  const base = mkdtempSync(join(tmpdir(), "palimpsest-subagents-"));
  const folder = threadWorkspace(base, { user: "default", id: "t" }).roots;
  mkdirSync(folder.uploads.directory, { recursive: true });
  writeFileSync(join(folder.uploads.directory, "data.csv"), "month,sales\n1,100\n2,105\n");
  const files: Middleware = {
    name: "files",
    tools: (run) =>
      workspaceTools(workspaceFor(base, run.thread.header), {
        remember: async (patch) => void (await run.commit([{ kind: "state", patch }])),
      }),
  };
  const report = "/mnt/user-data/outputs/analysis.txt";
  const steps = [
    { name: "write_file", input: { path: "/etc/passwd", content: "x" } },
    { name: "write_file", input: { path: report, content: "5% growth" } },
    { name: "present_files", input: { paths: [report] } },
  ];
  const read = { name: "read_file", input: { path: "/mnt/user-data/uploads/data.csv" } };
  const kit = subagentKit(
    {
      parent: [{ calls: [taskCall("analyze data.csv", { max_turns: 30 })] }, "The analysis shows 5% growth"],
      child: (_, turn) => {
        const call = steps[turn - 1] ?? read;
        return turn <= 24 ? { calls: [call] } : "5% growth trend observed";
      },
    },
    {
      childMiddleware: () => [summarization(), files],
      keepAnswer: answerFiles((parent) => ({
        directory: threadWorkspace(base, parent).roots["tool-outputs"].directory,
        path: "/mnt/user-data/tool-outputs",
      })),
    },
  );
  await kit.agent.generate({ threadId: "t", prompt: "Analyze sales trends in data.csv" });
  const [result] = await kit.results();
  const { threadId } = result!;
  assert.equal((await kit.said("t")).length, 4, "the question, the call, its result, the answer");
  assert.equal((await kit.said(threadId)).length, 50);
  const inside = JSON.stringify(await kit.said(threadId));
  assert.match(inside, /month,sales/);
  assert.match(inside, /outside of the workspace/);
  assert.deepEqual(result!.artifacts, [report]);
  assert.deepEqual((await kit.agent.thread("t").state())["artifacts"], [report]);
  assert.equal(readFileSync(join(folder.outputs.directory, "analysis.txt"), "utf8"), "5% growth");
  const [delegation] = await kit.delegations();
  assert.equal(delegation!.answer, `/mnt/user-data/tool-outputs/${threadId}.md`);
  assert.equal(
    readFileSync(join(folder["tool-outputs"].directory, `${threadId}.md`), "utf8"),
    "5% growth trend observed",
  );

  const lines = [...kit.of("subagent-start"), ...kit.of("subagent-step"), ...kit.of("subagent-end")].flatMap(
    subagentLogLines,
  );
  assert.deepEqual(lines.slice(0, 3), [
    '[SubagentExecutor] Starting task: "do analyze data.csv"',
    `[SubagentExecutor] Isolated thread: ${threadId}`,
    "[SubagentExecutor] Turn 1/30 completed",
  ]);
  assert.deepEqual(lines.slice(-3), [
    "[SubagentExecutor] Task completed after 25 turns",
    '[SubagentExecutor] Final output: "5% growth trend observed"',
    `[SubagentExecutor] Artifacts: ["${report}"]`,
  ]);
  rmSync(base, { recursive: true });
});

test("[F72] [F73] fifty children, three at a time: in order, within the bound, usage counted once", async () => {
  let now = 0;
  let peak = 0;
  const names = Array.from({ length: 50 }, (_, index) => `task ${index}`);
  const kit = subagentKit(
    {
      parent: [{ calls: names.map((name) => taskCall(name)) }, "all done"],
      child: async (prompt) => {
        peak = Math.max(peak, ++now);
        await new Promise(setImmediate);
        now--;
        return `${prompt}: ${"word ".repeat(900)}`;
      },
    },
    { resultTokens: 300 },
  );
  const { usage: own } = await kit.agent.generate({ threadId: "t", prompt: "go" });
  assert.equal(peak, 3);
  const started = kit.of("subagent-start").map(({ description }) => description);
  assert.deepEqual(
    started,
    names.map((name) => taskCall(name).input.description),
  );
  const answered = (await kit.results()).map(({ output }) => output.split(":")[0]);
  assert.deepEqual(answered, names);
  const counter = await exactCounterFor({ provider: "scripted", model: "scripted" });
  const meter = createMeter(aiSdkShape, { ...counter, counter: counter.count });
  const grown = (await kit.said("t")).find(({ role }) => role === "tool")!;
  assert.ok(meter.messages([grown]) <= 50 * 300);
  const ends = kit.of("subagent-end");
  assert.ok(ends.every(({ status, model }) => status === "completed" && model === "scripted"));
  const { total, byThread, byModel } = await totalUsage(kit.store, "t");
  const paid = kit.model.calls.reduce((sum, { inputTokens }) => sum + inputTokens, 0);
  assert.equal(total.input, paid);
  assert.equal(byThread.length, 51);
  assert.deepEqual(byThread[0], { threadId: "t", usage: own });
  assert.deepEqual(byModel, { scripted: total });
  assert.equal(own.output + ends.reduce((sum, { usage }) => sum + usage.output, 0), total.output);
});

test("[F22] [F28] a chain of three hundred messages in a window of 8k: the child compacts on its own and keeps its system prompt", async () => {
  const page = tool({
    inputSchema: z.object({ n: z.number() }),
    execute: ({ n }) => `page ${n} ${"lorem ipsum ".repeat(60)}`,
  });
  const kit = subagentKit(
    {
      parent: [{ calls: [taskCall("read all pages", { subagent_type: "reader" })] }, "ok"],
      child: (_, turn) => (turn <= 150 ? { calls: [{ name: "page", input: { n: turn } }] } : "read 150 pages"),
    },
    {
      tools: { page },
      agents: [{ name: "reader", description: "reads", systemPrompt: "You are the READER.", maxTurns: 200 }],
      childMiddleware: () => [summarization({ summarizer: null })],
      window: 8000,
      tokenBudget: 2_000_000,
    },
  );
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  const [result] = await kit.results();
  assert.deepEqual([result!.reason, result!.output], [undefined, "read 150 pages"]);
  assert.equal((await kit.said(result!.threadId)).length, 302);
  const compactions = [];
  for await (const { record } of kit.store.records(result!.threadId, { kinds: ["compaction"] }))
    compactions.push(record);
  assert.ok(compactions.length > 0);
  const child = kit.model.calls.filter(({ options }) => !options.tools?.some(({ name }) => name === "task"));
  assert.ok(
    child.every(({ prompt }) => prompt[0]?.role === "system" && prompt[0].content.startsWith("You are the READER.")),
  );
  assert.ok(child.every(({ inputTokens }) => inputTokens <= 8000));
  const head = await kit.store.head("t");
  assert.equal(head?.compaction, null);
});
