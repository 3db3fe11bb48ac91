/**
 * Erasing, held to every byte: a home in which words have gone wherever words go (logs, forks, sub-agents, summaries,
 * drafts, titles, evidence, memory, prompts, files), and after each way of erasing none is left anywhere.
 */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type ScriptedCall, type ScriptedStep, scriptedModel } from "@palimpsest/testing";
import { tool } from "ai";
import { z } from "zod";
import type { Agent } from "../../src/agent/agent.ts";
import { type EraseDeps, eraseMessage, forgetEverywhere } from "../../src/features/memory/erase-message.ts";
import { memory } from "../../src/features/memory/middleware.ts";
import { memoryJob } from "../../src/features/memory/queue.ts";
import { openRepository } from "../../src/features/memory/repository.ts";
import { memoryService } from "../../src/features/memory/service.ts";
import type { MemoryStorage } from "../../src/features/memory/storage.ts";
import { createUpdater } from "../../src/features/memory/updater.ts";
import { delegationsOf } from "../../src/features/subagents/delegations.ts";
import { createDeepAgent } from "../../src/home/create-deep-agent.ts";
import { cleanThreadFiles, deleteThreadWithFiles } from "../../src/home/home-acts.ts";
import { openSqlite } from "../../src/stores/sqlite.ts";
import type { Store } from "../../src/stores/store.ts";
import { fork, withWriter } from "../../src/thread/acts.ts";
import { rebuildHead, verify } from "../../src/thread/audit.ts";
import { copyStore } from "../../src/thread/copy.ts";
import { commit, threadDeps } from "../../src/thread/writer.ts";
import { taskCall } from "../subagents/subagent-kit.ts";

export interface ErasePlace {
  readonly home: string;
  readonly store: Store;
  readonly storage: MemoryStorage;
  /** Everything the database holds, as it lies there. */
  dump(): Promise<Buffer>;
  close(): Promise<void>;
}

/** Nothing else holds any of these. */
const WORD = {
  boat: "zebrafishquark",
  tool: "ocelotplasma",
  task: "ibexneutrino",
  todo: "lemurboson",
  hand: "gnuphoton",
  thread: "tapirmuon",
};
const OWN = { userId: "default", agentName: null };
const BOAT = `My boat is called ${WORD.boat} and it lies in the harbor.`;

export function eraseSuite(name: string, open: () => Promise<ErasePlace>): void {
  describe(`erasing on ${name}`, () => {
    let place: ErasePlace;
    let world: World;
    before(async () => {
      place = await open();
      world = await fill(place);
    });
    after(async () => {
      await world?.agent.close();
      await place.close();
    });
    // In this order, as each goes on from what the ones before have left.
    for (const [title, work] of Object.entries(CASES)) test(title, () => work(world, place));
  });
}

type World = Awaited<ReturnType<typeof fill>>;

