// With the SDK's own runner and its scripted model: nothing here stands in for the framework.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  Agent,
  type AgentInputItem,
  isOpenAIResponsesCompactionAwareSession,
  isSessionHistoryRewriteAwareSession,
  isSessionHistoryTransactionAwareSession,
  OutputGuardrailTripwireTriggered,
  Runner,
  setTracingDisabled,
} from "@openai/agents-core";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents-core/testing";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { openSqlite, type Store } from "palimpsest/stores";
import { assertWhole, manyTurns, newSailor, sailor, sound } from "../test/sailor.ts";
import { PalimpsestSession } from "./palimpsest-session.ts";

setTracingDisabled(true);

const WINDOW = 4000;

function newStore(t: TestContext, path = ":memory:"): Store {
  const store = openSqlite({ path });
  t.after(() => store.close());
  return store;
}

const newSession = (store: Store, sessionId = "s"): PalimpsestSession =>
  new PalimpsestSession({ store, sessionId, window: WINDOW, counter: charsPerToken(4) });

const history = async (session: PalimpsestSession): Promise<AgentInputItem[]> => session.history();

test("150 turns of the runner: every request fits, no result is orphaned, and everything said is there in order", async (t) => {
  const store = newStore(t);
  await manyTurns(store, newSession(store), { turns: 150, window: WINDOW });
});

test("another process goes on where the first one stood, after a pop too", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-session-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "s.db");
  const runner = new Runner({ tracingDisabled: true });
  const first = newSession(newStore(t, path));
  await runner.run(newSailor(2).agent, "How deep?", { session: first });
  const popped = await first.popItem();
  assert.equal(popped?.type, "message");
  const second = newSession(newStore(t, path));
  assert.equal(await second.getSessionId(), "s");
  assert.deepEqual(await second.getItems(), await first.getItems());
  assert.deepEqual(await second.threads(), ["s", "s-1"]);
  await second.addItems([{ role: "user", content: "And now?" }]);
  assert.deepEqual((await first.getItems()).at(-1), { role: "user", content: "And now?" });
});

test("items come back as they were added, limited from the end, and popped from the end, out of the middle of an answer too", async (t) => {
  const store = newStore(t);
  const session = newSession(store);
  const items: AgentInputItem[] = [
    { role: "user", content: "How deep?" },
    { type: "reasoning", content: [{ type: "input_text", text: "I should sound." }] },
    assistantMessage("I'll sound it."),
    { ...functionCall("sound", { buoy: 1 }, { callId: "c" }) },
    {
      type: "function_call_result",
      callId: "c",
      name: "sound",
      status: "completed",
      output: { type: "text", text: "4" },
    },
    assistantMessage("Four fathoms."),
  ];
  const given = JSON.parse(JSON.stringify(items)) as AgentInputItem[];
  assert.equal(await session.popItem(), undefined);
  await session.addItems(items);
  assert.deepEqual(await session.getItems(), given);
  assert.deepEqual(await session.getItems(2), given.slice(-2));
  assert.deepEqual(await session.getItems(0), []);
  for (let left = given.length - 1; left >= 0; left -= 1) {
    assert.deepEqual(await session.popItem(), given[left]);
    assert.deepEqual(await history(session), given.slice(0, left));
  }
  assert.equal(await session.popItem(), undefined);
  await session.addItems(items);
  await session.clearSession();
  assert.deepEqual(await session.getItems(), []);
  assert.equal(await session.getSessionId(), "s");
  const [first] = await session.threads();
  const whole = new PalimpsestSession({ store, sessionId: "copy", window: WINDOW });
  assert.notEqual(first, undefined);
  assert.deepEqual(await history(whole), []);
  await assertWhole(store, session);
});

test("two who have the session open: what one adds while the other pops is said where the session goes on", async (t) => {
  const store = newStore(t);
  const [one, other] = [newSession(store), newSession(store)];
  await one.addItems([{ role: "user", content: "a" }]);
  await other.getItems();
  await one.popItem();
  await other.addItems([{ role: "user", content: "b" }]);
  assert.deepEqual(await history(one), [{ role: "user", content: "b" }]);
  assert.deepEqual(await history(other), [{ role: "user", content: "b" }]);
});

