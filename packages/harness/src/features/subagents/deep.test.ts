import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { scriptedModel } from "@palimpsest/testing";
import { taskCall } from "../../../test/subagents/subagent-kit.ts";
import type { CarryOut } from "../../agent/run.ts";
import type { ToolCall } from "../../agent/tools.ts";
import { createDeepAgent } from "../../home/create-deep-agent.ts";
import { delegationsOf } from "./delegations.ts";

test("a whole assistant's child has its files and guards, but no task and no questions; its answer is kept whole", async () => {
  const base = mkdtempSync(join(tmpdir(), "palimpsest-deep-"));
  const guarded: string[] = [];
  const answer = `42 ${"and more ".repeat(3000)}`;
  const write = { name: "write_file", input: { path: "note.txt", content: "from the child" } };
  const parent = [{ calls: [taskCall("find the number")] }, "It is 42."];
  const child = [{ calls: [write] }, answer];
  const model = scriptedModel(({ options }) => {
    const script = options.tools?.some(({ name }) => name === "task") ? parent : child;
    return script.shift()!;
  });
  const guard = {
    name: "guard",
    wrapTool: (call: ToolCall, next: CarryOut) => {
      guarded.push(call.name);
      return next(call);
    },
  };
  const agent = createDeepAgent({ model, files: { base }, middleware: [guard], subagents: { resultTokens: 300 } });
  await agent.generate({ threadId: "t", prompt: "go" });
  assert.deepEqual(guarded, ["task", "write_file"]);
  const own = model.calls[1]!.options.tools!.map(({ name }) => name);
  assert.ok(own.includes("read_file") && own.includes("bash") && own.includes("recall"));
  assert.ok(!own.some((name) => name === "task" || name === "ask_clarification"));
  assert.equal(readFileSync(join(base, "threads/t/workspace/note.txt"), "utf8"), "from the child");
  const [delegation] = delegationsOf(await agent.thread("t").state());
  const { threadId } = delegation!;
  assert.ok(!existsSync(join(base, "threads", threadId, "workspace/note.txt")));
  assert.equal(delegation!.answer, `/mnt/user-data/tool-outputs/${threadId}.md`);
  assert.equal(readFileSync(join(base, `threads/t/tool-outputs/${threadId}.md`), "utf8"), answer);
  const view = JSON.stringify(await agent.thread("t").view());
  assert.match(view, new RegExp(`the whole answer is in /mnt/user-data/tool-outputs/${threadId}\\.md`));
  await agent.close();
  rmSync(base, { recursive: true });
});
