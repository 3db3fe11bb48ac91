import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedModel } from "@palimpsest/testing";
import { writeThread } from "@palimpsest/testing/internal/thread-writer";
import { modelMessageSchema, tool } from "ai";
import { z } from "zod";
import { agentKit, deepAgentKit, textOf } from "../../test/agent/agent-kit.ts";
import { appendUnindexed } from "../../test/recall/unindexed.ts";
import { createDeepAgent } from "../home/create-deep-agent.ts";
import { SHARE_RECORDS } from "../recall/stored-index.ts";
import { openSqlite } from "../stores/sqlite.ts";
import { withWriter } from "../thread/acts.ts";
import { commit, createThread, threadDeps } from "../thread/writer.ts";
import { createAgent } from "./agent.ts";

const WORDS = "the parser reads tokens one by one and keeps a stack of what is open ".repeat(12);

test("a thread's context counts the system prompt and the tools the agent sends, and matches what was reported", async () => {
  const kit = deepAgentKit(() => WORDS, {
    window: 20_000,
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

test("before the first report a context counts what the agent would send, by the agent's own counter", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const kit = threadDeps(store);
  await createThread(kit, { id: "t" });
  const message = { kind: "message", id: "m1", dialect: "ai-sdk", origin: "import" } as const;
  await withWriter(kit, "t", (writer) =>
    commit(writer, [{ ...message, body: JSON.stringify({ role: "user", content: "Hello there, how are you?" }) }]),
  );
  const { agent, model } = deepAgentKit(() => "ok", { store, counter: (text) => text.length, window: 50_000 });
  const version = async (): Promise<number> => (await store.head("t"))!.version;
  const before = await version();
  const context = await agent.thread("t").context();
  assert.ok(context.kind === "prompt");
  assert.equal(await version(), before, "nothing is written");
  await agent.generate({ threadId: "t", prompt: "And now?" });
  const instructions = textOf(model.calls[0]!.prompt[0] as never);
  assert.equal(context.system, instructions);
  const { base = 0, instructions: own = 0, definitions = 0, user = 0 } = context.breakdown.parts;
  assert.ok(base + own >= instructions.length, `${base} and ${own} of ${instructions.length} characters`);
  assert.ok(definitions > 1000, `${definitions} for the tools`);
  assert.ok(user >= "Hello there, how are you?".length, `${user} for the question`);
});

for (const given of ["openai/gpt-5", null, undefined, {}]) {
  test(`${JSON.stringify(given)} as a model is refused with a sentence, also as a summarizer`, () => {
    const refused = { code: "bad-model", message: /takes a model object of the AI SDK/ };
    assert.throws(() => createAgent({ model: given as never }), refused);
    if (given == null) return;
    assert.throws(() => createDeepAgent({ model: scriptedModel([]), summarizer: given as never }), refused);
  });
}

for (const window of [0, -5, 0.5, Number.NaN]) {
  test(`a window of ${window} tokens is refused when the agent is made`, () => {
    const refused = { code: "bad-options", message: /window .* must be a whole number of tokens above 0/ };
    assert.throws(() => createAgent({ model: scriptedModel([]), window }), refused);
  });
}

test("what was sent beside the messages is in the log once, until it changes", async () => {
  let now = new Date("2026-03-04T10:00:00Z");
  const kit = deepAgentKit(() => "ok", { deps: { clock: () => now } });
  for (let turn = 0; turn < 3; turn++) await kit.agent.generate({ threadId: "t", prompt: "hi" });
  assert.equal((await receipts()).length, 1);
  now = new Date("2026-03-05T10:00:00Z");
  await kit.agent.generate({ threadId: "t", prompt: "hi" });
  assert.match((await receipts()).at(-1)!, /Current date: 2026-03-05/);
  assert.equal((await receipts()).length, 2);

  async function receipts(): Promise<string[]> {
    const found: string[] = [];
    for await (const { record } of kit.store.records("t", { kinds: ["event"] })) {
      if (record.kind !== "event" || record.event.type !== "request") continue;
      const { system } = record.event["stored"] as { system: string };
      found.push((await kit.store.prompts!.get(system))!);
    }
    return found;
  }
});

test("a thread is read, taken back, pinned and forked by its handle; a missing one says so", async () => {
  const kit = deepAgentKit(() => WORDS, { window: 50_000 });
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

test("a handle's search says what it has not searched, and nothing of that once all is indexed", async (t) => {
  const kit = deepAgentKit([]);
  t.after(() => kit.store.close());
  const many = SHARE_RECORDS + 900;
  await appendUnindexed(await writeThread(kit.store, "t"), many);
  const thread = kit.agent.thread("t");
  const early = await thread.search(`word${many - 1}`);
  assert.ok(early.unindexed !== undefined && early.unindexed > 0);
  assert.deepEqual(early.building, { indexed: many - early.unindexed, records: many });
  const late = await thread.search(`word${many - 1}`);
  assert.ok(late.kind === "found" && late.unindexed === undefined && late.building === undefined);
  assert.equal(late.hits[0]?.seq, many);
});

test("a thread's handle gives everything said as messages of the SDK, whatever dialect it came in, searches it and deletes it", async (t) => {
  const kit = deepAgentKit(["Green tea.", "Again."]);
  t.after(() => kit.store.close());
  const deps = threadDeps(kit.store);
  await createThread(deps, { id: "t" });
  const calls = [{ id: "c1", type: "function", function: { name: "look", arguments: '{"at":"shop"}' } }];
  const openai = [
    { role: "user", content: "Which tea did Ada buy?" },
    { role: "assistant", content: null, tool_calls: calls },
    { role: "tool", tool_call_id: "c1", content: "a pound of sencha" },
  ];
  const input = { kind: "message", dialect: "openai", origin: "import" } as const;
  await withWriter(deps, "t", (writer) =>
    commit(
      writer,
      openai.map((message, index) => ({ ...input, id: `m${index}`, body: JSON.stringify(message) })),
    ),
  );
  await kit.agent.generate({ threadId: "t", prompt: "So which?" });
  const thread = kit.agent.thread("t");
  const messages = await thread.messages();
  assert.deepEqual(
    messages.map(({ role }) => role),
    ["user", "assistant", "tool", "user", "assistant"],
  );
  assert.ok(messages.every((message) => modelMessageSchema.safeParse(message).success));
  const found = await thread.search("sencha", { limit: 1 });
  assert.deepEqual(found.kind === "found" && found.hits.map(({ threadId, seq }) => [threadId, seq]), [["t", 3]]);
  assert.partialDeepStrictEqual(await thread.search("zeppelin"), { kind: "nothing", reason: "no-match" });
  const stranger = kit.agent.thread("t", { userId: "bob" });
  assert.deepEqual(await stranger.messages(), []);
  assert.partialDeepStrictEqual(await stranger.search("sencha"), { kind: "nothing", reason: "missing" });
  assert.deepEqual(await stranger.delete(), { kind: "missing" });
  assert.equal((await thread.delete()).kind, "deleted");
  assert.deepEqual(await thread.messages(), []);
  assert.deepEqual(await thread.delete(), { kind: "missing" });
});

test("a thread that a run holds can't be deleted, and says until when", async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = tool({ inputSchema: z.object({}), execute: () => promise.then(() => "seen") });
  const kit = agentKit([{ calls: [{ name: "look", input: {} }] }, "done"], { tools: { look } });
  t.after(() => kit.store.close());
  const run = kit.agent.stream({ threadId: "t", prompt: "go" });
  await run.started;
  const refused = await kit.agent.thread("t").delete();
  assert.ok(refused.kind === "busy" && refused.expiresAt !== undefined);
  resolve();
  assert.equal((await run.result).end.kind, "answered");
});
