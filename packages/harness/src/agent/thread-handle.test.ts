import assert from "node:assert/strict";
import { test } from "node:test";
import { deepAgentKit, textOf } from "../testing/agent-kit.ts";

const WORDS = "the parser reads tokens one by one and keeps a stack of what is open ".repeat(12);

test("a thread's context counts the system prompt and the tools the agent sends, and matches what was reported", async () => {
  const kit = deepAgentKit(() => WORDS, {
    contextWindow: 20_000,
    middleware: [{ name: "notes", prompt: () => [{ slot: "memory", text: "The user likes tea." }] }],
  });
  for (let turn = 0; turn < 3; turn++) await kit.agent.generate({ threadId: "t", prompt: WORDS });
  const context = await kit.agent.thread("t").context();
  assert.equal(context.kind, "prompt");
  if (context.kind !== "prompt") return;
  const { parts, total, window } = context.breakdown;
  assert.equal(window, 20_000);
  assert.ok((parts["definitions"] ?? 0) > 100 && (parts["base"] ?? 0) > 50 && (parts["memory"] ?? 0) > 0);
  const next = kit.model.calls.at(-1)!.inputTokens + WORDS.length / 4;
  assert.ok(Math.abs(total - next) < next * 0.05, `${total} against ${next}`);
});

test("what was sent beside the messages is in the log once, until it changes", async () => {
  let now = new Date("2026-03-04T10:00:00Z");
  const kit = deepAgentKit(() => "ok", { means: { clock: () => now } });
  for (let turn = 0; turn < 3; turn++) await kit.agent.generate({ threadId: "t", prompt: "hi" });
  assert.equal((await receipts()).length, 1);
  now = new Date("2026-03-05T10:00:00Z");
  await kit.agent.generate({ threadId: "t", prompt: "hi" });
  assert.match((await receipts()).at(-1)!, /Current date: 2026-03-05/);
  assert.equal((await receipts()).length, 2);

  async function receipts(): Promise<string[]> {
    const found: string[] = [];
    for await (const { record } of kit.store.records("t", { kinds: ["event"] })) {
      if (record.kind === "event" && record.event.type === "request") found.push(String(record.event["system"]));
    }
    return found;
  }
});

test("a thread is read, taken back, pinned and forked by its handle; a missing one says so", async () => {
  const kit = deepAgentKit(() => WORDS, { contextWindow: 50_000 });
  for (let turn = 0; turn < 12; turn++)
    await kit.agent.generate({ threadId: "t", prompt: `Question ${turn}: ${WORDS}` });
  const thread = kit.agent.thread("t");
  const before = await thread.view();
  assert.equal((await thread.pin(3)).kind, "committed");
  assert.equal((await kit.agent.compact("t")).kind, "compacted");
  assert.ok((await thread.view()).length < before.length);
  assert.equal((await thread.undo()).kind, "undone");
  assert.deepEqual(await thread.view(), before);
  assert.equal((await thread.fork({ as: "u", at: 4 })).kind, "forked");
  assert.match(textOf((await kit.said("u"))[0]!), /Question 0/);
  assert.match(String((await thread.state())["title"]), /^Question 0/);
  const missing = kit.agent.thread("nobody");
  assert.deepEqual(await missing.context(), { kind: "missing" });
  assert.deepEqual(await missing.view(), []);
  assert.equal((await missing.undo()).kind, "missing");
});