const CASES: Readonly<Record<string, (world: World, place: ErasePlace) => Promise<void>>> = {
  "the words stand in logs, memory and files before anything is erased": async (_, place) => {
    for (const word of Object.values(WORD)) assert.notDeepEqual(await whereIs(place, word), [], word);
    const kinds = new Set<string>();
    for (const threadId of await threadsOf(place.store))
      for await (const { chained } of place.store.records(threadId))
        if (`${chained.header}${chained.body}`.includes(WORD.boat)) kinds.add(chained.kind);
    assert.deepEqual([...kinds].sort(), ["compaction", "event", "evidence", "message", "state"]);
  },

  "a redacted message is nowhere any more, nor what was learned, shown, cited, summarized or prepared of it": async (
    world,
    place,
  ) => {
    const done = await eraseMessage(world.kit, "a", world.boat);
    assert.equal(done.kind, "redacted");
    if (done.kind !== "redacted") return;
    assert.deepEqual([done.facts.length, done.busy, done.scrubbed], [1, [], { kind: "clean" }]);
    assert.ok(done.threads.includes("a-fork"));
    assert.deepEqual(await whereIs(place, WORD.boat), []);
    await sound(place.store);
    const again = await eraseMessage(world.kit, "a", world.boat);
    assert.equal(again.kind, "already-redacted");
    await sound(place.store);
  },

  "a redacted tool result takes its stored output along, a redacted call its copies in state and sub-agent": async (
    world,
    place,
  ) => {
    for (const word of [WORD.tool, WORD.todo, WORD.task]) {
      // The call, and then the result, in which a tool or a sub-agent repeats it.
      for (let seq = await findMessage(place.store, "a", word); seq > 0; ) {
        assert.equal((await eraseMessage(world.kit, "a", seq)).kind, "redacted");
        seq = await findMessage(place.store, "a", word);
      }
      assert.deepEqual(await whereIs(place, word), []);
    }
    await sound(place.store);
  },

  "a fact that is forgotten with its words is nowhere any more, also when it is asked for again": async (
    world,
    place,
  ) => {
    const { facts } = await world.service.show(OWN);
    const { id } = facts.find(({ content }) => content.includes(WORD.hand))!;
    const request = { scope: OWN, ids: [id], turns: "redact" } as const;
    const done = await forgetEverywhere(world.kit, world.service, request);
    assert.equal(done.kind, "forgotten");
    assert.deepEqual(await whereIs(place, WORD.hand), []);
    await sound(place.store);
    assert.equal((await forgetEverywhere(world.kit, world.service, request)).kind, "forgotten");
    await world.ask("b", "And what do you know of me now?");
    assert.deepEqual(await whereIs(place, WORD.hand), []);
  },

  "a deleted thread leaves nothing: neither in the database, nor on the disk, nor as evidence in others, nor with sub-agents":
    async (world, place) => {
      const done = await deleteThreadWithFiles(world.kit.deps, place.home, "gone");
      assert.deepEqual(done, { kind: "deleted", scrubbed: { kind: "clean" } });
      assert.deepEqual(await whereIs(place, WORD.thread), []);
    },

  "what was erased stays erased in a copy of the store, and its logs are whole there": async (_, place) => {
    const copy = openSqlite({ path: ":memory:" });
    try {
      assert.deepEqual((await copyStore(place.store, copy)).failed, []);
      await sound(copy);
      for (const threadId of await threadsOf(copy))
        for await (const { chained } of copy.records(threadId))
          for (const word of Object.values(WORD)) assert.ok(!`${chained.header}${chained.body}`.includes(word), word);
    } finally {
      await copy.close();
    }
  },
};

