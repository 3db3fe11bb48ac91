/** Forks: shared records, own continuations, and what a deletion leaves to them. */
import assert from "node:assert/strict";
import { commit, createThread, fork, undo } from "palimpsest/internal/threads";
import {
  assertSound,
  type Cases,
  collect,
  compact,
  freshId,
  freshThread,
  headOf,
  type Suite,
  say,
  seqOf,
  textsOf,
  writerOf,
} from "./kit.ts";

export const forkCases: Cases = {
  "a fork shares the past and goes its own way; neither sees the other's future": async (suite) => {
    const writer = await freshThread(suite.store());
    const { store } = writer;
    const parent = writer.lease.threadId;
    await say(writer, "1", "2", "3");
    const child = freshId();
    assert.deepEqual(await fork(writer, parent, { as: child, at: 2 }), {
      kind: "forked",
      threadId: child,
      parent,
      at: 2,
    });
    await say(writer, "4 of the parent");
    const own = await writerOf(writer, child);
    await say(own, "3 of the child");
    assert.deepEqual(await textsOf(store, parent), ["1", "2", "3", "4 of the parent"]);
    assert.deepEqual(await textsOf(store, child), ["1", "2", "3 of the child"]);
    const header = (await store.header(child))!;
    assert.deepEqual([header.parent, header.forkedAt], [parent, 2]);
    const [second, third] = await collect(store.records(child, { range: [2, 3] }));
    assert.notEqual(second!.chained.hash, third!.chained.hash);
    for (const threadId of [parent, child]) await assertSound(writer, threadId);
  },

  "forks that can't be made say why": async (suite) => {
    const writer = await freshThread(suite.store());
    await say(writer, "1");
    const parent = writer.lease.threadId;
    const other = await freshThread(suite.store());
    assert.equal((await fork(writer, "nobody", { as: freshId() })).kind, "missing");
    assert.equal((await fork(writer, parent, { as: freshId(), at: 2 })).kind, "beyond-end");
    assert.equal((await fork(writer, parent, { as: freshId(), at: -1 })).kind, "beyond-end");
    assert.equal((await fork(writer, parent, { as: other.lease.threadId, at: 1 })).kind, "exists");
  },

  "no thread gets an id that could climb out of a folder": async (suite) => {
    const writer = await freshThread(suite.store());
    await assert.rejects(fork(writer, writer.lease.threadId, { as: "../up" }), /".."/);
    await assert.rejects(createThread(writer, { id: "a/b" }), /letters, digits/);
  },

  "a fork's head is the parent's as it was at that record": async (suite) => {
    const writer = await freshThread(suite.store());
    const parent = writer.lease.threadId;
    await say(writer, "1", "2", "3");
    await commit(writer, [{ kind: "state", patch: { title: "early" } }]);
    const first = seqOf(await compact(writer, { covers: [1, 2], folds: null }));
    await commit(writer, [{ kind: "state", patch: { title: "late" } }]);
    await undo(writer);
    const child = freshId();
    await fork(writer, parent, { as: child, at: first });
    const head = await headOf(writer.store, child);
    assert.deepEqual([head.compaction, head.hiddenThrough, head.state], [first, 2, { title: "early" }]);
    assert.deepEqual(
      (await writer.store.load(child))!.records.map(({ chained }) => chained.seq),
      [3, 4, 5],
    );
    await undo(await writerOf(writer, child));
    assert.equal((await headOf(writer.store, child)).hiddenThrough, 0);
    await assertSound(writer, child);
  },

  "forks of forks, at, before and after the fork they come from": async (suite) => {
    const writer = await freshThread(suite.store());
    const { store } = writer;
    const a = writer.lease.threadId;
    const [b, early, late, all] = [freshId(), freshId(), freshId(), freshId()];
    await say(writer, "a1", "a2", "a3", "a4");
    await fork(writer, a, { as: b, at: 3 });
    await say(await writerOf(writer, b), "b4", "b5");
    await fork(writer, b, { as: early, at: 2 });
    await fork(writer, b, { as: late, at: 4 });
    await fork(writer, a, { as: all });
    await say(await writerOf(writer, early), "e3");
    await say(await writerOf(writer, late), "l5");
    const expected: Record<string, string[]> = {
      [b]: ["a1", "a2", "a3", "b4", "b5"],
      [early]: ["a1", "a2", "e3"],
      [late]: ["a1", "a2", "a3", "b4", "l5"],
      [all]: ["a1", "a2", "a3", "a4"],
    };
    const sound = async () => {
      for (const [threadId, texts] of Object.entries(expected)) {
        assert.deepEqual(await textsOf(store, threadId), texts);
        await assertSound(writer, threadId);
      }
    };
    await sound();
    assert.deepEqual((await store.sharers(late, 2)).toSorted(), [a, b, early, late, all].toSorted());
    assert.deepEqual((await store.sharers(late, 4)).toSorted(), [b, late].toSorted());
    // The originals go, oldest first; what the forks shared stays with them.
    for (const threadId of [a, b]) {
      const held = await store.acquireLease(threadId, "owner", 1000);
      if (held.kind === "acquired") await store.releaseLease(held.lease);
      assert.equal(await store.deleteThread(threadId), "deleted");
      delete expected[threadId];
      await sound();
    }
    assert.equal((await store.header(late))!.parent, null);
    // Whether orphans of one parent go on sharing among themselves is the engine's choice.
    assert.ok((await store.sharers(late, 2)).includes(late));
    await say(await writerOf(writer, late), "l6");
    await assertSound(writer, late);
  },

  "[F41] a deleted id can be used again and starts empty": async (suite) => {
    const writer = await freshThread(suite.store());
    const { store } = writer;
    const { threadId } = writer.lease;
    await say(writer, "secret");
    const header = (await store.header(threadId))!;
    await store.releaseLease(writer.lease);
    await store.deleteThread(threadId);
    const head = { ...(await freshHead(suite)), updatedAt: header.createdAt };
    assert.equal(await store.createThread(header, head), "created");
    assert.deepEqual(await textsOf(store, threadId), []);
    assert.deepEqual(await say(writer, "with the old lease"), { kind: "lease-lost" });
  },
};

async function freshHead(suite: Suite) {
  const writer = await freshThread(suite.store());
  return await headOf(writer.store, writer.lease.threadId);
}
