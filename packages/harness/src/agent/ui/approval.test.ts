import assert from "node:assert/strict";
import { test } from "node:test";
import { type ToolSet, tool } from "ai";
import { z } from "zod";
import { agentKit } from "../../../test/agent/agent-kit.ts";
import { Chat } from "../../../test/agent/chat.ts";

const sent: number[] = [];
const transfer = tool({
  inputSchema: z.object({ amount: z.number() }),
  needsApproval: true,
  execute: ({ amount }) => {
    sent.push(amount);
    return `sent ${amount}`;
  },
});

const call = (id: string, amount: number) => ({ id, name: "transfer", input: { amount } });

test("useChat shows the request, sends the answers by itself, and goes on in the same message", async (t) => {
  const kit = agentKit([{ text: "I pay.", calls: [call("c1", 1), call("c2", 2)] }, "One of two."], {
    tools: { transfer },
  });
  t.after(() => kit.store.close());
  const chat = new Chat(kit.agent);
  await chat.sendMessage({ text: "pay" });
  assert.deepEqual(
    chat.calls().map(({ state }) => state),
    ["approval-requested", "approval-requested"],
  );
  const ids = chat.calls().map(({ approval }) => approval!.id);
  await chat.addToolApprovalResponse({ id: ids[0]!, approved: true });
  await chat.addToolApprovalResponse({ id: ids[1]!, approved: false, reason: "too much" });
  await chat.settled();
  assert.equal(chat.error, undefined);
  assert.deepEqual(sent, [1]);
  assert.deepEqual(
    chat.messages.map(({ role }) => role),
    ["user", "assistant"],
  );
  assert.deepEqual(
    chat.calls().map(({ state }) => state),
    ["output-available", "output-denied"],
  );
  assert.deepEqual(chat.texts(), ["I pay.", "One of two."]);
  assert.deepEqual(await kit.origins(), ["user", "model", "tool", "model"]);
});

test("useChat's next message instead of an answer refuses the call, and the stream tells nothing it can't", async (t) => {
  const kit = agentKit([{ calls: [call("c1", 1)] }, "As you like."], { tools: { transfer } });
  t.after(() => kit.store.close());
  const chat = new Chat(kit.agent);
  await chat.sendMessage({ text: "pay" });
  sent.length = 0;
  await chat.sendMessage({ text: "no, wait" });
  await chat.settled();
  assert.equal(chat.error, undefined);
  assert.deepEqual([sent, chat.texts()], [[], ["As you like."]]);
});

test("a tool that the browser runs: its output goes on with the run, and is logged once beside the others", async (t) => {
  const tools = {
    choose: tool({ inputSchema: z.object({}) }) as ToolSet[string],
    echo: tool({ inputSchema: z.object({}), execute: () => "echoed" }),
  };
  const calls = [
    { id: "c1", name: "echo", input: {} },
    { id: "c2", name: "choose", input: {} },
  ];
  const kit = agentKit([{ calls }, "Blue it is."], { tools });
  t.after(() => kit.store.close());
  const chat = new Chat(kit.agent);
  await chat.sendMessage({ text: "paint it" });
  assert.deepEqual(
    chat.calls().map(({ state }) => state),
    ["output-available", "input-available"],
  );
  await chat.addToolOutput({ tool: "choose", toolCallId: "c2", output: "blue" });
  await chat.settled();
  assert.deepEqual(chat.texts(), ["Blue it is."]);
  const results = (await kit.said())
    .filter(({ role }) => role === "tool")
    .flatMap(({ content }) => content as object[]);
  assert.deepEqual(
    results.map((part) => "toolCallId" in part && part.toolCallId),
    ["c1", "c2"],
  );
});
