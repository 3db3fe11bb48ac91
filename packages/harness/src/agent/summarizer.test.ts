import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedModel } from "@palimpsest/testing";
import { deepAgentKit, type Kit, textOf } from "../../test/agent/agent-kit.ts";

const WORDS = "the parser reads tokens one by one and keeps a stack of what is open ".repeat(12);
const PATCH = JSON.stringify({
  add: {
    goals: [{ text: "Understand the quicksilver parser", seqs: [3] }],
    now: [{ text: "Half is read.", seqs: [4] }],
  },
});

test("summaries are written by the agent's own model, in calls of their own that nobody is shown", async () => {
  const kit = deepAgentKit(({ kind }) => (kind === "generate" ? PATCH : WORDS), {
    window: 8_000,
    summarizer: "agent",
  });
  await talk(kit, 25);
  const summarizing = kit.model.calls.filter(({ kind }) => kind === "generate");
  assert.ok(summarizing.length > 0);
  for (const call of kit.model.calls) assert.ok(call.inputTokens <= 8_000, `${call.kind} ${call.inputTokens}`);
  assert.ok(!kit.of("text-delta").some(({ text }) => text.includes("quicksilver")));
  const rungs = kit.of("compaction-end").flatMap(({ outcome }) => (outcome.kind === "compacted" ? [outcome.rung] : []));
  assert.ok(rungs.includes("summarize"), rungs.join());
  assert.match(textOf((await kit.agent.thread("t").view())[0] as never), /quicksilver parser/);
});

test("[F10] with a warm cache the own model is asked on the conversation's own prefix", async () => {
  const kit = deepAgentKit(({ kind }) => (kind === "generate" ? PATCH : WORDS), {
    window: 32_000,
    summarizer: "agent",
  });
  await talk(kit, 60);
  const index = kit.model.calls.findIndex(({ kind }) => kind === "generate");
  const asked = kit.model.calls[index]!.prompt;
  const before = kit.model.calls[index - 1]!.prompt;
  assert.deepEqual(asked.slice(0, 5), before.slice(0, 5));
});

test("another model may write them, and the conversation's model is not asked", async () => {
  const light = scriptedModel(() => PATCH, { modelId: "light" });
  const kit = deepAgentKit(() => WORDS, { window: 8_000, summarizer: light });
  await talk(kit, 25);
  assert.ok(light.calls.length > 0);
  assert.ok(kit.model.calls.every(({ kind }) => kind === "stream"));
});

test("a summarizer that is down costs nothing but its calls: the extract stands in, nothing is lost", async () => {
  const down = scriptedModel(() => ({ error: new Error("down") }));
  const kit = deepAgentKit(() => WORDS, { window: 8_000, summarizer: down });
  await talk(kit, 25);
  assert.ok(kit.of("compaction-end").some(({ outcome }) => outcome.kind === "compacted" && outcome.rung === "extract"));
  assert.equal((await kit.said()).length, 50);
});

async function talk(kit: Kit, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    const { text } = await kit.agent.generate({ threadId: "t", prompt: `Question ${turn}: ${WORDS}` });
    assert.equal(text, WORDS);
    assert.equal(textOf((await kit.said()).at(-1)!), WORDS);
  }
  await kit.agent.close();
}