async function fill({ home, store, storage }: ErasePlace) {
  const own = threadDeps(store);
  const repository = openRepository(storage, own.clock);
  const service = memoryService({ repository, clock: own.clock, ids: own.ids });
  let answer: ScriptedStep = "Fine.";
  const model = scriptedModel((call) => answerTo(call, () => answer));
  const agent: Agent = createDeepAgent({
    model,
    store,
    files: { base: home },
    window: 100_000,
    memory: memory({ repository }),
    tools: {
      look: tool({ inputSchema: z.object({}), execute: async () => `found ${WORD.tool}\n`.repeat(3000) }),
    },
  });
  const ask = async (threadId: string, prompt: string, step: ScriptedStep = "Fine."): Promise<void> => {
    answer = step;
    await agent.generate({ threadId, prompt });
  };
  await service.add(OWN, { content: `User collects ${WORD.hand} stamps` });
  await ask("a", BOAT);
  const boat = await findMessage(store, "a", WORD.boat);
  const updater = createUpdater({
    store,
    repository,
    clock: own.clock,
    ids: own.ids,
    emit: () => {},
    settings: { maxFacts: 100, factConfidenceThreshold: 0.7 },
    extract: async () => LEARNED,
  });
  await updater.process(
    memoryJob({
      userId: store.userId,
      threadId: "a",
      agentName: "default",
      throughSeq: (await store.head("a"))!.version,
    }),
  );
  assert.equal((await service.show(OWN)).facts.length, 2, "the fact was learned");
  await ask("b", "What is my boat called, and where does it lie in the harbor?");
  await withWriter(own, "b", async (writer) => {
    // As versions before this one recorded a prompt: with the block in it.
    const { memory: block } = (await store.head("b"))!.state as { memory: { text: string } };
    await commit(writer, [
      { kind: "event", event: { type: "request", hash: "h", system: `Hi.\n\n${block.text}`, tools: [] } },
    ]);
  });
  await ask("a", "Look around, please", { calls: [{ name: "look", input: {} }] });
  await ask("a", "Note it down", {
    calls: [{ name: "write_todos", input: { todos: [{ content: `Paint the ${WORD.todo}`, status: "pending" }] } }],
  });
  await ask("a", "Let somebody do it", { calls: [taskCall(`Find out about ${WORD.task} quickly`)] });
  await agent.compact("a", { keep: { type: "messages", value: 2 } });
  for (const threadId of ["a", "b"]) await fork(own, threadId, { as: `${threadId}-fork` });
  await store.drafts!.put("a", "summary", JSON.stringify({ text: BOAT }), own.clock().toISOString());
  await ask("gone", `I once met a ${WORD.thread} in the woods.`);
  await ask("gone", "Ask around", { calls: [taskCall(`Look for the ${WORD.thread} in the woods`)] });
  await ask("b", "What did I once meet in the woods?");
  await mkdirWrite(join(home, "threads", "gone", "uploads", "note.txt"), WORD.thread);
  // As a memory that could not be read is set aside.
  if (storage.forgetCopies !== undefined)
    writeFileSync(
      join(home, "memory.json.corrupt-0a1b2c3d"),
      `{"facts": [{"content": "User's boat is called ${WORD.boat}"}, {`,
    );
  assert.equal(delegationsOf((await store.head("a"))!.state).length, 1);
  const kit: EraseDeps = { deps: own, repository, cleanFiles: (threadId) => cleanThreadFiles(home, store, threadId) };
  return { agent, service, kit, ask, boat };
}

const LEARNED = JSON.stringify({
  additions: [
    { content: `User's boat is called ${WORD.boat}`, confidence: 0.95, quote: `My boat is called ${WORD.boat}` },
  ],
  sections: { topOfMind: { text: `Their boat ${WORD.boat} lies in the harbor.`, confidence: 0.9, quote: BOAT } },
});

/** The step that was asked for, then "Fine."; a child says what it was asked about, a summary all it is shown. */
function answerTo({ prompt, options }: ScriptedCall, next: () => ScriptedStep): ScriptedStep {
  const text = JSON.stringify(prompt);
  if (prompt.at(-1)!.role === "tool") return "Fine.";
  if (options.tools?.some(({ name }) => name === "task")) return next();
  const asked = prompt.length < 4 ? [WORD.task, WORD.thread].find((word) => text.includes(word)) : undefined;
  return asked === undefined ? `They told of ${WORD.boat}.` : `All of ${asked} is known.`;
}

async function mkdirWrite(path: string, text: string): Promise<void> {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
}

async function threadsOf(store: Store): Promise<string[]> {
  return (await store.threads({ limit: 100 })).threads.map(({ header }) => header.id);
}

/** The first message that says it; 0: none. */
async function findMessage(store: Store, threadId: string, word: string): Promise<number> {
  for await (const { record } of store.records(threadId, { kinds: ["message"] }))
    if (record.kind === "message" && record.body.includes(word)) return record.seq;
  return 0;
}

async function sound(store: Store): Promise<void> {
  const own = threadDeps(store);
  for (const threadId of await threadsOf(store)) {
    const verdict = await verify(own, threadId);
    assert.equal(verdict.kind, "whole", `${threadId}: ${JSON.stringify(verdict)}`);
    assert.equal((await rebuildHead(own, threadId)).kind, "equal", threadId);
  }
}

async function whereIs({ home, dump }: ErasePlace, word: string): Promise<string[]> {
  const found = readdirSync(home, { recursive: true, encoding: "utf8" }).filter((name) => {
    const path = join(home, name);
    return name.includes(word) || (statSync(path).isFile() && readFileSync(path).includes(word));
  });
  return [...found, ...((await dump()).includes(word) ? ["the database"] : [])];
}
