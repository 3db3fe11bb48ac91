/** Texts that requests repeat: kept once per user with the append that names them, gone with the last thread that does. */
import assert from "node:assert/strict";
import { asUser } from "palimpsest/internal/stores";
import { createThread, fork, prepare } from "palimpsest/internal/threads";
import type { Writer } from "palimpsest/session";
import type { PromptText, Store } from "palimpsest/stores";
import { type CasesWith, freshId, headOf, steppingDeps, writerOf } from "./kit.ts";

type Keeping = Store & Required<Pick<Store, "prompts">>;

export const promptCases: CasesWith<"prompts"> = {
  "a text stands once, byte for byte, whoever of the user's threads names it, and is no other user's": async (
    suite,
  ) => {
    const store = asUser(suite.store(), freshId());
    const given = { hash: freshId(), text: 'You are "helpful".\n\tÜ 😀 \\u0000 { "z": 1.0 }' };
    for (let round = 0; round < 2; round++) assert.equal(await name(await threadOf(store), [given]), "appended");
    assert.equal(await store.prompts.get(given.hash), given.text);
    assert.deepEqual(await store.prompts.list(), [given]);
    assert.equal(await asUser(suite.store(), freshId()).prompts.get(given.hash), undefined);
    const other = await suite.connect();
    assert.equal(await asUser(other, store.userId).prompts.get(given.hash), given.text);
    await other.close();
  },

  "an append that is refused keeps no text": async (suite) => {
    const store = asUser(suite.store(), freshId());
    const writer = await threadOf(store);
    const lost = { ...writer, lease: { ...writer.lease, epoch: writer.lease.epoch + 1 } };
    assert.equal(await name(lost, [{ hash: freshId(), text: "lost" }]), "lease-lost");
    assert.deepEqual(await store.prompts.list(), []);
  },

  "a text goes with the last thread that names it, and not before": async (suite) => {
    const store = asUser(suite.store(), freshId());
    const bob = asUser(suite.store(), freshId());
    const [shared, own] = [
      { hash: freshId(), text: "both" },
      { hash: freshId(), text: "one" },
    ];
    const [first, second, theirs] = [await threadOf(store), await threadOf(store), await threadOf(bob)];
    await name(first, [shared, own]);
    await name(second, [shared]);
    await name(theirs, [shared]);
    await remove(first);
    assert.deepEqual(await store.prompts.list(), [shared]);
    await remove(second);
    assert.deepEqual(await store.prompts.list(), []);
    assert.deepEqual(await bob.prompts.list(), [shared], "another user's is theirs");
  },

  "a fork whose parent is deleted keeps the texts that its records name, and no later ones": async (suite) => {
    const store = asUser(suite.store(), freshId());
    const [before, after] = [
      { hash: freshId(), text: "before" },
      { hash: freshId(), text: "after" },
    ];
    const parent = await threadOf(store);
    await name(parent, [before]);
    const as = freshId();
    assert.equal((await fork(parent, parent.lease.threadId, { as })).kind, "forked");
    await name(parent, [after]);
    await remove(parent);
    assert.deepEqual(await store.prompts.list(), [before]);
    assert.equal(await store.deleteThread(as), "deleted");
    assert.deepEqual(await store.prompts.list(), []);
  },

  "a text that was dropped is gone until an append brings it again": async (suite) => {
    const store = asUser(suite.store(), freshId());
    const writer = await threadOf(store);
    const [given, other] = [
      { hash: freshId(), text: "said too much" },
      { hash: freshId(), text: "stays" },
    ];
    await name(writer, [given, other]);
    await store.prompts.drop([given.hash, "nobody's"]);
    assert.deepEqual(await store.prompts.list(), [other]);
    await name(writer, [given]);
    assert.equal(await store.prompts.get(given.hash), given.text);
  },
};

async function threadOf(store: Keeping): Promise<Writer> {
  const deps = steppingDeps(store);
  const id = freshId();
  await createThread(deps, { id });
  return writerOf(deps, id);
}

async function name(writer: Writer, prompts: readonly PromptText[]): Promise<string> {
  const head = await headOf(writer.store, writer.lease.threadId);
  const batch = await prepare(writer, head, [{ kind: "event", event: { type: "request", hash: `${head.version}` } }]);
  return (await writer.store.append(writer.lease.threadId, { ...batch, prompts })).kind;
}

async function remove({ store, lease }: Writer): Promise<void> {
  await store.releaseLease(lease);
  assert.equal(await store.deleteThread(lease.threadId), "deleted");
}
