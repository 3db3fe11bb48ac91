import assert from "node:assert/strict";
import { test } from "node:test";
import { bothEngines, ENGINES } from "@palimpsest/testing/internal/both-engines";
import { say, writeThread } from "@palimpsest/testing/internal/thread-writer";
import { openStore } from "../stores/open.ts";
import type { PostingCount } from "../stores/search-tables.ts";
import type { FullStore, Store } from "../stores/store.ts";
import { fork } from "../thread/acts.ts";
import { redact } from "../thread/redact.ts";
import { threadDeps } from "../thread/writer.ts";
import { rebuildIndex } from "./catch-up.ts";
import { searchAll, searchThread } from "./search.ts";

const engines = bothEngines();

for (const engine of ENGINES) {
  const open = async () => (await openStore(engines.fresh(engine))) as FullStore;

  test(`a search over all reads as few rows for hundreds of threads as for a few: ${engine}`, async () => {
    const store = await open();
    const few = await threads(store, 0, 5, (at) => `note about the harbor, item${at}x`);
    const before = await rowsRead(store, "harbor item3x");
    await threads(store, few, 300, (at) => `note about the harbor, item${at}x`);
    await searchAll(store, "harbor");
    const after = await rowsRead(store, "harbor item299x");
    assert.deepEqual([before.found, after.found], ["t3", "t299"]);
    assert.equal(after.postings, before.postings);
    assert.equal(after.segments, 0);
    await store.close();
  });

  test(`threads that share blocks are found as in the log, however their messages came: ${engine}`, async () => {
    const store = await open();
    const writers = [];
    for (const id of ["a", "b", "c", "d"]) writers.push(await writeThread(store, id));
    for (let round = 0; round < 12; round += 1) {
      for (const [at, writer] of writers.entries())
        await say(writer, `round ${round} of thread${at} speaks of river${round}x`);
      if (round % 3 === 2) await searchAll(store, "river");
    }
    await fork(threadDeps(store), "b", { as: "e", at: 6 });
    for (const question of ["river3x", "thread2 river11x", "thread1 round"]) {
      await assertLikeLog(store, question);
      for (const id of ["a", "b", "e"]) await assertLikeLog(store, question, id);
    }
    await store.close();
  });

  test(`a thread that outgrows the shared blocks gets its own, once, and is found all the same: ${engine}`, async () => {
    const store = await open();
    const [small, large] = [await writeThread(store, "small"), await writeThread(store, "large")];
    await say(small, "a note about the lighthouse", "and one about lamp1x");
    for (let first = 0; first < 300; first += 50)
      await say(large, ...Array.from({ length: 50 }, (_, at) => `entry ${first + at} about lamp${first + at}x`));
    for (const question of ["lamp1x", "lamp40x", "lamp299x", "lighthouse"]) {
      await assertLikeLog(store, question);
      await assertLikeLog(store, question, "large");
    }
    const { large: own, entries } = await store.search.user();
    assert.deepEqual([own.map(({ threadId }) => threadId), entries], [["large"], 302]);
    assert.equal((await store.search.lineage("large"))[0]?.slots, undefined);
    await store.close();
  });

  test(`what is erased, deleted or rebuilt leaves the shared blocks to the others: ${engine}`, async () => {
    const store = await open();
    for (const id of ["a", "b", "c"]) {
      const writer = await writeThread(store, id);
      await say(writer, `the secret of ${id} is swordfish`, `${id} likes archery`);
      await searchAll(store, "archery");
      await store.releaseLease(writer.lease);
    }
    const other = store.forUser("bob");
    await say(await writeThread(other, "a"), "bob keeps the swordfish");
    assert.equal((await redact(threadDeps(store), "b", 1)).kind, "redacted");
    assert.deepEqual(await threadsWith(store, "swordfish"), ["a", "c"]);
    assert.equal(await store.deleteThread("c"), "deleted");
    assert.deepEqual(await threadsWith(store, "swordfish"), ["a"]);
    assert.equal((await store.search.user()).entries, 3);
    await rebuildIndex(store, "a");
    assert.deepEqual(await threadsWith(store, "swordfish archery"), ["a", "b"]);
    assert.deepEqual(await threadsWith(other, "swordfish"), ["a"]);
    assert.equal((await store.search.user()).entries, 3);
    await store.close();
  });
}

async function threads(store: FullStore, from: number, count: number, text: (at: number) => string): Promise<number> {
  for (let next = from; next < from + count; next += 1) await say(await writeThread(store, `t${next}`), text(next));
  return from + count;
}

async function rowsRead(store: FullStore, question: string) {
  let [postings, segments] = [0, 0];
  const { merging, ofUser } = store.search;
  const counting: FullStore = {
    ...store,
    search: {
      ...store.search,
      ofUser: async () => {
        const rows = await ofUser();
        segments += rows.length;
        return rows;
      },
      merging: {
        ...merging!,
        counts: async (...asked) => {
          const rows: readonly PostingCount[] = await merging!.counts(...asked);
          postings += rows.length;
          return rows;
        },
      },
    },
  };
  await searchAll(store, question);
  const result = await searchAll(counting, question);
  return { postings, segments, found: result.kind === "found" ? result.hits[0]!.threadId : null };
}

async function assertLikeLog(store: FullStore, question: string, threadId?: string): Promise<void> {
  const { search: _, ...log } = store;
  const of = async (one: Store) => {
    const result =
      threadId === undefined ? await searchAll(one, question) : await searchThread(one, threadId, question);
    return result.kind === "found" ? result.hits.map((hit) => [hit.threadId, hit.seq, hit.score]) : [];
  };
  const found = await of(store);
  if (threadId === undefined) assert.ok(found.length > 0, question);
  assert.deepEqual(found, await of(log), question);
}

async function threadsWith(store: Store, question: string): Promise<string[]> {
  const result = await searchAll(store, question);
  return result.kind === "found" ? [...new Set(result.hits.map(({ threadId }) => threadId))].sort() : [];
}
