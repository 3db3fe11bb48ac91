import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type OpenAiMessage, shapeOf } from "@palimpsest/core/internal/message";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { openSqlite } from "../stores/sqlite.ts";
import { type OpenThread, openThread } from "./open-thread.ts";

async function opened(t: TestContext): Promise<OpenThread<OpenAiMessage>> {
  const store = openSqlite({ path: ":memory:" });
  const result = await openThread({
    store,
    id: "t",
    shape: shapeOf("openai"),
    window: 4000,
    counter: charsPerToken(4),
    model: "m",
  });
  assert.ok(result.kind === "open");
  t.after(async () => {
    await result.thread.close();
    await store.close();
  });
  return result.thread;
}

const tooLong = () =>
  Object.assign(new Error("This model's maximum context length is 1000 tokens"), { code: "context_length_exceeded" });

async function said(thread: OpenThread<OpenAiMessage>): Promise<string[]> {
  const bodies: string[] = [];
  for await (const { body } of thread.replay()) bodies.push((JSON.parse(body) as { content: string }).content);
  return bodies;
}

test("a call asks with the prompt, writes the answer with its report, and gives back what the model's client gave", async (t) => {
  const thread = await opened(t);
  await thread.append([{ role: "user", content: "hello" }]);
  const answer = await thread.call(async ({ messages }) => {
    assert.deepEqual(messages, [{ role: "user", content: "hello" }]);
    return { messages: [{ role: "assistant", content: "hi" }], usage: { input: 40, output: 2 }, id: "resp_1" };
  });
  assert.equal(answer.id, "resp_1");
  assert.deepEqual(await said(thread), ["hello", "hi"]);
  await thread.append([{ role: "user", content: "and now?" }]);
  const { count } = await thread.prompt();
  assert.equal(count.source, "anchored");
  assert.ok(count.tokens > 40, `${count.tokens}`);
});

test("a call that is refused for its length is made once more, with less", async (t) => {
  const thread = await opened(t);
  const long = Array.from({ length: 40 }, (_, index): OpenAiMessage => {
    return { role: index % 2 === 0 ? "user" : "assistant", content: `${index} ${"word ".repeat(40)}` };
  });
  await thread.append([...long, { role: "user", content: "go on" }]);
  const lengths: number[] = [];
  await thread.call(async ({ messages }) => {
    lengths.push(messages.length);
    if (lengths.length === 1) throw tooLong();
    return { messages: [{ role: "assistant", content: "done" }] };
  });
  assert.equal(lengths.length, 2);
  assert.ok(lengths[1]! < lengths[0]!, `${lengths}`);
  assert.equal((await said(thread)).at(-1), "done");
});

test("another error of a call, and a second refusal, are the caller's, and nothing is written", async (t) => {
  const thread = await opened(t);
  await thread.append([{ role: "user", content: "hello" }]);
  let calls = 0;
  const failing = (error: Error) => async () => {
    calls += 1;
    throw error;
  };
  await assert.rejects(thread.call(failing(new Error("rate limit"))), /rate limit/);
  assert.equal(calls, 1);
  await assert.rejects(thread.call(failing(tooLong())), /maximum context length/);
  assert.deepEqual(await said(thread), ["hello"]);
});

test("an open thread takes back, pins and forks as an agent's handle does", async (t) => {
  const thread = await opened(t);
  await thread.append([
    { role: "user", content: "hello" },
    { role: "assistant", content: "hi" },
  ]);
  assert.partialDeepStrictEqual(await thread.undo(), { kind: "refused" });
  assert.equal((await thread.pin(1)).kind, "committed");
  assert.deepEqual(await thread.fork({ as: "t2", at: 2 }), { kind: "forked", threadId: "t2", parent: "t", at: 2 });
  assert.equal(await thread.current(), "t");
  assert.deepEqual(await thread.state(), {});
});
