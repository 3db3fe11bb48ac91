import assert from "node:assert/strict";
import { test } from "node:test";
import { APICallError } from "@ai-sdk/provider";
import { scriptedModel } from "@palimpsest/testing";
import { tool } from "ai";
import { z } from "zod";
import { agentKit, deepAgentKit, textOf } from "../../test/agent/agent-kit.ts";
import type { Middleware } from "./run.ts";

const look = tool({ inputSchema: z.object({}), execute: () => "seen" });
const calls = [{ name: "look", input: {} }];

function refusal(statusCode: number): APICallError {
  return new APICallError({ message: "no", url: "http://127.0.0.1", requestBodyValues: {}, statusCode });
}

test("settings of the agent, of the run and of one step reach the model, the nearer before the farther", async (t) => {
  const cooler: Middleware = {
    name: "cooler",
    wrapModel: (request, next, run) => next(run.step === 2 ? { ...request, settings: { temperature: 0 } } : request),
  };
  const given = { temperature: 1, topP: 0.9, seed: 1, stopSequences: ["END"], headers: { "x-agent": "a" } };
  const kit = agentKit([{ calls }, "done"], { tools: { look }, middleware: [cooler], ...given });
  t.after(() => kit.store.close());
  const own = { seed: 7, maxOutputTokens: 500, headers: { "x-run": "secret-r" }, toolChoice: "required" } as const;
  await kit.agent.generate({ threadId: "t", prompt: "go", ...own });
  const [first, second] = kit.model.calls.map(({ options }) => options);
  const common = { topP: 0.9, seed: 7, maxOutputTokens: 500, stopSequences: ["END"] };
  for (const [options, temperature] of [
    [first!, 1],
    [second!, 0],
  ] as const) {
    const { topP, seed, maxOutputTokens, stopSequences } = options;
    assert.deepEqual({ topP, seed, maxOutputTokens, stopSequences }, common);
    assert.equal(options.temperature, temperature);
    assert.equal(options.headers?.["x-run"], "secret-r");
  }
  assert.deepEqual([first!.toolChoice?.type, second!.toolChoice?.type], ["required", "auto"]);
  const log: unknown[] = [];
  for await (const { record } of kit.store.records("t", {})) log.push(record);
  assert.doesNotMatch(JSON.stringify(log), /secret-r/);
});

test("a run may bring another model, and the next one has the agent's again, on the same thread", async (t) => {
  const kit = agentKit(["from the first", "again"]);
  t.after(() => kit.store.close());
  const other = scriptedModel(["from the other", "and again"], { modelId: "other" });
  await kit.agent.generate({ threadId: "t", prompt: "one" });
  assert.equal((await kit.agent.generate({ threadId: "t", prompt: "two", model: other })).text, "from the other");
  assert.equal((await kit.agent.generate({ threadId: "t", prompt: "three" })).text, "again");
  assert.equal((await kit.agent.generate({ threadId: "t", prompt: "four", model: other })).text, "and again");
  assert.equal(kit.model.calls[1]!.prompt.filter(({ role }) => role !== "system").length, 5);
  assert.throws(() => kit.agent.stream({ prompt: "x", model: "gpt-5" as never }), { code: "bad-model" });
});

test("one step may be answered by another model", async (t) => {
  const small = scriptedModel(["from the small one"], { modelId: "small" });
  const router: Middleware = {
    name: "router",
    wrapModel: (request, next, run) => next(run.step === 2 ? { ...request, model: small } : request),
  };
  const kit = agentKit([{ calls }], { tools: { look }, middleware: [router] });
  t.after(() => kit.store.close());
  assert.equal((await kit.agent.generate({ threadId: "t", prompt: "go" })).text, "from the small one");
});

for (const [why, error] of [
  ["is rate-limited", refusal(429)],
  ["is overloaded", refusal(529)],
  ["refuses the key", refusal(401)],
  ["can't be reached", new TypeError("fetch failed")],
] as const) {
  test(`when a model ${why} the next of the list answers, at once, and the log is one conversation`, async (t) => {
    const spare = scriptedModel(["from the spare one"], { modelId: "spare" });
    const kit = agentKit([{ error }, "back"], { fallbacks: [{ model: spare }] });
    t.after(() => kit.store.close());
    const { text, end } = await kit.agent.generate({ threadId: "t", prompt: "go" });
    assert.deepEqual([text, end.kind], ["from the spare one", "answered"]);
    assert.deepEqual(
      [kit.of("model-retry"), kit.of("model-fallback").map(({ from, to }) => [from, to])],
      [[], [["scripted", "spare"]]],
    );
    assert.deepEqual(await kit.origins(), ["user", "model"]);
    assert.equal((await kit.agent.generate({ threadId: "t", prompt: "more" })).text, "back");
  });
}

test("the spare model has its own window: the thread is compacted for it, and nothing is lost", async (t) => {
  const words = "the parser reads tokens one by one and keeps a stack of what is open ".repeat(30);
  const spare = scriptedModel(["from the small one"], { modelId: "spare" });
  const script = [...Array.from({ length: 8 }, () => words), { error: refusal(529) }];
  const kit = deepAgentKit(script, { window: 100_000, fallbacks: [{ model: spare, window: 5_000 }] });
  t.after(() => kit.store.close());
  for (let turn = 0; turn < 8; turn++) await kit.agent.generate({ threadId: "t", prompt: `question ${turn}` });
  const { text } = await kit.agent.generate({ threadId: "t", prompt: "last question" });
  assert.equal(text, "from the small one");
  assert.ok(spare.calls[0]!.inputTokens < 5_000, `${spare.calls[0]!.inputTokens}`);
  assert.equal(kit.of("compaction-end").filter(({ outcome }) => outcome.kind === "compacted").length, 1);
  assert.equal((await kit.said()).filter((message) => textOf(message).startsWith("the parser")).length, 8);
});

test("after the first words no other model is asked, and with the list at its end the last error stands", async (t) => {
  const spare = scriptedModel([{ error: refusal(401) }], { modelId: "spare" });
  const cut = { text: "Well, ", ends: { by: "error", error: refusal(529) } } as const;
  const kit = agentKit([cut, { error: refusal(529) }], { fallbacks: [{ model: spare }] });
  t.after(() => kit.store.close());
  const shown = await kit.agent.stream({ threadId: "t", prompt: "go" }).result;
  assert.deepEqual([shown.end.kind, spare.calls.length], ["failed", 0]);
  const { end } = await kit.agent.stream({ threadId: "t", prompt: "again" }).result;
  assert.equal(end.kind === "failed" && end.code, "key-refused");
});
