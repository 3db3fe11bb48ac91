import assert from "node:assert/strict";
import { test } from "node:test";
import { tool } from "ai";
import { z } from "zod";
import { subagentKit, taskCall } from "../testing/subagent-kit.ts";

const look = tool({ inputSchema: z.object({}), execute: () => "seen" });

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
