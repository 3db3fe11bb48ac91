/** A store that was lived in, with everything people and agents do to threads, copied from engine to engine and back. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import { addRule } from "@palimpsest/core/internal/log";
import { scriptedModel } from "@palimpsest/testing";
import { bothEngines } from "@palimpsest/testing/internal/both-engines";
import { citusStore, noCitus } from "@palimpsest/testing/internal/citus";
import { collect } from "@palimpsest/testing/internal/kit";
import { writeThread } from "@palimpsest/testing/internal/thread-writer";
import { plainCounter } from "../../test/agent/agent-kit.ts";
import { assertSame } from "../../test/threads/same-store.ts";
import { storeStorage } from "../features/memory/create-memory.ts";
import { openRepository } from "../features/memory/repository.ts";
import { memoryService } from "../features/memory/service.ts";
import { createDeepAgent } from "../home/create-deep-agent.ts";
import { searchThread } from "../recall/search.ts";
import { openStore } from "../stores/open.ts";
import { MAX_ATTEMPTS } from "../stores/outbox.ts";
import type { FullStore } from "../stores/store.ts";
import { fork, undo } from "./acts.ts";
import { changeNote, changeRules, cutThread, editSummary, summaryItems, threadNotes, threadRules } from "./chosen.ts";
import { copyStore } from "./copy.ts";
import { redact } from "./redact.ts";
import { threadDeps, type Writer } from "./writer.ts";

const engines = bothEngines();

test("SQLite to PostgreSQL and back: whatever was done to threads, memories and jobs arrives as it was", async (t) => {
  await circle(t, [engines.fresh("SQLite"), engines.fresh("PostgreSQL"), engines.fresh("SQLite")]);
});

test("SQLite to PostgreSQL to Citus to SQLite: whatever was done to threads, memories and jobs arrives as it was", {
  skip: noCitus ?? false,
}, async (t) => {
  const citus = await citusStore();
  t.after(() => citus.drop());
  await circle(t, [engines.fresh("SQLite"), engines.fresh("PostgreSQL"), citus.url, engines.fresh("SQLite")]);
});

async function circle(t: TestContext, targets: readonly string[]): Promise<void> {
  const stores: FullStore[] = [];
  t.after(() => Promise.all(stores.map((store) => store.close())));
  for (const target of targets) stores.push((await openStore(target)).forUser("ada"));
  const [first, ...others] = stores;
  await liveIn(first!);
  const told = await tellOf(first!);
  for (const [index, to] of others.entries()) {
    const { copied, failed, memories } = await copyStore(stores[index]!, to);
    assert.deepEqual(
      { copied, failed, memories },
      { copied: 3, failed: [], memories: { copied: 1, present: 0, failed: [] } },
    );
    await assertSame(first!, to);
    assert.deepEqual(await tellOf(to), told);
  }
}

async function liveIn(store: FullStore): Promise<void> {
  const model = scriptedModel(({ index }) => `Answer ${index}: ${"the tide turns at six, ".repeat(20)}`);
  const agent = createDeepAgent({ model, store, counter: plainCounter, window: 4000, summarizer: null });
  for (let turn = 0; turn < 30; turn += 1)
    await agent.generate({
      threadId: "t",
      prompt: `Question ${turn}, of heron ${turn}? ${"some more words ".repeat(30)}`,
    });
  await agent.close();
  const writer = await writeThread(store, "t");
  const { compaction } = (await summaryItems(writer, "t"))!;
  assert.notEqual(compaction, null, "the agent has compacted");
  assert.equal(
    (await changeRules(writer, (rules, at) => addRule(rules, { text: "Answer in metric units." }, at))).kind,
    "changed",
  );
  assert.equal(
    (await changeNote(writer, { name: "plan", text: "Count the herons.", revision: 0 }, "person")).kind,
    "written",
  );
  assert.equal(
    (await editSummary(writer, { act: "add", section: "decisions", text: "We meet at dawn." }, "act")).kind,
    "edited",
  );
  await cutTail(writer);
  await store.releaseLease(writer.lease);
  assert.equal((await fork(threadDeps(store), "t", { as: "fork", at: 20 })).kind, "forked");
  assert.equal((await fork(threadDeps(store), "fork", { as: "fork-of-fork", at: 10 })).kind, "forked");
  const own = await writeThread(store, "fork");
  await undo(own);
  await store.releaseLease(own.lease);
  assert.equal((await redact(threadDeps(store), "fork-of-fork", 4)).kind, "redacted");
  await store.outbox.queue!("fork", {
    queue: "memory",
    key: "",
    payload: { through: 3 },
    delayMs: 3_600_000,
    maxAttempts: MAX_ATTEMPTS,
    now: Date.now(),
  });
  await serviceOf(store).add({ userId: "ada", agentName: null }, { content: "User likes green tea" });
}

/** Folds two of the messages that are still shown, and hides one behind them. */
async function cutTail(writer: Writer): Promise<void> {
  const { head } = (await writer.store.load("t"))!;
  const shown = await collect(writer.store.records("t"));
  const messages = shown.filter(({ chained }) => chained.kind === "message" && chained.seq > head.hiddenThrough);
  const [from, until, hidden] = [0, 1, 2].map((at) => messages[at]!.chained.seq) as [number, number, number];
  assert.equal(
    (await cutThread(writer, { kind: "fold", range: [from, until], report: "Herons were counted." }, "act")).kind,
    "cut",
  );
  assert.equal((await cutThread(writer, { kind: "hide", seq: hidden, part: null }, "act")).kind, "cut");
}

/** What is read out of a store beside its records. */
async function tellOf(store: FullStore) {
  const deps = threadDeps(store, { clock: () => new Date(0) });
  const jobs = await store.outbox.list("memory");
  const found = await searchThread(store, "t", "heron 3");
  return {
    rules: await threadRules(deps, "t"),
    notes: await threadNotes(deps, "t"),
    summary: await summaryItems(deps, "t"),
    sharers: await store.sharers("t", 4),
    memory: await store.memories.get("ada", ""),
    jobs: jobs.map(({ userId, threadId, key, payload, state }) => ({ userId, threadId, key, payload, state })),
    hits: found.kind === "found" ? found.hits.map(({ seq }) => seq) : found,
  };
}

function serviceOf(store: FullStore) {
  const clock = () => new Date();
  return memoryService({ repository: openRepository(storeStorage(store, "sqlite"), clock), clock, ids: randomUUID });
}
