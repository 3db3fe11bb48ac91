// The OpenAI Agents SDK as it is, with its own sessions, pointed at a gateway.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Agent, MemorySession, Runner, setTracingDisabled } from "@openai/agents-core";
import {
  OpenAIConversationsSession,
  OpenAIResponsesCompactionSession,
  OpenAIResponsesModel,
} from "@openai/agents-openai";
import { startProviderServer } from "@palimpsest/testing";
import { replay } from "palimpsest/internal/threads";
import { searchAll, verify } from "palimpsest/session";
import { openaiAt } from "../../../test/held-suite.ts";
import { running } from "../../../test/running.ts";

setTracingDisabled(true);

const TURNS = 16;

async function sailing(t: TestContext) {
  const provider = await startProviderServer({
    window: 4000,
    respond: ({ index }) => `answer ${index}: ${"sand and shell. ".repeat(8)}`,
  });
  t.after(() => provider.close());
  const entry = `{name: gpt-5, provider: openai, model: m, base_url: "${provider.url}", api_key: k, max_input_tokens: 4000}`;
  const { url, home } = await running(t, { config: `models:\n  - ${entry}\n` });
  const client = openaiAt(url);
  const agent = new Agent({
    name: "sailor",
    instructions: "You sail.",
    model: new OpenAIResponsesModel(client, "gpt-5"),
  });
  return { home, provider, client, agent, runner: new Runner({ tracingDisabled: true }) };
}

for (const compactionMode of ["previous_response_id", "input"] as const)
  test(`its session compacts by ${compactionMode}: its own history gets short, and nothing that was said is lost`, async (t) => {
    const { home, provider, client, agent, runner } = await sailing(t);
    const underlyingSession = new MemorySession();
    const session = new OpenAIResponsesCompactionSession({ client, underlyingSession, model: "gpt-5", compactionMode });
    let most = 0;
    for (let turn = 1; turn <= TURNS; turn += 1) {
      const { finalOutput } = await runner.run(agent, `question ${turn}: is the Ammersee ${turn} deep?`, { session });
      assert.match(String(finalOutput), /^answer/);
      most = Math.max(most, (await underlyingSession.getItems()).length);
    }
    const items = await underlyingSession.getItems();
    assert.ok(
      items.some(({ type }) => type === "compaction"),
      "its history was replaced by a compaction",
    );
    const { threads } = await home.store.threads();
    assert.equal(threads.length, 1);
    const texts: string[] = [];
    for await (const { body } of replay(home, threads[0]!.header.id)) texts.push(body);
    assert.equal(texts.length, 2 * TURNS);
    for (let turn = 1; turn <= TURNS; turn += 1) assert.ok(texts.some((text) => text.includes(`question ${turn}: `)));
    assert.equal((await verify(home, threads[0]!.header.id)).kind, "whole");
    const found = await searchAll(home.store, "Ammersee 1 deep");
    assert.equal(found.kind, "found");
    assert.ok(provider.requests.every(({ verdict }) => verdict.kind === "answered"));
    assert.ok(most < 2 * TURNS);
  });

test("its conversations session goes on, takes its last item back, and another of the same id has it all", async (t) => {
  const { client, agent, runner } = await sailing(t);
  const session = new OpenAIConversationsSession({ client });
  for (const question of ["How deep?", "And now?"]) await runner.run(agent, question, { session });
  const items = await session.getItems();
  assert.equal(items.length, 4);
  await session.popItem();
  const other = new OpenAIConversationsSession({ client, conversationId: await session.getSessionId() });
  assert.deepEqual(await other.getItems(), items.slice(0, -1));
});
