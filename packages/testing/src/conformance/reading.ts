/** Reading: ranges as a stream, the load of a view, readers beside a writer. */
import assert from "node:assert/strict";
import { commit, fork, pin } from "palimpsest/internal/threads";
import type { RecordQuery } from "palimpsest/stores";
import { assertSound, type Cases, collect, compact, freshId, freshThread, prune, say, seqOf, writerOf } from "./kit.ts";

const seqs = (records: readonly { chained: { seq: number } }[]) => records.map(({ chained }) => chained.seq);

export const readCases: Cases = {
  "a range is read in either order and by kind": async (suite) => {
    const writer = await freshThread(suite.store());
    const { store } = writer;
    await say(writer, "1", "2", "3");
    await commit(writer, [{ kind: "state", patch: { title: "t" } }]);
    await say(writer, "5");
    const { threadId } = writer.lease;
    assert.deepEqual(seqs(await collect(store.records(threadId, { range: [2, 4] }))), [2, 3, 4]);
    assert.deepEqual(seqs(await collect(store.records(threadId, { range: [2, 4], order: "descending" }))), [4, 3, 2]);
    assert.deepEqual(seqs(await collect(store.records(threadId, { kinds: ["state"] }))), [4]);
    assert.deepEqual(
      seqs(await collect(store.records(threadId, { kinds: ["message"], order: "descending" }))),
      [5, 3, 2, 1],
    );
    assert.deepEqual(seqs(await collect(store.records(threadId, { range: [6, 9] }))), []);
  },

  "listed records are read from a fork and its past, within the range and in either order": async (suite) => {
    const writer = await freshThread(suite.store());
    const { store } = writer;
    await say(writer, "1", "2", "3", "4");
    const child = freshId();
    await fork(writer, writer.lease.threadId, { as: child, at: 3 });
    await say(await writerOf(writer, child), "4 of the child", "5 of the child");
    const read = async (query: RecordQuery) => seqs(await collect(store.records(child, query)));
    assert.deepEqual(await read({ seqs: [5, 1, 3, 99] }), [1, 3, 5]);
    assert.deepEqual(await read({ seqs: [5, 1, 3], order: "descending", kinds: ["message"] }), [5, 3, 1]);
    assert.deepEqual(await read({ seqs: [5, 1, 3], range: [2, 4] }), [3]);
    assert.deepEqual(await read({ seqs: [] }), []);
    const [own] = await collect(store.records(child, { seqs: [4] }));
    assert.match(own!.chained.body ?? "", /4 of the child/);
  },

  "a long range is streamed, and stopping early is fine": async (suite) => {
    const writer = await freshThread(suite.store());
    const { store } = writer;
    await say(writer, ...Array.from({ length: 1000 }, (_, index) => `${index + 1}`));
    await say(writer, ...Array.from({ length: 6 }, () => "x".repeat(600_000)));
    const all = seqs(await collect(store.records(writer.lease.threadId)));
    assert.deepEqual(
      all,
      Array.from({ length: 1006 }, (_, index) => index + 1),
    );
    const back = seqs(await collect(store.records(writer.lease.threadId, { order: "descending" })));
    assert.deepEqual(back, all.toReversed());
    for await (const { chained } of store.records(writer.lease.threadId)) if (chained.seq === 3) break;
    await say(writer, "and on");
  },

  "a reader in the middle of a stream sees what is appended meanwhile and nothing twice": async (suite) => {
    const writer = await freshThread(suite.store());
    const reader = await suite.connect();
    await say(writer, ...Array.from({ length: 600 }, (_, index) => `${index + 1}`));
    const seen: number[] = [];
    for await (const { chained } of reader.records(writer.lease.threadId)) {
      seen.push(chained.seq);
      if (chained.seq === 10 || chained.seq === 300) await say(writer, "meanwhile");
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 602 }, (_, index) => index + 1),
    );
    await reader.close();
  },

  "a load is consistent while others write": async (suite) => {
    const writer = await freshThread(suite.store());
    const reader = await suite.connect();
    await say(writer, "start");
    const writes = (async () => {
      for (let index = 0; index < 30; index += 1) await say(writer, `a${index}`, `b${index}`);
    })();
    for (let index = 0; index < 30; index += 1) {
      const loaded = (await reader.load(writer.lease.threadId))!;
      assert.equal(loaded.records.length, loaded.head.version);
      assert.equal(loaded.head.version % 2, 1);
      assert.equal(loaded.records.at(-1)!.chained.hash, loaded.head.hash);
    }
    await writes;
    await reader.close();
  },

  "[F40] a load brings the tail and, of what is hidden, only what still shows": async (suite) => {
    const writer = await freshThread(suite.store());
    const { store } = writer;
    const { threadId } = writer.lease;
    await say(writer, ...Array.from({ length: 20 }, (_, index) => `${index + 1}`));
    await pin(writer, 3);
    await prune(writer, 2, 19);
    await prune(writer, 4);
    const compaction = seqOf(await compact(writer, { covers: [1, 18], folds: null, request: 17 }));
    await commit(writer, [{ kind: "evidence", of: 20, text: "lent", ids: ["f1"], hash: "h" }]);
    const loaded = (await store.load(threadId))!;
    assert.equal(loaded.head.compaction, compaction);
    assert.deepEqual(loaded.head.prunes, [22]);
    assert.deepEqual(seqs(loaded.records), [3, 17, 19, 20, 21, 22, 23, 24, 25]);
    assert.equal(loaded.header.id, threadId);
    await assertSound(writer, threadId);
  },
};
