/** What conversations are known by: kept with the append that brings the answer, each user's own, gone with the thread. */
import assert from "node:assert/strict";
import { asUser } from "palimpsest/internal/stores";
import { createThread, fork, prepare } from "palimpsest/internal/threads";
import { redact, type Writer } from "palimpsest/session";
import type { NewMatch, Store } from "palimpsest/stores";
import { type CasesWith, freshId, headOf, steppingDeps, writerOf } from "./kit.ts";

type Matching = Store & Required<Pick<Store, "matches">>;

export const matchCases: CasesWith<"matches"> = {
  "a conversation is found by what it is known by, deepest first, and is no other user's": async (suite) => {
    const store = asUser(suite.store(), freshId());
    const writer = await threadOf(store);
    const [first, second] = [await answer(writer, "h1"), await answer(writer, "h2", { group: "g", fixed: "f" })];
    const rows = await store.matches.find(["nobody's", "h2", "h1"]);
    const { threadId } = writer.lease;
    assert.deepEqual(
      rows.map(({ updatedAt: _, ...row }) => row),
      [
        { ...second, threadId, version: 2 },
        { ...first, threadId, version: 2 },
      ],
    );
    assert.deepEqual(await asUser(suite.store(), freshId()).matches.find(["h1", "h2"]), []);
    assert.deepEqual(await store.matches.find([]), []);
    const other = await suite.connect();
    assert.equal((await asUser(other, store.userId).matches.find(["h1"])).length, 1, "also from elsewhere");
    await other.close();
  },

  "of threads that are known alike the one that changed last comes first": async (suite) => {
    const store = asUser(suite.store(), freshId());
    const deps = steppingDeps(store);
    const [older, newer] = [await threadOf(store, deps), await threadOf(store, deps)];
    await answer(newer, "same");
    await answer(older, "same");
    const rows = await store.matches.find(["same"]);
    assert.deepEqual(
      rows.map(({ threadId: thread }) => thread),
      [older.lease.threadId, newer.lease.threadId],
    );
  },

  "an append that is refused leaves nothing to be found": async (suite) => {
    const store = asUser(suite.store(), freshId());
    const writer = await threadOf(store);
    const lost = { ...writer, lease: { ...writer.lease, epoch: writer.lease.epoch + 1 } };
    await assert.rejects(answer(lost, "lost"), /lease-lost/);
    assert.deepEqual(await store.matches.find(["lost"]), []);
  },

  "answers are found in one thread or one group alone, in their order": async (suite) => {
    const store = asUser(suite.store(), freshId());
    const [first, second, apart] = [await threadOf(store), await threadOf(store), await threadOf(store)];
    await answer(first, freshId(), { answer: "yes", group: "g" });
    await answer(first, freshId(), { answer: "no", group: "g" });
    await answer(second, freshId(), { answer: "yes", group: "g" });
    await answer(apart, freshId(), { answer: "yes", group: null });
    const places = async (within: { threadId: string } | { group: string }) =>
      (await store.matches.answers(within, ["no", "yes"])).map(({ threadId: thread, seq }) => [thread, seq]);
    assert.deepEqual(await places({ group: "g" }), [
      [first.lease.threadId, 1],
      [first.lease.threadId, 2],
      [second.lease.threadId, 1],
    ]);
    assert.deepEqual(await places({ threadId: apart.lease.threadId }), [[apart.lease.threadId, 1]]);
    assert.equal((await store.matches.newest("g"))?.group, "g");
    assert.equal(await store.matches.newest("nobody's"), undefined);
    const all = await store.matches.within(first.lease.threadId, [2, 9]);
    assert.deepEqual(
      all.map(({ seq, answer: said }) => [seq, said]),
      [[2, "no"]],
    );
  },

  "what a thread is known by goes with it; a fork keeps that of the records it shares": async (suite) => {
    const store = asUser(suite.store(), freshId());
    const parent = await threadOf(store);
    await answer(parent, "shared");
    const as = freshId();
    assert.equal((await fork(parent, parent.lease.threadId, { as })).kind, "forked");
    await answer(parent, "later");
    const found = async () =>
      (await store.matches.find(["later", "shared"])).map(({ threadId: thread, seq }) => [thread, seq]);
    assert.deepEqual(await found(), [
      [parent.lease.threadId, 2],
      [parent.lease.threadId, 1],
    ]);
    await store.releaseLease(parent.lease);
    assert.equal(await store.deleteThread(parent.lease.threadId), "deleted");
    assert.deepEqual(await found(), [[as, 1]]);
    assert.equal(await store.deleteThread(as), "deleted");
    assert.deepEqual(await found(), []);
  },

  "a thread is still known where words were erased": async (suite) => {
    const store = asUser(suite.store(), freshId());
    const writer = await threadOf(store);
    const { seq } = await answer(writer, "erased");
    await store.releaseLease(writer.lease);
    assert.equal((await redact(writer, writer.lease.threadId, seq)).kind, "redacted");
    assert.equal((await store.matches.find(["erased"])).length, 1);
  },
};

async function threadOf(store: Matching, deps = steppingDeps(store)): Promise<Writer> {
  const id = freshId();
  await createThread(deps, { id });
  return writerOf(deps, id);
}

/** An answer, and what its conversation is known by. */
async function answer(writer: Writer, hash: string, given: Partial<NewMatch> = {}): Promise<NewMatch> {
  const { store, lease } = writer;
  const head = await headOf(store, lease.threadId);
  const body = JSON.stringify({ role: "assistant", content: hash });
  const message = { kind: "message", id: freshId(), dialect: "openai", origin: "model", body } as const;
  const match = { seq: head.version + 1, hash, answer: `${hash}!`, group: null, fixed: null, ...given };
  const result = await store.append(lease.threadId, {
    ...(await prepare(writer, head, [message])),
    matches: [match],
  });
  assert.equal(result.kind, "appended", result.kind);
  return match;
}
