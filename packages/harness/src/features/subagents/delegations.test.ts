import assert from "node:assert/strict";
import { test } from "node:test";
import { subagentKit, taskCall } from "../../../test/subagents/subagent-kit.ts";
import { stateLines } from "../../compaction/state-chain.ts";
import { type Delegation, withDelegation } from "./delegations.ts";

const one = (index: number, status: Delegation["status"]): Delegation => ({
  id: `call-${index}`,
  agent: "bash",
  description: `task ${index}`,
  status,
  threadId: `subagent-${index}`,
  answer: null,
});

test("the list is bounded: the oldest that have ended leave, what runs or was interrupted stays", () => {
  let list: readonly Delegation[] = [one(0, "running"), one(1, "interrupted")];
  for (let index = 2; index < 300; index++) list = withDelegation(list, one(index, "completed"));
  assert.equal(list.length, 100);
  assert.deepEqual(
    list.slice(0, 3).map(({ id }) => id),
    ["call-0", "call-1", "call-202"],
  );
  assert.equal(withDelegation(list, one(1, "completed")).length, 100);
});

test("the lines for a summary say where an answer is and what can be continued, what isn't finished first", () => {
  const answer = "/mnt/user-data/tool-outputs/subagent-1.md";
  const { delegations } = stateLines({
    delegations: [one(0, "completed"), { ...one(1, "completed"), answer }, one(2, "interrupted"), one(3, "completed")],
  });
  assert.deepEqual(delegations, [
    "interrupted: task 2 (thread subagent-2; not finished: continue it with task and resume)",
    "completed: task 3 (thread subagent-3)",
    `completed: task 1 (answer in ${answer})`,
    "completed: task 0 (thread subagent-0)",
  ]);
});

test("after a compaction the parent's view still says what was delegated, and to which thread", async () => {
  const kit = subagentKit({
    parent: [{ calls: [taskCall("count the cats")] }, "done", "more", "more"],
    child: () => "7 cats",
  });
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  for (const prompt of ["then", "and then"])
    await kit.agent.generate({ threadId: "t", prompt: `${prompt} ${"x ".repeat(2000)}` });
  const outcome = await kit.agent.compact("t", { keep: { type: "messages", value: 1 } });
  assert.equal(outcome.kind, "compacted");
  const [{ threadId } = { threadId: "" }] = await kit.delegations();
  const [summary] = await kit.agent.thread("t").view();
  assert.match(JSON.stringify(summary), new RegExp(`completed: do count the cats \\(thread ${threadId}\\)`));
});

test("start and end stand in the parent's log, with usage and model, and steps don't", async () => {
  const kit = subagentKit({ parent: [{ calls: [taskCall("x")] }, "ok"], child: () => "done" });
  await kit.agent.generate({ threadId: "t", prompt: "go" });
  const events = [];
  for await (const { record } of kit.store.records("t", { kinds: ["event"] })) {
    if (record.kind === "event" && record.event.type.startsWith("subagent-")) events.push(record.event);
  }
  assert.deepEqual(
    events.map(({ type }) => type),
    ["subagent-start", "subagent-end"],
  );
  const { usage, model } = kit.of("subagent-end")[0]!;
  assert.deepEqual([events[1]!["usage"], events[1]!["model"]], [usage, model]);
  assert.equal(kit.of("subagent-step").length, 1);
});
