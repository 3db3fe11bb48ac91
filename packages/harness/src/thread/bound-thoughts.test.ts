import assert from "node:assert/strict";
import { test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { shapeOf } from "@palimpsest/core/internal/message";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { startProviderServer } from "@palimpsest/testing";
import { openSqlite } from "../stores/sqlite.ts";
import { openThread } from "./open-thread.ts";

test("an open thread of a model that binds its thoughts: they go back while it only grows, and not behind a summary", async (t) => {
  const thoughts: number[] = [];
  const server = await startProviderServer({
    binding: "prefix",
    respond: ({ turns, index }) => {
      thoughts.push(turns.flatMap(({ parts }) => parts).filter(({ kind }) => kind === "reasoning").length);
      return { reasoning: `thought ${index}: ${"hm ".repeat(20_000)}`, text: `answer ${index}` };
    },
  });
  t.after(() => server.close());
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const model = "claude-opus-5-5";
  const client = new Anthropic({ apiKey: "sk-test", baseURL: server.url.replace(/\/v1$/, "") });
  const shape = shapeOf<Anthropic.MessageParam>("anthropic");
  const fixed = { system: "Be brief." };
  const counting = { window: 100_000, model, counter: charsPerToken(4) };
  const opened = await openThread({ ...counting, store, id: "t", shape, fixed });
  assert.ok(opened.kind === "open");
  const { thread } = opened;
  t.after(() => thread.close());
  const say = async (content: string): Promise<void> => {
    await thread.append([{ role: "user", content }]);
    const { messages } = await thread.prompt();
    const request = { model, max_tokens: 30_000, system: fixed.system, messages: [...messages] };
    const answer = await client.messages.stream(request).finalMessage();
    await thread.append([{ role: "assistant", content: answer.content }]);
  };
  for (const words of ["one", "two", "three"]) await say(`${words} ${"words to hide ".repeat(200)}`);

  assert.deepEqual(thoughts, [0, 1, 2]);
  const outcome = await thread.compact({ keep: { type: "messages", value: 2 } });
  assert.ok(outcome.kind === "compacted");
  const { count } = await thread.prompt();
  // The thought of the answer that was kept comes to more.
  assert.ok(count.tokens < 5_000 && outcome.tokensAfter < 5_000, `${count.tokens}, ${outcome.tokensAfter}`);
  for (const words of ["four", "five"]) await say(words);
  assert.deepEqual(thoughts, [0, 1, 2, 0, 1]);
});
