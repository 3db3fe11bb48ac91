import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { scriptedModel } from "@palimpsest/testing";
import { createAgent } from "../../agent/agent.ts";
import { createDeepAgent } from "../../home/create-deep-agent.ts";
import { openSqlite } from "../../stores/sqlite.ts";
import { createMemory } from "./create-memory.ts";
import type { MemoryEvent } from "./storage.ts";

const SAID = "I drink green tea, always.";
const FACT = "User drinks green tea.";
/** What an extraction model answers: that this was said. */
const LEARNS = JSON.stringify({
  additions: [{ content: FACT, category: "preference", confidence: 0.95, quote: SAID, seqs: [2] }],
});

for (const user of ["auth0|123", "ann@example.org", "did:web:x", "Ada", "ada"]) {
  test(`a server that runs learns what ${user} says, with one call and nothing to start`, async (t) => {
    const store = openSqlite({ path: ":memory:" });
    const learned = Promise.withResolvers<MemoryEvent>();
    const memory = createMemory({
      store,
      model: scriptedModel([LEARNS]),
      debounceSeconds: 0,
      onEvent: (event) => {
        if (event.type === "memory-persisted") learned.resolve(event);
        if (event.type === "memory-failed" || event.type === "memory-refused")
          learned.reject(new Error(inspect(event)));
      },
    });
    const agent = createDeepAgent({ model: scriptedModel(["Noted.", "Green."]), store, memory, window: 50_000 });
    // As a server's socket would: the worker keeps no process alive.
    const alive = setInterval(() => {}, 1000);
    t.after(async () => {
      clearInterval(alive);
      await agent.close();
      await memory.close(0);
      await store.close();
    });
    await agent.generate({ threadId: "monday", userId: user, prompt: SAID });
    await learned.promise;
    const { facts } = await memory.service.show({ userId: user });
    assert.deepEqual(
      facts.map(({ content }) => content),
      [FACT],
    );
    const other = user.toLowerCase() === user ? user.toUpperCase() : user.toLowerCase();
    assert.deepEqual((await memory.service.show({ userId: other })).facts, []);
    const next = await agent.generate({ threadId: "tuesday", userId: user, prompt: "What tea do I drink?" });
    assert.equal(next.end.kind, "answered");
  });
}

test("closing learns what is still to be learned, by a function of one's own", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  const memory = createMemory({
    store,
    model: async () => LEARNS,
    debounceSeconds: 3600,
  });
  const agent = createAgent({
    model: scriptedModel(["Noted."]),
    store,
    middleware: [memory.middleware],
    window: 50_000,
  });
  t.after(() => store.close());
  await agent.generate({ threadId: "t", prompt: SAID });
  assert.deepEqual((await memory.service.show({ userId: "default" })).facts, []);
  await agent.close();
  assert.deepEqual(await memory.close(), { kind: "drained" });
  assert.equal((await memory.service.show({ userId: "default" })).facts.length, 1);
});

test("a store that can't keep memory, or what is to be learned, is refused with a sentence that says what to do", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const model = scriptedModel([]);
  const { memories: _, ...withoutMemories } = store;
  assert.throws(() => createMemory({ store: withoutMemories, model }), {
    code: "unwritable",
    message: /give a storage, such as fileStorage/,
  });
  const { outbox: __, ...withoutOutbox } = store;
  assert.throws(() => createMemory({ store: withoutOutbox, model }), { code: "unwritable", message: /has no outbox/ });
});
