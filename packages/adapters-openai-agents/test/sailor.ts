/** An agent on the SDK's own runner and scripted model, with one tool, and many turns of it through one session. */
import assert from "node:assert/strict";
import { Agent, type AgentInputItem, MemorySession, Runner, tool } from "@openai/agents-core";
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from "@openai/agents-core/testing";
import { shapeOf } from "@palimpsest/core/internal/message";
import { charsPerToken, createMeter } from "@palimpsest/core/internal/tokens";
import { threadDeps, verify } from "palimpsest/session";
import type { Store } from "palimpsest/stores";
import { z } from "zod";
import { turnsOf } from "../src/history.ts";
import type { PalimpsestSession } from "../src/palimpsest-session.ts";

export const sound = tool({
  name: "sound",
  description: "Sounds the depth at a buoy.",
  parameters: z.object({ buoy: z.number() }),
  execute: ({ buoy }) => `buoy ${buoy}: ${"four fathoms, sand and shell. ".repeat(20)}`,
});

/** Calls the tool once for each question, then answers. */
export function sailor() {
  let calls = 0;
  return modelResponder(({ request }) => {
    const last = (request.input as AgentInputItem[]).at(-1);
    if (last?.type === "function_call_result") return [assistantMessage("Four fathoms.")];
    calls += 1;
    return [functionCall("sound", { buoy: calls }, { callId: `call-${calls}` })];
  });
}

export function newSailor(steps: number): { readonly agent: Agent; readonly model: ScriptedModel } {
  const respond = sailor();
  const model = new ScriptedModel(Array.from({ length: steps }, () => respond));
  return { agent: new Agent({ name: "sailor", instructions: "Be brief.", tools: [sound], model }), model };
}

/** Two requests and a tool's result each; fails at the first thing that is lost, orphaned or too long. */
export async function manyTurns(
  store: Store,
  session: PalimpsestSession,
  { turns, window }: { readonly turns: number; readonly window: number },
): Promise<void> {
  const { agent, model } = newSailor(2 * turns);
  const runner = new Runner({ tracingDisabled: true });
  // The SDK's own session is told the same, and keeps everything.
  const twin = new MemorySession();
  const add = session.addItems.bind(session);
  session.addItems = async (items) => {
    await Promise.all([twin.addItems(items), add(items)]);
  };
  for (let turn = 1; turn <= turns; turn += 1) {
    await runner.run(agent, `Question ${turn}: how deep is it?`, { session });
  }
  assert.equal(model.calls.length, 2 * turns);
  for (const { request } of model.calls) assertSent(request.input as AgentInputItem[], window);
  const said = JSON.parse(JSON.stringify(await twin.getItems()));
  assert.deepEqual(await session.history(), said);
  assert.equal(said.length, 4 * turns);
  assert.equal((await session.search("question 3")).kind, "found");
  await assertWhole(store, session);
}

const meter = createMeter(shapeOf("openai-responses"), { counter: charsPerToken(4) });

function assertSent(items: readonly AgentInputItem[], window: number): void {
  const tokens = meter.messages(turnsOf(items));
  assert.ok(tokens < window, `${tokens} tokens`);
  const calls = new Set(items.flatMap((item) => (item.type === "function_call" ? [item.callId] : [])));
  const answers = items.flatMap((item) => (item.type === "function_call_result" ? [item.callId] : []));
  assert.ok(answers.every((id) => calls.has(id)) && calls.size === answers.length, "a call or a result is orphaned");
}

export async function assertWhole(store: Store, session: PalimpsestSession): Promise<void> {
  for (const thread of await session.threads())
    assert.equal((await verify(threadDeps(store), thread)).kind, "whole", thread);
}
