import assert from "node:assert/strict";
import { test } from "node:test";
import { APICallError } from "@ai-sdk/provider";
import { PATCH_SCHEMA } from "@palimpsest/core/internal/summary";
import { type ScriptedStep, scriptedModel } from "@palimpsest/testing";
import { jsonSchema, tool } from "ai";
import { withSettings } from "../models/wrap.ts";
import { modelSummarize } from "./model-summarize.ts";
import { SummarizeError, type SummaryRequest } from "./summarize.ts";

const REQUEST: SummaryRequest = {
  kind: "patch",
  system: "You keep the record.",
  prompt: "Record this.",
  maxOutputTokens: 900,
  schema: PATCH_SCHEMA,
  prefix: null,
};
const signal = new AbortController().signal;

test("one request without retries, streaming or tools; its usage is told apart", async () => {
  const { model, ask } = summarizer(['{"add": {}}']);
  const answer = await ask(REQUEST);
  assert.deepEqual([answer.text, answer.finish], ['{"add": {}}', "stop"]);
  assert.ok(answer.usage!.input > 0 && answer.usage!.output > 0);
  const [call] = model.calls;
  assert.deepEqual([model.calls.length, call!.kind, call!.options.maxOutputTokens], [1, "generate", 900]);
  assert.deepEqual(
    call!.prompt.map(({ role }) => role),
    ["system", "user"],
  );
});

test("a patch is asked for as structured output, with a schema the strictest provider takes", async () => {
  const { model, ask } = summarizer(["{}"]);
  await ask(REQUEST);
  const format = model.calls[0]!.options.responseFormat;
  assert.equal(format?.type, "json");
  const check = (schema: unknown): void => {
    if (typeof schema !== "object" || schema === null) return;
    const { type, properties, required, additionalProperties } = schema as Record<string, unknown>;
    if (type === "object") {
      assert.deepEqual(required, Object.keys(properties as object));
      assert.equal(additionalProperties, false);
    }
    for (const value of Object.values(schema)) check(value);
  };
  check(format?.type === "json" ? format.schema : null);
});

test("[F62] an answer that is no JSON comes back as it is, for the lenient reader", async () => {
  const { ask } = summarizer(["Sure:\n```json\n{}\n```", { text: '{"add": {"goals": [', finish: "length" }]);
  assert.equal((await ask(REQUEST)).text, "Sure:\n```json\n{}\n```");
  const cut = await ask(REQUEST);
  assert.deepEqual([cut.text, cut.finish], ['{"add": {"goals": [', "length"]);
});

test("a provider that refuses the schema is asked without it, then and ever after", async () => {
  const { model, ask } = summarizer([{ error: refused(400, "response_format is not supported") }, "one", "two"]);
  assert.equal((await ask(REQUEST)).text, "one");
  assert.equal((await ask(REQUEST)).text, "two");
  assert.deepEqual(
    model.calls.map(({ options }) => options.responseFormat?.type ?? "text"),
    ["json", "text", "text"],
  );
});

for (const [status, retry] of [
  [429, "now"],
  [503, "now"],
  [401, "never"],
  [413, "never"],
] as const) {
  test(`[F1] a provider's ${status} says whether asking again can help`, async () => {
    const { model, ask } = summarizer([{ error: refused(status, "no") }]);
    await assert.rejects(ask({ ...REQUEST, kind: "prose", schema: null }), (error) => {
      assert.ok(error instanceof SummarizeError);
      assert.deepEqual([error.retry, error.message], [retry, `${status} no`]);
      assert.equal(error.afterMs, retry === "now" ? 7000 : 0);
      return true;
    });
    assert.equal(model.calls.length, 1);
  });
}

test("[F2] an answer that is only reasoning is no text", async () => {
  const { ask } = summarizer([{ reasoning: "so much to think about", finish: "length" }]);
  const answer = await ask({ ...REQUEST, schema: null });
  assert.deepEqual([answer.text, answer.finish], ["", "length"]);
});

