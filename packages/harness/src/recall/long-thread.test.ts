/** Threads of so many blocks that lists are read only as they are needed, and full blocks are merged where a store does so. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type IndexEntry, indexEntry, MemoryIndex, type Placement, place } from "@palimpsest/core/internal/recall";
import { differences } from "@palimpsest/core/internal/recall-conformance";
import { bothEngines, ENGINES } from "@palimpsest/testing/internal/both-engines";
import { say, writeThread } from "@palimpsest/testing/internal/thread-writer";
import { openStore } from "../stores/open.ts";
import {
  blockMark,
  listOfBlock,
  partWriter,
  postingWriter,
  readPostings,
  withoutEntry,
} from "../stores/posting-text.ts";
import type { IndexBatch } from "../stores/search-tables.ts";
import type { FullStore } from "../stores/store.ts";
import { fork } from "../thread/acts.ts";
import { redact } from "../thread/redact.ts";
import { threadDeps } from "../thread/writer.ts";
import { catchUp } from "./catch-up.ts";
import { partSize, storedIndex } from "./stored-index.ts";

const engines = bothEngines();

const THREAD = { kind: "thread", threadId: "t" } as const;
const FORK = { kind: "thread", threadId: "fork" } as const;
/** Where the five messages that are in the log stand; the third is erased, and the fork leaves after the fourth. */
const LOGGED = 20_000;
const ERASED = LOGGED + 2;
const FORKED = LOGGED + 3;

for (const engine of ENGINES) {
  describe(`a long thread in ${engine}`, () => {
    test("is searched as the index in memory is, before and after blocks are merged, in a fork, and after a redaction", async () => {
      const store = await openStore(engines.fresh(engine));
      const writer = await writeThread(store, "t");
      await say(writer, ...Array.from({ length: 5 }, (_, index) => `kept ${index}`));
      const corpus = sparseCorpus();
      await fill(store, corpus);
      await fork(writer, "t", { as: "fork", at: 4 });
      const [whole, shared] = [memoryOf(corpus, "t"), memoryOf(corpus, "fork", FORKED)];
      await assertAlike(store, whole, THREAD);
      await assertAlike(store, shared, FORK);
      await catchUp(store, "t");
      await store.search.merging?.merge("t");
      const [{ merged = 0 } = {}] = await store.search.lineage("t");
      assert.equal(merged > 0, store.search.merging !== undefined);
      await assertAlike(store, whole, THREAD);
      await assertAlike(store, shared, FORK);
      await store.releaseLease(writer.lease);
      assert.equal((await redact(threadDeps(store), "t", 3)).kind, "redacted");
      whole.remove("t", 3);
      shared.remove("fork", 3);
      await assertAlike(store, whole, THREAD);
      await assertAlike(store, shared, FORK);
      assert.deepEqual(await store.search.postings([{ threadId: "t", before: 999 }], ["secret"]), []);
      await store.close();
    });

    test("is searched as well where parts were written as one, and forgets what is erased", async () => {
      const store = await openStore(engines.fresh(engine));
      const writer = await writeThread(store, "t");
      await say(writer, ...Array.from({ length: 5 }, (_, index) => `kept ${index}`));
      const corpus = sparseCorpus();
      await fill(store, corpus, partSize(store.search));
      const whole = memoryOf(corpus, "t");
      await assertAlike(store, whole, THREAD);
      await store.releaseLease(writer.lease);
      assert.equal((await redact(threadDeps(store), "t", 3)).kind, "redacted");
      whole.remove("t", 3);
      await assertAlike(store, whole, THREAD);
      assert.deepEqual(await store.search.postings([{ threadId: "t", before: 999 }], ["secret"]), []);
      await store.search.clear("t");
      assert.deepEqual(await store.search.postings([{ threadId: "t", before: 999 }], ["always"]), []);
      await store.close();
    });

    test("what was merged between the counts and the lists is found all the same", async () => {
      const store = await openStore(engines.fresh(engine));
      await say(await writeThread(store, "t"), "kept");
      const corpus = sparseCorpus();
      await fill(store, corpus);
      const index = storedIndex(store.search, { kind: "thread", segments: await store.search.lineage("t") }, 0);
      const terms = ["tulip", "word3"];
      await index.statistics(THREAD, terms);
      await catchUp(store, "t");
      await store.search.merging?.merge("t");
      const [{ merged = 0 } = {}] = await store.search.lineage("t");
      assert.equal(merged > 0, store.search.merging !== undefined);
      const request = { terms, seeks: [{ all: ["tulip"], limit: 200 }], reach: 4 };
      const inOrder = (docs: readonly { readonly seq: number; readonly frequencies: ArrayLike<number> }[]) =>
        docs.map(({ seq, frequencies }) => [seq, ...Array.from(frequencies)]).sort((a, b) => a[0]! - b[0]!);
      const expected = await memoryOf(corpus, "t").candidates(THREAD, request);
      assert.deepEqual(inOrder(await index.candidates(THREAD, request)), inOrder(expected));
      await store.close();
    });
  });
}