test("a transaction is applied once, refused under the same name with other items, and a suffix that isn't there replaces nothing", async (t) => {
  const store = newStore(t);
  const session = newSession(store);
  assert.ok(isSessionHistoryTransactionAwareSession(session));
  assert.ok(isSessionHistoryRewriteAwareSession(session));
  assert.ok(isOpenAIResponsesCompactionAwareSession(session));
  const [a, b, c]: AgentInputItem[] = ["a", "b", "c"].map((content) => ({ role: "user", content }));
  const append = { operationId: "1", transaction: { type: "append_items" as const, items: [a!, b!] } };
  await session.applyHistoryTransaction(append);
  await session.applyHistoryTransaction(append);
  assert.deepEqual(await history(session), [a, b]);
  const other = { operationId: "1", transaction: { type: "append_items" as const, items: [c!] } };
  await assert.rejects(session.applyHistoryTransaction(other), /another transaction/);
  const replace = (expectedSuffix: AgentInputItem[], replacement: AgentInputItem[], operationId: string) =>
    session.applyHistoryTransaction({
      operationId,
      transaction: { type: "replace_suffix", expectedSuffix, replacement },
    });
  await assert.rejects(replace([a!], [c!], "2"), /no longer ends/);
  assert.deepEqual(await history(session), [a, b]);
  await replace([b!], [c!], "2");
  await replace([b!], [c!], "2");
  assert.deepEqual(await history(session), [a, c]);
  await replace([a!, c!], [], "3");
  await replace([a!, c!], [], "3");
  assert.deepEqual(await history(session), []);
  await assert.rejects(session.applyHistoryTransaction({ ...append, operationId: " " }), /operationId/);
  await assertWhole(store, session);
});

test("a call is spelled anew, and what came after it stays", async (t) => {
  const session = newSession(newStore(t));
  const call = JSON.parse(JSON.stringify(functionCall("sound", { buoy: 1 }, { callId: "c" })));
  const rest: AgentInputItem[] = [
    { type: "function_call_result", callId: "c", name: "sound", status: "completed", output: "4" },
    { role: "user", content: "Thanks." },
  ];
  await session.addItems([{ role: "user", content: "How deep?" }, call, ...rest]);
  const replacement = { ...call, arguments: '{"buoy":2}' };
  const mutation = (callId: string) => ({ type: "replace_function_call" as const, callId, replacement });
  await session.applyHistoryMutations({ mutations: [mutation("other")] });
  assert.deepEqual(await session.threads(), ["s"]);
  await session.applyHistoryMutations({ mutations: [mutation("c"), mutation("other")] });
  assert.deepEqual(await history(session), [{ role: "user", content: "How deep?" }, replacement, ...rest]);
});

test("an answer that a guardrail stops leaves the session as the runner wants it, and the next run goes on", async (t) => {
  const session = newSession(newStore(t));
  const respond = sailor();
  let trips = true;
  const agent = new Agent({
    name: "sailor",
    tools: [sound],
    model: new ScriptedModel(Array.from({ length: 4 }, () => respond)),
    outputGuardrails: [{ name: "first", execute: async () => ({ tripwireTriggered: trips, outputInfo: null }) }],
  });
  const runner = new Runner({ tracingDisabled: true });
  await assert.rejects(runner.run(agent, "How deep?", { session }), OutputGuardrailTripwireTriggered);
  trips = false;
  const { finalOutput } = await runner.run(agent, "Again: how deep?", { session });
  assert.equal(finalOutput, "Four fathoms.");
  const types = (await session.getItems()).map(({ type }) => type ?? "message");
  assert.ok(types.filter((type) => type === "function_call").length <= 2 && types.at(-1) === "message");
});

test("a compaction can be asked for, and one that the provider made is gone on with", async (t) => {
  const session = newSession(newStore(t));
  for (let n = 1; n <= 12; n += 1)
    await session.addItems([
      { role: "user", content: `question ${n} ${"deep ".repeat(40)}` },
      assistantMessage(`answer ${n}`),
    ]);
  const before = await session.getItems();
  assert.equal(await session.runCompaction({ force: true }), null);
  assert.ok((await session.getItems()).length < before.length);
  assert.equal((await history(session)).length, 24);
  const sealed: AgentInputItem[] = [
    { type: "compaction", encrypted_content: "sealed" },
    { role: "user", content: "And now?" },
  ];
  await session.replaceHistoryWithCompaction(sealed);
  assert.deepEqual(await session.getItems(), sealed);
  assert.deepEqual(await session.threads(), ["s", "s-1"]);
});

test("a name that can't be a thread's is refused in words", async (t) => {
  const session = newSession(newStore(t), "../s");
  await assert.rejects(session.getItems(), /session \.\.\/s can't be opened: the thread id/);
});

test("an item that nobody could read back is refused, and nothing of its batch is added", async (t) => {
  const session = newSession(newStore(t));
  const items = [
    { role: "user", content: "a" },
    { type: "function_call", callId: "c" },
  ] as AgentInputItem[];
  await assert.rejects(session.addItems(items), /nothing was added, an item can't be read: .*name/);
  assert.deepEqual(await history(session), []);
});
