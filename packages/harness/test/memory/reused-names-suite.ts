/**
 * A thread's id may be used again, and a database restored from a backup: what memory has learned, fenced and marked as read
 * under a name must not be taken for the new thread's. One suite for both engines.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { ChainedRecord, Head, ThreadHeader } from "@palimpsest/core/internal/log";
import { writeDocument } from "@palimpsest/core/internal/memory";
import { storeStorage } from "../../src/features/memory/create-memory.ts";
import { forgetEverywhere } from "../../src/features/memory/erase-message.ts";
import { memoryJob } from "../../src/features/memory/queue.ts";
import { openRepository } from "../../src/features/memory/repository.ts";
import { memoryService } from "../../src/features/memory/service.ts";
import { forgetThread } from "../../src/features/memory/source-turns.ts";
import { createUpdater } from "../../src/features/memory/updater.ts";
import type { FullStore } from "../../src/stores/store.ts";
import { appendMessages, withWriter } from "../../src/thread/acts.ts";
import { createThread, threadDeps } from "../../src/thread/writer.ts";

const USER = "ann@example.org";
const SCOPE = { userId: USER, agentName: null };

export function reusedNames(name: string, open: (t: TestContext) => Promise<FullStore>): void {
  test(`${name}: a thread whose id was used before is learned from at once`, async (t) => {
    const kit = await setUp(await open(t));
    await kit.say("I live in Oslo", "I like tea");
    await kit.learn("User lives in Oslo", "I live in Oslo");
    await kit.restart();
    await kit.say("I work at Siemens");
    await kit.learn("User works at Siemens", "I work at Siemens");
    assert.deepEqual(await kit.facts(), ["User lives in Oslo", "User works at Siemens"]);
  });

  test(`${name}: forgetting what a deleted thread taught erases and fences nothing of the one that has its id now`, async (t) => {
    for (const how of ["known by id", "known by time"] as const) {
      const kit = await setUp(await open(t));
      await kit.say("I live in Oslo");
      await kit.learn("User lives in Oslo", "I live in Oslo");
      if (how === "known by time") await kit.asOlderVersionsWrote();
      await kit.restart();
      await kit.say("I live in Bergen by the sea");
      const [oslo] = (await kit.service.show(SCOPE)).facts;
      const done = await kit.forget(oslo!.id);
      assert.deepEqual([done.kind === "forgotten" && done.redacted, await kit.facts()], [[], []], how);
      assert.match((await kit.texts())[0]!, /Bergen/);
      await kit.learn("User lives in Bergen", "I live in Bergen");
      assert.deepEqual(await kit.facts(), ["User lives in Bergen"], how);
    }
  });

  test(`${name}: a fence holds for the message it was set on, and for no other of that name`, async (t) => {
    const kit = await setUp(await open(t));
    await kit.say("I live in Oslo");
    await kit.learn("User lives in Oslo", "I live in Oslo");
    await kit.service.forget(SCOPE, [(await kit.service.show(SCOPE)).facts[0]!.id]);
    await kit.restart();
    await kit.say("I live in Oslo again");
    await kit.learn("User lives in Oslo", "I live in Oslo");
    assert.deepEqual(await kit.facts(), ["User lives in Oslo"]);
  });

  test(`${name}: a database restored from a backup, with the watermark ahead, is learned from`, async (t) => {
    const kit = await setUp(await open(t));
    await kit.say("I live in Oslo");
    const backup = await backUp(kit.store);
    await kit.say("I like tea", "I own a boat");
    await kit.learn("User likes tea", "I like tea");
    await restore(kit.store, backup);
    for (const text of ["I work at Siemens", "I have a cat", "I swim on Mondays"]) await kit.say(text);
    await kit.learn("User works at Siemens", "I work at Siemens");
    assert.deepEqual(await kit.facts(), ["User likes tea", "User works at Siemens"]);
  });
}

export function deletedThreads(name: string, open: (t: TestContext) => Promise<FullStore>): void {
  test(`${name}: deleting a thread takes its names out of memory and leaves what was learned`, async (t) => {
    const kit = await setUp(await open(t));
    await kit.say("I live in Oslo");
    await kit.learn("User lives in Oslo", "I live in Oslo");
    await forgetThread(kit.repository, USER, "t");
    const document = (await kit.repository.storage.reload(SCOPE))!;
    assert.equal(document.facts[0]!.content, "User lives in Oslo");
    assert.doesNotMatch(JSON.stringify(document), /t#\d|"t":/);
  });
}

async function setUp(opened: FullStore) {
  const store = opened.forUser(USER);
  let now = Date.UTC(2026, 0, 1);
  const clock = (): Date => {
    now += 60_000;
    return new Date(now);
  };
  const own = threadDeps(store, { clock });
  const repository = openRepository(storeStorage(store, "sqlite"), own.clock);
  const service = memoryService({ repository, clock: own.clock, ids: own.ids });
  await createThread(own, { id: "t" });
  const write = async (texts: readonly string[]): Promise<void> => {
    const messages = texts.flatMap((content) => [
      { dialect: "openai", origin: "user", body: { role: "user", content } } as const,
      { dialect: "openai", origin: "model", body: { role: "assistant", content: "I see." } } as const,
    ]);
    assert.equal((await withWriter(own, "t", (writer) => appendMessages(writer, messages))).kind, "done");
  };
  const restart = async (): Promise<void> => {
    assert.equal(await store.deleteThread("t"), "deleted");
    assert.equal(await createThread(own, { id: "t" }), "created");
  };
  return {
    store,
    repository,
    service,
    restart,
    say: (...texts: string[]) => write(texts),
    async learn(content: string, quote: string) {
      const addition = { content, category: "context", confidence: 0.9, quote };
      const updater = createUpdater({
        store: opened,
        repository,
        clock: own.clock,
        ids: own.ids,
        emit: () => {},
        settings: { maxFacts: 100, factConfidenceThreshold: 0.7 },
        extract: async () => JSON.stringify({ additions: [addition] }),
      });
      await updater.process(
        memoryJob({ userId: USER, threadId: "t", agentName: "default", throughSeq: (await store.head("t"))!.version }),
      );
    },
    facts: async () => (await service.show(SCOPE)).facts.map(({ content }) => content),
    forget: (id: string) =>
      forgetEverywhere({ deps: own, repository, cleanFiles: null }, service, {
        scope: SCOPE,
        ids: [id],
        turns: "redact",
      }),
    async texts() {
      const found: string[] = [];
      for await (const { chained } of store.records("t", { kinds: ["message"] })) found.push(chained.body!);
      return found;
    },
    async asOlderVersionsWrote() {
      const { marks, sources, ...document } = (await repository.storage.reload(SCOPE))!;
      assert.ok(marks !== undefined && sources !== undefined);
      const revision = document.revision! + 1;
      const row = { revision, document: writeDocument({ ...document, revision }) };
      assert.equal(await store.memories.put(USER, "", row, document.revision!), "saved");
    },
  };
}

interface Backup {
  readonly header: ThreadHeader;
  readonly head: Head;
  readonly records: readonly ChainedRecord[];
}

async function backUp(store: FullStore): Promise<Backup> {
  const records: ChainedRecord[] = [];
  for await (const { chained } of store.records("t")) records.push(chained);
  return { header: (await store.header("t"))!, head: (await store.head("t"))!, records };
}

async function restore(store: FullStore, { header, head, records }: Backup): Promise<void> {
  assert.equal(await store.deleteThread("t"), "deleted");
  assert.equal(await store.createThread(header, { ...head, version: 0 }), "created");
  const taken = await store.acquireLease("t", "restore", 30_000);
  assert.ok(taken.kind === "acquired");
  assert.equal((await store.append("t", { expect: 0, records, head, lease: taken.lease })).kind, "appended");
  await store.releaseLease(taken.lease);
}
