import assert from "node:assert/strict";
import { test } from "node:test";
import { type AiSdkMessage, aiSdkShape, assertValid, rulesOf } from "@palimpsest/core/internal/message";
import { type ToolSet, tool } from "ai";
import { z } from "zod";
import { agentKit, textOf } from "../../test/agent/agent-kit.ts";

test("a tool without execute ends the run for the client, whose result is the next message", async (t) => {
  const tools = {
    // The SDK's own types disagree about such a tool under `exactOptionalPropertyTypes`.
    choose: tool({ inputSchema: z.object({ from: z.array(z.string()) }) }) as ToolSet[string],
    echo: tool({ inputSchema: z.object({}), execute: () => "echoed" }),
  };
  const input = { from: ["red", "blue"] };
  const calls = [
    { id: "c1", name: "echo", input: {} },
    { id: "c2", name: "choose", input },
  ];
  const kit = agentKit([{ text: "Which one?", calls }, "Blue it is."], { tools });
  t.after(() => kit.store.close());
  const { end } = await kit.agent.generate({ threadId: "t", prompt: "paint it" });
  assert.deepEqual(end, { kind: "client-calls", calls: [{ id: "c2", name: "choose", input }] });
  assert.deepEqual(await kit.origins(), ["user", "model", "tool"]);
  assert.deepEqual(
    [kit.of("tool-start").map(({ callId }) => callId), kit.of("tool-end").map(({ callId }) => callId)],
    [["c1", "c2"], ["c1"]],
  );
  const output = { type: "text" as const, value: "blue" };
  const result = { type: "tool-result" as const, toolCallId: "c2", toolName: "choose", output };
  const next = await kit.agent.generate({ threadId: "t", messages: [{ role: "tool", content: [result] }] });
  assert.equal(next.text, "Blue it is.");
  const sent = kit.model.calls[1]!.prompt as unknown as readonly AiSdkMessage[];
  assertValid(sent, aiSdkShape, rulesOf("ai-sdk"));
  assert.ok(sent.map(textOf).join("\n").includes("blue"));
});
