import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { type ProviderServer, startProviderServer } from "@palimpsest/testing";
import { plainCounter } from "../../test/agent/agent-kit.ts";
import { createDeepAgent, type DeepAgentOptions } from "../home/create-deep-agent.ts";

const WORDS = "the parser reads tokens one by one and keeps a stack of what is open ".repeat(12);
const PATCH = JSON.stringify({ add: { now: [{ text: "The quicksilver parser is half read.", seqs: [] }] } });
const KEY = { apiKey: "sk-test" };

for (const name of ["gpt-4o", "gpt-5.1"]) {
  test(`OpenAI's Responses API refuses no summary call of ${name}: it carries what the main calls carry`, async (t) => {
    const { summaries, refused } = await talk(t, {
      modelOf: ({ url }) => createOpenAI({ ...KEY, baseURL: url })(name),
    });
    assert.deepEqual(refused, []);
    assert.ok(summaries.length > 0);
    for (const { body } of summaries) assert.equal(body?.["store"], false);
  });
}

test("an agent that thinks sums up without thinking, on its own cache", async (t) => {
  const { summaries, refused } = await talk(t, {
    modelOf: ({ url }) => createOpenAI({ ...KEY, baseURL: url })("gpt-5.1"),
    providerOptions: { openai: { reasoningEffort: "high" } },
  });
  assert.deepEqual(refused, []);
  for (const { body, tools } of summaries) {
    assert.deepEqual(body!["reasoning"], { effort: "none" });
    assert.ok(tools.length > 0, "the conversation's own prefix");
  }
});

test("where turning thinking off gives the cache up, the summarizer reads only what will be hidden", async (t) => {
  const { summaries, refused } = await talk(t, {
    modelOf: ({ url }) => createAnthropic({ ...KEY, baseURL: url })("claude-sonnet-4-5"),
    providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } },
  });
  assert.deepEqual(refused, []);
  for (const { body, tools } of summaries) {
    assert.deepEqual([body?.["thinking"], tools], [{ type: "disabled" }, []]);
  }
});

test("a model that can only think less than it was told to gives the SDK nothing to warn of when it sums up", async (t) => {
  const warnings = warningsOf(t);
  const { summaries } = await talk(t, {
    modelOf: ({ url }) => createOpenAI({ ...KEY, baseURL: url })("gpt-5"),
    providerOptions: { openai: { reasoningEffort: "high" } },
  });
  assert.ok(summaries.length > 0);
  for (const { body } of summaries) assert.match(JSON.stringify(body?.["reasoning"]), /"effort":"minimal"/);
  assert.deepEqual(warnings, []);
});

test("a summary by an openai-compatible model gives the SDK nothing to warn of", async (t) => {
  const warnings = warningsOf(t);
  const { summaries } = await talk(t, {
    modelOf: ({ url }) => createOpenAICompatible({ name: "local", baseURL: url, includeUsage: true })("m"),
    window: 6_000,
  });
  assert.ok(summaries.length > 0);
  assert.deepEqual(warnings, []);
});

function warningsOf(t: TestContext): readonly unknown[] {
  const warnings: unknown[] = [];
  globalThis.AI_SDK_LOG_WARNINGS = ({ warnings: given }) => void warnings.push(...given);
  t.after(() => {
    globalThis.AI_SDK_LOG_WARNINGS = undefined as never;
  });
  return warnings;
}

interface Talk extends Pick<DeepAgentOptions, "providerOptions"> {
  readonly modelOf: (server: ProviderServer) => DeepAgentOptions["model"];
  readonly window?: number;
}

/** Turns until summaries were written; what the strict provider saw of it. */
async function talk(t: TestContext, { modelOf, window = 16_000, ...options }: Talk) {
  const server = await startProviderServer({ window, respond: ({ stream }) => (stream ? WORDS : PATCH) });
  const agent = createDeepAgent({ ...options, model: modelOf(server), window, counter: plainCounter });
  t.after(async () => {
    await agent.close();
    await server.close();
  });
  for (let turn = 0; turn < 40; turn++) await agent.generate({ threadId: "t", prompt: `Question ${turn}: ${WORDS}` });
  const refused = server.requests.flatMap(({ verdict }) => (verdict.kind === "refused" ? [verdict.failure] : []));
  return { summaries: server.requests.filter(({ stream }) => !stream), refused };
}
