import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Dialect } from "@palimpsest/core/internal/message";
import { openSqlite } from "../stores/index.ts";
import { appendMessages, appendUsage, withWriter } from "./acts.ts";
import { threadPrompt } from "./thread-prompt.ts";
import { createThread, threadDeps } from "./writer.ts";

async function thread(t: TestContext, messages: readonly object[]) {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const kit = threadDeps(store);
  await createThread(kit, { id: "a" });
  const append = (added: readonly object[], dialect: Dialect = "openai") =>
    withWriter(kit, "a", (writer) =>
      appendMessages(
        writer,
        added.map((body) => ({ dialect, origin: "user" as const, body })),
      ),
    );
  await append(messages);
  const report = (of: number, input: number) =>
    withWriter(kit, "a", (writer) =>
      appendUsage(writer, {
        of,
        model: "gpt-4o",
        input,
        output: 5,
        cacheRead: 0,
        cacheWrite: 0,
        factor: null,
        measured: { compaction: null, prune: null, promptHash: null },
      }),
    );
  return { store, append, report };
}

async function count(at: { store: Parameters<typeof threadPrompt>[0] }) {
  const prompt = await threadPrompt(at.store, "a");
  assert.equal(prompt.kind, "prompt");
  return prompt.kind === "prompt" ? prompt.count : assert.fail();
}

const user = { role: "user", content: "Which river runs through Vienna?" };
const assistant = { role: "assistant", content: "The Danube." };

test("before the first report the count is an estimate, after it the report plus what was added", async (t) => {
  const at = await thread(t, [user, assistant]);
  const estimated = await count(at);
  assert.equal(estimated.source, "estimated");
  await at.report(2, 1000);
  const anchored = await count(at);
  assert.equal(anchored.source, "anchored");
  assert.ok(anchored.tokens > 1000 && anchored.tokens < 1050, String(anchored.tokens));
});

test("[F49] a call nobody answered is repaired in the prompt, and the repair is counted", async (t) => {
  const call = { id: "1", type: "function", function: { name: "look", arguments: "{}" } };
  const at = await thread(t, [user, { role: "assistant", content: null, tool_calls: [call] }, user]);
  const prompt = await threadPrompt(at.store, "a", { window: 1000 });
  assert.ok(prompt.kind === "prompt");
  assert.equal(prompt.messages.length, 4);
  assert.equal(prompt.repairs.length, 1);
  assert.ok((prompt.breakdown.parts.repairs ?? 0) > 0);
});

test("[F25] an image counts, apart from the text beside it", async (t) => {
  const image = { type: "image_url", image_url: { url: "https://example.com/cat.png" } };
  const at = await thread(t, [{ role: "user", content: [{ type: "text", text: "What is this?" }, image] }]);
  const prompt = await threadPrompt(at.store, "a");
  assert.ok(prompt.kind === "prompt" && (prompt.breakdown.parts.images ?? 0) > 50);
});

test("an empty and a missing thread are no errors", async (t) => {
  const at = await thread(t, []);
  assert.equal((await threadPrompt(at.store, "a")).kind, "prompt");
  assert.equal((await threadPrompt(at.store, "b")).kind, "missing");
});

test("a thread that goes on in another dialect is shown in the newest one", async (t) => {
  const call = { id: "1", type: "function", function: { name: "look", arguments: "{}" } };
  const at = await thread(t, [
    user,
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "1", content: "42" },
  ]);
  await at.append([{ role: "assistant", content: [{ type: "text", text: "It is 42." }] }], "ai-sdk");
  const prompt = await threadPrompt(at.store, "a");
  assert.ok(prompt.kind === "prompt" && prompt.dialect === "ai-sdk");
  assert.deepEqual(
    prompt.messages.map((message) => "role" in message && message.role),
    ["user", "assistant", "tool", "assistant"],
  );
});

test("of a thread without its system prompt and tools, what was charged beyond its messages is a part of its own", async (t) => {
  const at = await thread(t, [user, assistant]);
  await at.report(2, 12_000);
  const prompt = await threadPrompt(at.store, "a");
  assert.ok(prompt.kind === "prompt");
  const { unseen = 0, user: asked = 0, assistant: answered = 0 } = prompt.breakdown.parts;
  assert.ok(unseen > 11_900 && asked < 30 && answered < 30, JSON.stringify(prompt.breakdown.parts));
  assert.equal(unseen + asked + answered, prompt.count.tokens);
});
