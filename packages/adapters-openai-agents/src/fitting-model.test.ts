import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, type AgentInputItem, type ModelRequest, Runner, setTracingDisabled } from "@openai/agents-core";
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from "@openai/agents-core/testing";
import { shapeOf } from "@palimpsest/core/internal/message";
import { charsPerToken, createMeter } from "@palimpsest/core/internal/tokens";
import { openSqlite } from "palimpsest/stores";
import { sound } from "../test/sailor.ts";
import { fittingModel } from "./fitting-model.ts";
import { turnsOf } from "./history.ts";
import { PalimpsestSession } from "./palimpsest-session.ts";

setTracingDisabled(true);

const counter = charsPerToken(4);
const meter = createMeter(shapeOf("openai-responses"), { counter });
const sizeOf = ({ input }: Pick<ModelRequest, "input">): number => meter.messages(turnsOf(input as AgentInputItem[]));

/** One run that calls its tool so often, refused as a provider would where its prompt is too long. */
function longRun(steps: number, limit: number) {
  const refused: number[] = [];
  let calls = 0;
  const respond = modelResponder(({ request }) => {
    const tokens = sizeOf(request);
    if (tokens > limit) {
      refused.push(tokens);
      throw new Error(`400 This model's maximum context length is ${limit} tokens. You requested ${tokens}.`);
    }
    calls += 1;
    if (calls > steps) return [assistantMessage("Four fathoms everywhere.")];
    return [functionCall("sound", { buoy: calls }, { callId: `call-${calls}` })];
  });
  return { scripted: new ScriptedModel(Array.from({ length: steps + 10 }, () => respond)), refused };
}

for (const kind of ["waited for", "streamed"] as const) {
  test(`one run of many tool calls, ${kind}: each call fits, and the session has every item whole`, async (t) => {
    const store = openSqlite({ path: ":memory:" });
    t.after(() => store.close());
    const { scripted, refused } = longRun(40, 4_000);
    const model = fittingModel(scripted, { window: 4_000, counter });
    const agent = new Agent({ name: "sailor", tools: [sound], model });
    const session = new PalimpsestSession({ store, sessionId: "s", window: 4_000, counter });
    const runner = new Runner({ tracingDisabled: true });
    if (kind === "streamed")
      await (await runner.run(agent, "How deep?", { session, stream: true, maxTurns: 50 })).completed;
    else await runner.run(agent, "How deep?", { session, maxTurns: 50 });
    assert.deepEqual(refused, []);
    assert.ok(scripted.calls.every(({ request }) => sizeOf(request) <= 4_000));
    const said = await session.history();
    assert.equal(said.length, 82);
    const results = said.filter(({ type }) => type === "function_call_result");
    assert.ok(results.every((item) => JSON.stringify(item).length > 600));
  });

  test(`a refusal for length, ${kind}, is answered with less in the same run`, async () => {
    const { scripted, refused } = longRun(40, 3_000);
    const model = fittingModel(scripted, { window: 100_000, counter });
    const agent = new Agent({ name: "sailor", tools: [sound], model });
    const runner = new Runner({ tracingDisabled: true });
    if (kind === "streamed") await (await runner.run(agent, "How deep?", { stream: true, maxTurns: 50 })).completed;
    else await runner.run(agent, "How deep?", { maxTurns: 50 });
    assert.equal(refused.length, 1);
  });
}
