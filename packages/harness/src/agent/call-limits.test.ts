import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { Fault } from "@palimpsest/testing";
import {
  type ProviderRequest,
  type ProviderServer,
  type ProviderServerOptions,
  startProviderServer,
} from "@palimpsest/testing";
import { agentKit } from "../../test/agent/agent-kit.ts";
import { type AgentOptions, createAgent } from "./agent.ts";
import type { AgentEvent } from "./events.ts";
import type { ModelObject } from "./model.ts";
import { CALL_LIMITS } from "./step.ts";

const STORY = "Once upon a time there was a log that nobody ever edited, and it kept every word. ".repeat(4);
const clients: Readonly<Record<string, (server: ProviderServer) => ModelObject>> = {
  "openai-compatible": ({ url }) => createOpenAICompatible({ name: "fake", baseURL: url, apiKey: "key" })("fake"),
  responses: ({ url }) => createOpenAI({ baseURL: url, apiKey: "key" }).responses("fake"),
  anthropic: ({ url }) => createAnthropic({ baseURL: url, apiKey: "key" })("fake"),
};
const { firstMs, idleMs } = CALL_LIMITS as { readonly firstMs: number; readonly idleMs: number };
const comments = "on";

for (const [name, client] of Object.entries(clients)) {
  test(`${name}: a model that never begins is tried once more, then the run ends as timed out`, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const fault = (): Fault => {
      setImmediate(() => t.mock.timers.tick(firstMs));
      return { kind: "stall" };
    };
    const { run, server, events } = await started(t, client, { faults: fault });
    const { end } = await run;
    assert.ok(end.kind === "failed" && end.code === "timed-out");
    assert.match(end.message, /nothing for 300 seconds/);
    assert.equal(server.requests.length, 2);
    assert.equal(events.filter(({ type }) => type === "model-retry").length, 1);
  });

  test(`${name}: comments that keep the connection alive don't count as an answer`, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    let sent = 0;
    const onComment = (): void => {
      if (++sent % 5 === 0) t.mock.timers.tick(firstMs / 2);
    };
    const fault = (): Fault => ({ kind: "stall", afterEvents: 0, comments, onComment });
    const { run, server } = await started(t, client, { faults: fault });
    const { end } = await run;
    assert.equal(end.kind === "failed" && end.code, "timed-out");
    assert.equal(server.requests.length, 2);
  });

  test(`${name}: a model that falls silent after its first words keeps them, and isn't asked again`, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    let heard = false;
    const onComment = (): void => {
      if (heard) t.mock.timers.tick(idleMs);
    };
    // Enough events for some text, in each of the protocols.
    const fault: Fault = { kind: "stall", afterEvents: 8, comments, onComment };
    const onEvent = ({ type }: AgentEvent): void => {
      if (type === "text-delta") heard = true;
    };
    const { run, server, agent } = await started(t, client, { faults: { 0: fault } }, { onEvent });
    const { end, text } = await run;
    assert.equal(end.kind === "failed" && end.code, "timed-out");
    assert.ok(text !== "" && STORY.startsWith(text), text);
    assert.equal(server.requests.length, 1);
    const origins: string[] = [];
    for await (const { origin } of agent.thread("t").replay()) origins.push(origin);
    assert.deepEqual(origins, ["user", "aborted"]);
    assert.equal((await agent.generate({ threadId: "t", prompt: "again" })).text, STORY);
  });

  test(`${name}: an answer without end is cut, and what there was room for is kept`, async (t) => {
    const { run } = await started(t, client, {}, { modelLimits: { answerChars: 50 } });
    const { end, text } = await run;
    assert.equal(end.kind === "failed" && end.code, "answer-too-long");
    assert.equal(text, STORY.slice(0, 50));
  });

  test(`${name}: tool arguments without end are cut as well, and the call isn't made`, async (t) => {
    const respond = () => ({ calls: [{ name: "nothing", input: { text: STORY } }] });
    const { run, events } = await started(t, client, { respond }, { modelLimits: { answerChars: 50 } });
    const { end } = await run;
    assert.equal(end.kind === "failed" && end.code, "answer-too-long");
    assert.ok(!events.some(({ type }) => type === "tool-start"));
  });
}

test("an answer in endless tiny pieces is cut as well: each counts as eight characters", async (t) => {
  const kit = agentKit([{ text: "tiny ".repeat(100) }], { modelLimits: { answerChars: 80 } });
  t.after(() => kit.store.close());
  const { end } = await kit.agent.stream({ threadId: "t", prompt: "go" }).result;
  assert.equal(end.kind === "failed" && end.code, "answer-too-long");
  assert.ok(kit.of("text-delta").length <= 10);
});

test("a second call that is heard again goes on as if nothing had been", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const faults = ({ index }: ProviderRequest): Fault | undefined => {
    if (index > 0) return undefined;
    setImmediate(() => t.mock.timers.tick(firstMs));
    return { kind: "stall" };
  };
  const { run } = await started(t, clients["responses"]!, { faults });
  const { end, text } = await run;
  assert.deepEqual([end.kind, text], ["answered", STORY]);
});

async function started(
  t: TestContext,
  client: (server: ProviderServer) => ModelObject,
  options: ProviderServerOptions,
  { onEvent = () => {}, modelLimits = {} }: Pick<AgentOptions, "onEvent" | "modelLimits"> = {},
) {
  const server = await startProviderServer({ respond: () => STORY, ...options });
  const events: AgentEvent[] = [];
  const agent = createAgent({
    model: client(server),
    modelLimits,
    onEvent(event, ...where) {
      events.push(event);
      onEvent(event, ...where);
    },
  });
  t.after(async () => {
    t.mock.timers.reset();
    await agent.close();
    await server.close();
  });
  return { server, agent, events, run: agent.stream({ threadId: "t", prompt: "tell me" }).result };
}