test("[F10] on a cached prefix the request begins exactly as the conversation's last one did", async () => {
  const { model, ask } = summarizer(["{}"]);
  const messages = [
    { role: "user", content: "hello" },
    { role: "assistant", content: "hi" },
  ];
  const tools = { ls: tool({ inputSchema: jsonSchema({ type: "object" }) }) };
  const prefix = { instructions: "Be an agent.", messages, tools, tokens: 10 };
  await ask({ ...REQUEST, system: "", schema: null, prefix });
  const { prompt, options } = model.calls[0]!;
  assert.deepEqual(
    prompt.map(({ role }) => role),
    ["system", "user", "assistant", "user"],
  );
  assert.equal(prompt[0]!.content, "Be an agent.");
  assert.deepEqual([options.tools?.map(({ name }) => name), options.responseFormat?.type ?? "text"], [["ls"], "text"]);
});

test("a tool that the model calls instead of summing up is not run", async () => {
  const { ask } = summarizer([{ calls: [{ name: "rm", input: {} }] }]);
  const runs: unknown[] = [];
  const tools = {
    rm: tool({ inputSchema: jsonSchema({ type: "object" }), execute: (input) => void runs.push(input) }),
  };
  const messages = [{ role: "user", content: "hello" }];
  const prefix = { instructions: "Be an agent.", messages, tools, tokens: 10 };
  assert.equal((await ask({ ...REQUEST, system: "", schema: null, prefix })).text, "");
  assert.deepEqual(runs, []);
});

for (const [name, options, expected] of [
  ["openai", { reasoningEffort: "high", store: false }, { store: false }],
  ["anthropic", { thinking: { type: "enabled", budgetTokens: 4000 } }, {}],
  ["google", { thinkingConfig: { thinkingBudget: 1000 }, labels: { a: "b" } }, { labels: { a: "b" } }],
] as const) {
  test(`thinking is off for a summary: the options of ${name}'s other calls without what they say about it`, async () => {
    const model = scriptedModel(["{}"]);
    await modelSummarize(model, { providerOptions: { [name]: options } })(REQUEST, signal);
    const { reasoning, providerOptions } = model.calls[0]!.options;
    assert.deepEqual([reasoning, providerOptions], ["none", { [name]: expected }]);
  });
}

test("a model that can't do without thinking is asked again with it, then and ever after, schema and all", async () => {
  const model = scriptedModel([
    { error: refused(400, "Unsupported value: 'reasoning.effort' does not support 'none' with this model.") },
    "{}",
    "{}",
  ]);
  const summarize = modelSummarize(model, { providerOptions: { openai: { reasoningEffort: "high" } } });
  for (let call = 0; call < 2; call++) await summarize(REQUEST, signal);
  assert.deepEqual(
    model.calls.map(({ options }) => [options.reasoning, options.responseFormat?.type]),
    [
      ["none", "json"],
      [undefined, "json"],
      [undefined, "json"],
    ],
  );
});

test("a model that was not told to think is told nothing about it", async () => {
  const model = scriptedModel(["{}"]);
  await modelSummarize(model, { providerOptions: { openai: { store: false } } })(REQUEST, signal);
  const { reasoning, providerOptions } = model.calls[0]!.options;
  assert.deepEqual([reasoning, providerOptions], [undefined, { openai: { store: false } }]);
});

test("a model with thinking built in does without it for a summary", async () => {
  const inner = scriptedModel(["{}", "{}"]);
  const model = withSettings(inner, { reasoning: "medium" }, []);
  await modelSummarize(model)(REQUEST, signal);
  assert.equal(inner.calls[0]!.options.reasoning, "none");
});

test("a model that knows no schemas is asked for JSON without one, so that it has nothing to warn of", async () => {
  const inner = Object.assign(scriptedModel(["{}", "{}"]), { supportsStructuredOutputs: false });
  for (const model of [inner, withSettings(inner, {}, [])]) await modelSummarize(model)(REQUEST, signal);
  assert.deepEqual(
    inner.calls.map(({ options }) => options.responseFormat),
    [{ type: "json" }, { type: "json" }],
  );
});

function summarizer(script: readonly ScriptedStep[]) {
  const model = scriptedModel(script);
  const summarize = modelSummarize(model);
  return { model, ask: (request: SummaryRequest) => summarize(request, signal) };
}

function refused(statusCode: number, message: string): APICallError {
  return new APICallError({
    message,
    url: "https://model.test",
    requestBodyValues: {},
    statusCode,
    responseHeaders: { "retry-after": "7" },
  });
}