test("blocks are merged in short steps: between any two of them a search is the same, and an erased word leaves all places", async () => {
  const store = await openStore(engines.fresh("SQLite"));
  const writer = await writeThread(store, "t");
  await say(writer, ...Array.from({ length: 5 }, (_, index) => `kept ${index}`));
  const corpus = wideCorpus();
  await fill(store, corpus);
  await fork(writer, "t", { as: "fork", at: 4 });
  await store.releaseLease(writer.lease);
  const [whole, shared] = [memoryOf(corpus, "t"), memoryOf(corpus, "fork", WIDE_LOGGED + 3)];
  const isMerged = async () => ((await store.search.lineage("t"))[0]!.merged ?? 0) > 0;
  let steps = 0;
  while (!(await isMerged())) {
    assert.equal(await store.search.merging!.merge("t"), "merged");
    steps += 1;
    await assertAlike(store, whole, THREAD);
    if (steps !== 1) continue;
    await assertAlike(store, shared, FORK);
    assert.equal(await isMerged(), false, "a step takes only some of the terms");
    assert.equal((await redact(threadDeps(store), "t", 3)).kind, "redacted");
    whole.remove("t", 3);
    shared.remove("fork", 3);
    await assertAlike(store, whole, THREAD);
  }
  assert.ok(steps > 2, `${steps}`);
  assert.deepEqual(await store.search.postings([{ threadId: "t", before: 17 }], ["secret"]), []);
  await store.close();
});

test("lists that stand one behind the other are read and shortened as each alone is", () => {
  const lists = new Map([3, 4, 9].map((block) => [block, listAt(block * 64 + 5, block * 64 + 63)]));
  const merged = [...lists].map(([block, list]) => blockMark(block) + list).join("");
  const places: number[] = [];
  readPostings(merged, 64, (offset) => places.push(offset));
  assert.deepEqual(
    places,
    [3, 4, 9].flatMap((block) => [block * 64 + 5, block * 64 + 63]),
  );
  for (const [block, list] of lists) assert.equal(listOfBlock(merged, block, 64), list);
  assert.equal(listOfBlock(merged, 5, 64), "");
  const once = withoutEntry(merged, 4 * 64 + 5, 64);
  assert.equal(listOfBlock(once, 4, 64), listAt(4 * 64 + 63));
  assert.equal(listOfBlock(withoutEntry(once, 4 * 64 + 63, 64), 4, 64), "");
  assert.equal(withoutEntry(merged, 4 * 64 + 6, 64), merged);
});

function listAt(...ordinals: number[]): string {
  const writer = postingWriter(64);
  for (const ordinal of ordinals) writer.add(ordinal, new Map([["term", ordinal % 2 === 0 ? 1 : 1.5]]));
  return writer.rows()[0]!.list;
}

/** Where the five messages that are in the log stand in a wide corpus; the third is erased. */
const WIDE_LOGGED = 8 * 1024 + 800 - 2;

/** A little more than a part, of messages with very many words that stand nowhere else. */
function wideCorpus(): Placed[] {
  return Array.from({ length: 17 * 40 }, (_, index) => {
    const ordinal = Math.floor(index / 40) * 1024 + (index % 40) * 25;
    const at = new Date(Date.UTC(2020, 0, 1) + ordinal * 60_000).toISOString();
    const own = Array.from({ length: 70 }, (_, n) => `own${(index * 7919) % 680}x${n}`);
    const words = ["always", `word${index % 9}`, ...(index % 6 === 0 ? ["lantern", "harbor"] : []), ...own];
    if (index % 97 === 5) words.push("tulip");
    if (ordinal === WIDE_LOGGED + 2) words.push("secret", "tulip");
    const seq = ordinal < WIDE_LOGGED ? ordinal - WIDE_LOGGED : ordinal - WIDE_LOGGED + 1;
    return { ordinal, seq, entry: indexEntry({ text: `${words.join(" ")}.`, speaker: "user", at }) };
  });
}

