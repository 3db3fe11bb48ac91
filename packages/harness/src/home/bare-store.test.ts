/** An agent on a store that keeps its log and nothing else: each thing that is missing has the consequence docs/stores.md says. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { memoryService } from "../features/memory/service.ts";
import type { MemoryEvent } from "../features/memory/storage.ts";
import { searchAll } from "../recall/search.ts";
import { openSqlite } from "../stores/sqlite.ts";
import type { Store } from "../stores/store.ts";
import { copyStore } from "../thread/copy.ts";
import { checkHome } from "./doctor.ts";
import { createAgentFromConfig } from "./from-config.ts";
import { configSchema } from "./schema.ts";

test("without an outbox nothing is learned from turns, which is said once; the rest of memory works, in files", async (t) => {
  const { agent, memory, events, home } = await setUp(t, { storage_class: "sqlite", debounce_seconds: 0 });
  await agent.generate({ threadId: "t", prompt: "My name is Ada and I prefer short answers." });
  await agent.generate({ threadId: "t", prompt: "I live in Bergen and have a boat." });
  const reasons = events.flatMap((event) => (event.type === "memory-failed" ? [event.reason] : []));
  assert.equal(reasons.filter((reason) => /no outbox/.test(reason)).length, 1, reasons.join("; "));
  assert.equal(reasons.filter((reason) => /kept in files/.test(reason)).length, 1, "said when it was opened");
  assert.deepEqual(await memory.queue.drain(1000), { kind: "drained" });
  const scope = { userId: "default", agentName: null };
  const service = memoryService({ repository: memory.repository, clock: () => new Date(), ids: () => "f1" });
  await service.add(scope, { content: "User likes tea" });
  assert.equal((await service.show(scope)).facts.length, 1);
  assert.match(memory.repository.storage.place(scope), new RegExp(`^${home}`));
});

test("without search tables a search reads the log, and without drafts a summary is written when it is due", async (t) => {
  const { agent, store } = await setUp(t, {});
  await agent.generate({ threadId: "t", prompt: "The launch code is kept in vault seven." });
  for (const bird of ["heron", "crane", "stork"])
    await agent.generate({ threadId: "t", prompt: `${bird} `.repeat(400) });
  assert.equal((await agent.compact("t")).kind, "compacted");
  const outcome = await searchAll(store, "which vault");
  assert.ok(outcome.kind === "found" && /vault seven/.test(outcome.hits[0]!.text), outcome.kind);
});

test("doctor finds nothing wrong with it, and a copy into it names the memories it can't keep", async (t) => {
  const { agent, store, home } = await setUp(t, {});
  await agent.generate({ threadId: "t", prompt: "Hello there" });
  const full = openSqlite({ path: ":memory:" });
  t.after(() => full.close());
  await full.memories.put("ada", "", { revision: 1, document: "{}" }, 0);
  const { memories, failed } = await copyStore(full, store);
  assert.deepEqual([failed, memories.failed.map(({ user, reason }) => [user, reason])], [[], [["ada", "unsupported"]]]);
  const checks = await checkHome({ home, cwd: home, env: {}, open: async () => store, derived: "rebuild" });
  assert.deepEqual(
    checks.filter(({ ok }) => !ok),
    [],
  );
});

async function setUp(t: TestContext, memory: object) {
  const home = mkdtempSync(join(tmpdir(), "palimpsest-bare-"));
  const store = logOnly(openSqlite({ path: ":memory:" }));
  const events: MemoryEvent[] = [];
  const summarization = { keep: { type: "messages", value: 2 } };
  const config = configSchema.parse({ memory, summarization });
  const onEvent = (event: { readonly type: string }) => events.push(event as MemoryEvent);
  const made = await createAgentFromConfig({ home, store, config, onEvent, onMemory: onEvent });
  t.after(async () => {
    await made.agent.close();
    await store.close();
    rmSync(home, { recursive: true, force: true });
  });
  return { agent: made.agent, memory: made.memory!, store, events, home };
}

function logOnly(full: Store): Store {
  const { search, drafts, memories, outbox, prompts, keys, upkeep, ...log } = full;
  return { ...log, forUser: (userId) => logOnly(full.forUser(userId)) };
}
