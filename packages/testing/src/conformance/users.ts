/** A thread is identified by its user and id; other users' threads are invisible. */
import assert from "node:assert/strict";
import { createThread, fork, replay } from "palimpsest/internal/threads";
import type { Store } from "palimpsest/stores";
import { everyThread, everyUser } from "palimpsest/stores";
import {
  assertSound,
  type Cases,
  collect,
  freshId,
  headOf,
  lease,
  say,
  steppingDeps,
  textsOf,
  writerOf,
} from "./kit.ts";

export const userCases: Cases = {
  "two users may both have a thread of one id, and each keeps their own": async (suite) => {
    const id = freshId();
    const [ann, bob] = [ofUser(suite.store(), "ann"), ofUser(suite.store(), "bob")];
    for (const own of [ann, bob]) assert.equal(await createThread(own, { id }), "created");
    await say(await writerOf(ann, id), "ann's", "more of ann's");
    await say(await writerOf(bob, id), "bob's");
    assert.deepEqual(await textsOf(ann.store, id), ["ann's", "more of ann's"]);
    assert.deepEqual(await textsOf(bob.store, id), ["bob's"]);
    assert.equal(await suite.store().header(id), undefined, "nor has the default user one of this id");
    assert.deepEqual([(await ann.store.header(id))!.user, (await bob.store.header(id))!.user], ["ann", "bob"]);
    await bob.store.releaseLease(await lease(bob.store, id));
    assert.equal(await bob.store.deleteThread(id), "deleted");
    assert.deepEqual(await textsOf(ann.store, id), ["ann's", "more of ann's"]);
    await assertSound(ann, id);
  },

  "another's thread is answered as one that doesn't exist": async (suite) => {
    const id = freshId();
    const ann = ofUser(suite.store(), "ann");
    await createThread(ann, { id });
    const writer = await writerOf(ann, id);
    await say(writer, "only for ann");
    const { store: bob } = ofUser(suite.store(), "bob");
    const own = await headOf(ann.store, id);
    assert.equal(await bob.header(id), undefined);
    assert.equal(await bob.head(id), undefined);
    assert.equal(await bob.load(id), undefined);
    assert.deepEqual(await collect(bob.records(id)), []);
    assert.deepEqual(await collect(replay({ store: bob }, id)), []);
    assert.deepEqual(await bob.acquireLease(id, "bob", 1000), { kind: "missing" });
    assert.equal(await bob.renewLease(writer.lease, 1000), "lost");
    await bob.releaseLease(writer.lease);
    const batch = { expect: own.version, records: [], head: own, lease: writer.lease };
    assert.deepEqual(await bob.append(id, batch), { kind: "missing" });
    assert.deepEqual(await bob.redact({ bodies: [], batches: [{ threadId: id, batch }] }), { kind: "missing" });
    assert.deepEqual((await fork(ofUser(suite.store(), "bob"), id, { as: freshId() })).kind, "missing");
    assert.deepEqual(await bob.sharers(id, 1), []);
    assert.equal(await bob.writeHead(id, own), "missing");
    assert.equal(await bob.deleteThread(id), "missing");
    assert.ok(!(await collect(everyThread(bob))).some(({ header }) => header.id === id));
    assert.equal(await ann.store.renewLease(writer.lease, 1000), "renewed", "ann's lease is untouched");
  },

  "a fork is its parent's user's, and shares with nobody else's thread of that id": async (suite) => {
    const [id, as] = [freshId(), freshId()];
    const [ann, bob] = [ofUser(suite.store(), "ann"), ofUser(suite.store(), "bob")];
    for (const own of [ann, bob]) {
      await createThread(own, { id });
      await say(await writerOf(own, id), `${own.store.userId} 1`, `${own.store.userId} 2`);
      assert.equal((await fork(own, id, { as, at: 1 })).kind, "forked");
      assert.deepEqual(await own.store.sharers(id, 1), [id, as]);
    }
    await bob.store.releaseLease(await lease(bob.store, id));
    assert.equal(await bob.store.deleteThread(id), "deleted");
    assert.deepEqual(await textsOf(ann.store, as), ["ann 1"]);
    assert.deepEqual(await textsOf(bob.store, as), ["bob 1"]);
    assert.deepEqual([(await ann.store.header(as))!.parent, (await bob.store.header(as))!.parent], [id, null]);
    for (const own of [ann, bob]) await assertSound(own, as);
  },

  "any user but an empty one is kept as it is": async (suite) => {
    const id = freshId();
    const users = [
      "auth0|123",
      "ann@example.org",
      "did:web:x",
      "Ada",
      "ada",
      "a,b {c} \"d\" \\e 'f'",
      "..",
      "🦊".repeat(500),
    ];
    for (const userId of users) {
      const own = ofUser(suite.store(), `${userId}`);
      assert.equal(await createThread(own, { id }), "created", userId);
      await say(await writerOf(own, id), userId);
    }
    for (const userId of users) assert.deepEqual(await textsOf(suite.store().forUser(userId), id), [userId]);
    const listed = (await collect(everyUser(suite.store()))).map(({ userId }) => userId);
    assert.deepEqual(
      users.filter((userId) => !listed.includes(userId)),
      [],
    );
    assert.equal(new Set(listed).size, listed.length);
    for (const bad of ["", "a\0b", "\ud800", "x".repeat(2001)])
      assert.throws(() => suite.store().forUser(bad), TypeError, JSON.stringify(bad));
  },

  "nobody makes a thread for somebody else": async (suite) => {
    const { store } = ofUser(suite.store(), "ann");
    const id = freshId();
    await createThread(ofUser(suite.store(), "ann"), { id });
    const [header, head] = [(await store.header(id))!, await headOf(store, id)];
    const other = { ...header, id: freshId(), user: "bob" };
    await assert.rejects(store.createThread(other, head), /forUser/);
    await assert.rejects(store.fork({ from: id, at: 0, header: other, head }), /forUser/);
  },
};

function ofUser(store: Store, userId: string) {
  return steppingDeps(store.forUser(userId));
}
