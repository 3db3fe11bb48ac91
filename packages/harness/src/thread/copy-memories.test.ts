import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { bothEngines, ENGINES } from "@palimpsest/testing/internal/both-engines";
import { learn, learned, takeTurn } from "@palimpsest/testing/internal/queue-learner";
import { writeThread } from "@palimpsest/testing/internal/thread-writer";
import { storeStorage } from "../features/memory/create-memory.ts";
import { createMemoryQueue } from "../features/memory/queue.ts";
import { openRepository } from "../features/memory/repository.ts";
import { memoryService } from "../features/memory/service.ts";
import { openStore } from "../stores/open.ts";
import type { FullStore } from "../stores/store.ts";
import { copyStore } from "./copy.ts";
import { redact } from "./redact.ts";

const engines = bothEngines();

const OWN = { userId: "ada", agentName: null };
const CODER = { userId: "ada", agentName: "coder" };
const OTHER = { userId: "ben", agentName: null };

for (const source of ENGINES) {
  const target = source === "SQLite" ? "PostgreSQL" : "SQLite";
  const open = async (): Promise<readonly [FullStore, FullStore]> => [
    await openStore(engines.fresh(source)),
    await openStore(engines.fresh(target)),
  ];

  test(`${source} to ${target}: memories arrive with their history and watermarks, once, and later changes follow`, async () => {
    const [from, to] = await open();
    const service = serviceOf(from);
    const tea = await service.add(OWN, { content: "User likes \u0000 green tea 😀" });
    await service.add(OWN, { content: "User lives in Bergen" });
    await service.add(CODER, { content: "User writes Rust" });
    await service.add(OTHER, { content: "User likes jazz" });
    await repositoryOf(from).change(
      OWN,
      () => ({ changes: [], also: (now) => ({ ...now, watermarks: { t: 7 } }) }),
      "conversation",
    );
    assert.deepEqual((await copyStore(from, to)).memories, { copied: 3, present: 0, failed: [] });
    await assertSame(from, to);
    assert.deepEqual((await serviceOf(to).show(OWN)).watermarks, { t: 7 });
    assert.deepEqual((await copyStore(from, to)).memories, { copied: 0, present: 3, failed: [] });
    assert.ok(tea.kind === "added");
    await service.forget(OWN, [tea.fact.id], "erase");
    assert.deepEqual((await copyStore(from, to)).memories, { copied: 1, present: 2, failed: [] });
    await assertSame(from, to);
    assert.doesNotMatch((await to.memories.get("ada", ""))!.document, /green tea/);
    assert.equal((await serviceOf(to).undo(OWN, "c2")).kind, "undone");
    await Promise.all([from.close(), to.close()]);
  });

  test(`${source} to ${target}: a memory that went its own way in the target is reported and left as it is`, async () => {
    const [from, to] = await open();
    await serviceOf(from).add(OWN, { content: "User likes tea" });
    await copyStore(from, to);
    await serviceOf(to).add(OWN, { content: "User likes cocoa" });
    await serviceOf(to).add(OTHER, { content: "User likes chess" });
    for (const content of ["User likes coffee", "User likes juice"]) {
      await serviceOf(from).add(OWN, { content });
      await serviceOf(from).add(OTHER, { content });
    }
    const { memories } = await copyStore(from, to);
    assert.deepEqual(
      [memories.copied, memories.present, memories.failed.map(({ user, agent, reason }) => [user, agent, reason])],
      [
        0,
        0,
        [
          ["ada", "", "different"],
          ["ben", "", "different"],
        ],
      ],
    );
    assert.match((await to.memories.get("ada", ""))!.document, /cocoa/);
    assert.match((await to.memories.get("ben", ""))!.document, /chess/);
    await Promise.all([from.close(), to.close()]);
  });

  test(`${source} to ${target}: what waits to be learned from in the source is learned in the target`, async () => {
    const [from, to] = (await open()).map((store) => store.forUser("ada")) as [FullStore, FullStore];
    const writer = await writeThread(from, "t");
    const asked = createMemoryQueue(from, {
      process: (job) => learn(from, job),
      debounceSeconds: 3600,
      starts: "by-hand",
    });
    await takeTurn(writer, asked, "My pin is 4711.");
    await takeTurn(writer, asked, "I have a parrot.");
    await from.releaseLease(writer.lease);
    assert.equal((await redact(writer, "t", 1)).kind, "redacted");
    await copyStore(from, to);
    assert.deepEqual(
      (await to.outbox.list()).map(({ threadId, userId, key }) => [threadId, userId, key]),
      [["t", "ada", "default"]],
    );
    const queue = createMemoryQueue(to, { process: (job) => learn(to, job), pollMs: 20 });
    const { kind, threads } = await queue.retry(60_000);
    await queue.stop();
    assert.deepEqual([kind, threads], ["drained", ["t"]]);
    assert.deepEqual((await learned(to, "t")).texts, ["[redacted]", "I have a parrot."]);
    await copyStore(from, to);
    assert.deepEqual(await to.outbox.list(), [], "what was learned is not queued again");
    await Promise.all([from.close(), to.close()]);
  });
}

test("more memories than one page holds all arrive", async () => {
  const [from, to] = [await openStore(engines.fresh("SQLite")), await openStore(engines.fresh("SQLite"))];
  for (let number = 0; number < 501; number++)
    await from.memories.put(
      `user${number}`,
      number % 2 === 0 ? "" : "coder",
      { revision: 1, document: `{"facts":[${number}]}` },
      0,
    );
  const seen: number[] = [];
  const { memories } = await copyStore(from, to, {
    onProgress: (progress) => "memories" in progress && seen.push(progress.memories),
  });
  assert.deepEqual(memories, { copied: 501, present: 0, failed: [] });
  assert.equal(seen.at(-1), 501);
  await assertSame(from, to);
  await Promise.all([from.close(), to.close()]);
});

/** All changes in the same millisecond, as on a fast machine: the time tells none of them apart. */
const clock = () => new Date("2026-01-01T12:00:00Z");

function repositoryOf(store: FullStore) {
  return openRepository(storeStorage(store, "sqlite"), clock);
}

function serviceOf(store: FullStore) {
  return memoryService({ repository: repositoryOf(store), clock, ids: randomUUID });
}

async function assertSame(from: FullStore, to: FullStore): Promise<void> {
  const keys = await from.memories.list();
  assert.deepEqual(await to.memories.list(), keys);
  for (const { userId, agentName } of keys)
    assert.deepEqual(await to.memories.get(userId, agentName), await from.memories.get(userId, agentName));
}