interface Placed {
  readonly ordinal: number;
  readonly seq: number;
  readonly entry: IndexEntry;
}

/** Bursts of messages in a thread of 110,000, the rest of which was erased. Most are in the index alone. */
function sparseCorpus(): Placed[] {
  const corpus: Placed[] = [];
  for (let burst = 0; burst < 220; burst += 1) {
    for (let step = 0; step < 12; step += 1) {
      const ordinal = burst * 500 + step;
      const at = new Date(Date.UTC(2020, 0, 1) + ordinal * 60_000).toISOString();
      const words = Array.from(
        { length: 5 },
        (_, n) => `word${Math.floor(((burst * 31 + step * 17 + n * 7) % 97) ** 2 / 200)}`,
      );
      words.push("always", "always");
      if (burst % 40 === 7 && step === 3) words.push("tulip");
      if (burst % 3 === 1) words.push("lantern", "lantern");
      if (burst % 5 === step % 5) words.push("harbor");
      if (ordinal === ERASED) words.push("secret", "tulip");
      const seq = ordinal < LOGGED ? ordinal - LOGGED : ordinal - LOGGED + 1;
      corpus.push({ ordinal, seq, entry: indexEntry({ text: `${words.join(" ")}.`, speaker: "user", at }) });
    }
  }
  return corpus;
}

/** The erased messages take their ordinals in memory, too. */
function memoryOf(corpus: readonly Placed[], threadId: string, through = Number.MAX_SAFE_INTEGER): MemoryIndex {
  const memory = new MemoryIndex();
  let next = 0;
  for (const { ordinal, seq, entry } of corpus) {
    if (ordinal > through) break;
    for (; next < ordinal; next += 1) {
      memory.put({ threadId, seq: -1_000_000 + next }, { ...entry, length: 0, terms: new Map() });
      memory.remove(threadId, -1_000_000 + next);
    }
    memory.put({ threadId, seq }, entry);
    next += 1;
  }
  return memory;
}

/** By 500 entries, or by parts of so many ordinals where the store writes such. */
async function fill(store: FullStore, corpus: readonly Placed[], part?: number): Promise<void> {
  let newest: Placement | null = null;
  let ordinal = 0;
  let expect = 0;
  const { blockSize, merging } = store.search;
  const groups = Map.groupBy(corpus, (_, index) =>
    Math.floor(part === undefined ? index / 500 : corpus[index]!.ordinal / part),
  );
  for (const group of groups.values()) {
    const parts =
      part === undefined || merging?.by !== "filler"
        ? null
        : partWriter(blockSize, Math.floor(group[0]!.ordinal / part) * merging.blocks);
    const postings = parts ?? postingWriter(blockSize);
    const entries = group.map(({ ordinal: own, seq, entry }) => {
      for (; ordinal <= own; ordinal += 1) newest = place(newest, entry.at);
      postings.add(own, entry.terms, entry.passages);
      const { at, speaker, length, asks } = entry;
      return {
        ordinal: own,
        seq,
        session: newest!.session,
        at,
        speaker,
        length,
        asks,
      };
    });
    const isFull = parts !== null && group.at(-1) !== corpus.at(-1);
    const made = isFull ? { postings: [], part: parts.merged() } : { postings: postings.rows() };
    const batch: IndexBatch = { expect, indexed: 5, newest, entries, ...made };
    assert.equal(await store.search.write("t", batch), "written");
    expect = 5;
  }
}

const QUESTIONS = [
  ..."tulip|secret tulip|lantern harbor|harbor|lantern|word3 word7 harbor|word40 lantern tulip harbor word0".split("|"),
  "word0 word1 word2 word3 word4 lantern",
  "always tulip",
  "always lantern",
  "nowhere",
];

async function assertAlike(store: FullStore, memory: MemoryIndex, scope: typeof THREAD | typeof FORK): Promise<void> {
  // Lists are read with their counts, or as they are needed.
  for (const fewBlocks of [undefined, 0]) {
    const stored = async () =>
      storedIndex(store.search, { kind: "thread", segments: await store.search.lineage(scope.threadId) }, fewBlocks);
    const index = {
      statistics: async (_: unknown, terms: readonly string[]) => (await stored()).statistics(scope, terms),
      candidates: async (_: unknown, request: Parameters<MemoryIndex["candidates"]>[1]) =>
        (await stored()).candidates(scope, request),
    };
    assert.deepEqual(await differences(index, memory, { scopes: [scope], questions: QUESTIONS, limit: 50 }), []);
  }
}
