import assert from "node:assert/strict";
import { test } from "node:test";
import { deepAgentKit } from "../../test/agent/agent-kit.ts";

test("a question to the person ends the run; the next message is its answer", async () => {
  const ask = { calls: [{ name: "ask_clarification", input: { question: "Which one?", options: ["a", "b"] } }] };
  const kit = deepAgentKit([ask, "b it is"]);
  const { end } = await kit.agent.generate({ threadId: "t", prompt: "Delete the file." });
  assert.deepEqual(end, { kind: "asked", question: "Which one?", options: ["a", "b"] });
  assert.equal((await kit.agent.generate({ threadId: "t", prompt: "b" })).text, "b it is");
});
