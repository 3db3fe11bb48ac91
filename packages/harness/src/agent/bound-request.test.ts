import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { startProviderServer } from "@palimpsest/testing";
import { plainCounter } from "../../test/agent/agent-kit.ts";
import { openSqlite } from "../stores/sqlite.ts";
import { createAgent } from "./agent.ts";
import type { Middleware } from "./run.ts";

/** An agent on a provider that refuses misplaced thoughts; how many thoughts each request carried. */
async function started(
  t: TestContext,
  options: { readonly model?: string; readonly middleware?: readonly Middleware[] } = {},
) {
  const thoughts: number[] = [];
  const server = await startProviderServer({
    binding: "prefix",
    respond: ({ turns, index }) => {
      thoughts.push(turns.flatMap(({ parts }) => parts).filter(({ kind }) => kind === "reasoning").length);
      return { reasoning: `thought ${index} ${"hm ".repeat(20_000)}`, text: `answer ${index}` };
    },
  });
  t.after(() => server.close());
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  let day = 1;
  const model = createAnthropic({ apiKey: "sk-test", baseURL: server.url })(options.model ?? "claude-opus-5-5");
  const agent = createAgent({
    model,
    store,
    counter: plainCounter,
    middleware: options.middleware ?? [],
    deps: { clock: () => new Date(Date.UTC(2026, 0, day)) },
  });
  const say = async (prompt: string): Promise<string> => {
    const { end } = await agent.stream({ threadId: "t", prompt }).result;
    return end.kind === "failed" ? end.message : end.kind;
  };
  return { agent, say, thoughts, nextDay: () => void day++ };
}

test("a thought goes back as long as the thread only grows, on the next day too", async (t) => {
  const { say, thoughts, nextDay } = await started(t);
  for (const prompt of ["one", "two", "three"]) {
    assert.equal(await say(prompt), "answered");
    nextDay();
  }
  assert.deepEqual(thoughts, [0, 1, 2]);
});

test("after a compaction no older thought is sent, new ones are, and the date is that of the day", async (t) => {
  const { agent, say, thoughts, nextDay } = await started(t);
  for (const prompt of ["one", "two", "three"]) await say(`${prompt} ${"words to hide ".repeat(200)}`);
  nextDay();
  const outcome = await agent.compact("t", { keep: { type: "messages", value: 2 } });
  assert.ok(outcome.kind === "compacted");
  // The thought of the answer that was kept comes to more: what isn't sent isn't counted.
  assert.ok(outcome.tokensAfter < 5_000, `${outcome.tokensAfter}`);
  assert.equal(await say("four"), "answered");
  assert.equal(await say("five"), "answered");
  assert.deepEqual(thoughts.slice(-2), [0, 1]);
});

test("a model that doesn't bind is refused there: it is sent every thought, whatever changed", async (t) => {
  const { say, nextDay } = await started(t, { model: "claude-opus-5" });
  assert.equal(await say("one"), "answered");
  nextDay();
  assert.match(await say("two"), /bound to a different conversation/);
});

test("a turn that a middleware adds behind the log: thoughts made behind it are not sent again, and nothing is refused", async (t) => {
  const remind: Middleware = {
    name: "remind",
    wrapModel: (request, next) =>
      next({ ...request, messages: [...request.messages, { role: "user", content: "Be brief." }] }),
  };
  const { say, thoughts } = await started(t, { middleware: [remind] });
  for (const prompt of ["one", "two", "three"]) assert.equal(await say(prompt), "answered");
  assert.deepEqual(thoughts, [0, 0, 0]);
});
