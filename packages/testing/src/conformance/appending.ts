/** Creating threads and appending: compare-and-set, all or nothing, exact bytes, survival of a restart. */
import assert from "node:assert/strict";
import { appendUsage, commit, createThread, prepare, replay } from "palimpsest/internal/threads";
import { appendMessages } from "palimpsest/session";
import {
  assertSound,
  type Cases,
  collect,
  freshId,
  freshThread,
  headOf,
  lease,
  say,
  steppingDeps,
  textsOf,
} from "./kit.ts";

export const appendCases: Cases = {
  "a thread is created once": async (suite) => {
    const deps = steppingDeps(suite.store());
    const id = freshId();
    assert.equal(await createThread(deps, { id, agentName: "coder", memory: "off" }), "created");
    assert.equal(await createThread(deps, { id }), "exists");
    const header = await deps.store.header(id);
    assert.equal(header?.user, "default");
    assert.equal(header?.memory, "off");
    await assertSound(deps, id);
  },

  "a thread nobody made is missing everywhere": async (suite) => {
    const store = suite.store();
    const id = freshId();
    assert.equal(await store.header(id), undefined);
    assert.equal(await store.head(id), undefined);
    assert.equal(await store.load(id), undefined);
    assert.deepEqual(await collect(store.records(id)), []);
    assert.deepEqual(await store.acquireLease(id, "me", 1000), { kind: "missing" });
    assert.equal(await store.deleteThread(id), "missing");
    assert.deepEqual(await store.sharers(id, 1), []);
  },

  "an append on an old version is a conflict and writes nothing": async (suite) => {
    const writer = await freshThread(suite.store());
    const { store } = writer;
    const old = await headOf(store, writer.lease.threadId);
    await say(writer, "first");
    const late = await prepare(writer, old, [{ kind: "state", patch: { title: "late" } }]);
    assert.deepEqual(await store.append(writer.lease.threadId, late), { kind: "conflict", version: 1 });
    assert.deepEqual(await textsOf(store, writer.lease.threadId), ["first"]);
    assert.deepEqual((await headOf(store, writer.lease.threadId)).state, {});
    await assertSound(writer, writer.lease.threadId);
  },

  "of two writers on the same version exactly one wins": async (suite) => {
    const writer = await freshThread(suite.store());
    const other = await suite.connect();
    const head = await headOf(writer.store, writer.lease.threadId);
    const batches = await Promise.all(
      ["a", "b"].map((title) => prepare(writer, head, [{ kind: "state", patch: { title } }])),
    );
    const results = await Promise.all([
      writer.store.append(writer.lease.threadId, batches[0]!),
      other.append(writer.lease.threadId, batches[1]!),
    ]);
    assert.deepEqual(results.map((result) => result.kind).sort(), ["appended", "conflict"]);
    await assertSound(writer, writer.lease.threadId);
    await other.close();
  },

  "an append that doesn't wait for the disk is there for everybody at once": async (suite) => {
    const writer = await freshThread(suite.store());
    const other = await suite.connect();
    const { threadId } = writer.lease;
    const head = await headOf(writer.store, threadId);
    const batch = await prepare(writer, head, [{ kind: "state", patch: { title: "soon" } }]);
    const appended = await writer.store.append(threadId, { ...batch, flush: "later" });
    assert.deepEqual(appended, { kind: "appended", version: 1 });
    assert.equal((await other.head(threadId))!.state["title"], "soon");
    await say(writer, "and more");
    await assertSound(writer, threadId);
    await other.close();
  },

  "a first append takes the lease, and writes only where the log still ends as its writer knows it": async (suite) => {
    const held = await freshThread(suite.store());
    const { store, lease: earlier } = held;
    if (store.appendFirst === undefined) return;
    const { threadId } = earlier;
    const first = async (owner: string, text: string, after?: string) => {
      const head = await headOf(store, threadId);
      const lease = { threadId, owner, epoch: 0 };
      const batch = await prepare({ ...held, lease }, head, [{ kind: "state", patch: { title: text } }]);
      return store.appendFirst!(threadId, batch, { ttlMs: 60_000, after: after ?? head.hash });
    };
    const title = async () => (await headOf(store, threadId)).state["title"];
    await say(held, "hello");
    const busy = await first("another", "not yet");
    assert.deepEqual([busy.kind, "owner" in busy && busy.owner, await title()], ["busy", earlier.owner, undefined]);
    await store.releaseLease(earlier);
    const taken = await first("another", "taken");
    assert.deepEqual(taken, { kind: "appended", lease: { threadId, owner: "another", epoch: earlier.epoch + 1 } });
    assert.equal(await title(), "taken");
    assert.equal(
      (await store.append(threadId, await prepare(held, await headOf(store, threadId), []))).kind,
      "lease-lost",
    );
    const moved = await first("another", "elsewhere", "the hash of another log");
    assert.deepEqual(moved, { kind: "moved", lease: { threadId, owner: "another", epoch: earlier.epoch + 2 } });
    assert.equal(await title(), "taken");
    const writer = { ...held, lease: (moved as { lease: typeof earlier }).lease };
    assert.equal((await say(writer, "under the lease that came with it")).kind, "committed");
    const missing = await prepare(writer, await headOf(store, threadId), []);
    assert.deepEqual(await store.appendFirst(freshId(), missing, { ttlMs: 1000, after: "" }), { kind: "missing" });
    await assertSound(writer, threadId);
  },

  "of two first appends on the same log exactly one takes the lease": async (suite) => {
    const writer = await freshThread(suite.store());
    const other = await suite.connect();
    const { store, lease: earlier } = writer;
    const { threadId } = earlier;
    await store.releaseLease(earlier);
    const head = await headOf(store, threadId);
    const results = await Promise.all(
      [store, other].map(async (at, index) => {
        const lease = { threadId, owner: `owner ${index}`, epoch: 0 };
        const batch = await prepare({ ...writer, lease }, head, [{ kind: "state", patch: { title: lease.owner } }]);
        return at.appendFirst?.(threadId, batch, { ttlMs: 60_000, after: head.hash });
      }),
    );
    await other.close();
    if (store.appendFirst === undefined) return;
    assert.deepEqual(results.map((result) => result!.kind).sort(), ["appended", "busy"]);
    assert.equal((await headOf(store, threadId)).version, 1);
    await assertSound(writer, threadId);
  },

  "an append may be the last under its lease": async (suite) => {
    const writer = await freshThread(suite.store());
    const { store, lease: earlier } = writer;
    if (store.appendFirst === undefined) return;
    const { threadId } = earlier;
    const last = async (at: typeof writer, head = store.head(threadId)) => {
      const batch = await prepare(at, (await head)!, [{ kind: "state", patch: { title: "last" } }]);
      return { ...batch, leaseAfter: "released" } as const;
    };
    const old = await headOf(store, threadId);
    assert.equal((await store.append(threadId, await last(writer))).kind, "appended");
    const next = await lease(store, threadId, "the next");
    assert.equal(next.epoch, earlier.epoch + 1);
    // What is refused gives nothing back.
    const refused = await last({ ...writer, lease: next }, Promise.resolve(old));
    assert.equal((await store.append(threadId, refused)).kind, "conflict");
    assert.equal((await store.acquireLease(threadId, "a third", 1000)).kind, "busy");
    await store.releaseLease(next);
    const both = await last({ ...writer, lease: { threadId, owner: "a fourth", epoch: 0 } });
    const { hash: after } = await headOf(store, threadId);
    assert.equal((await store.appendFirst(threadId, both, { ttlMs: 60_000, after })).kind, "appended");
    await lease(store, threadId, "a fifth");
    await assertSound(writer, threadId);
  },

  "a batch is written whole or not at all": async (suite) => {
    const writer = await freshThread(suite.store());
    const { store, lease } = writer;
    await say(writer, "before");
    const head = await headOf(store, lease.threadId);
    const batch = await prepare(writer, head, [
      { kind: "state", patch: { title: "one" } },
      { kind: "state", patch: { title: "two" } },
    ]);
    // The second record repeats the first one's place: the engine or the driver must refuse, and undo the first.
    const torn = { ...batch, records: [batch.records[0]!, batch.records[0]!] };
    await assert.rejects(store.append(lease.threadId, torn));
    assert.equal((await headOf(store, lease.threadId)).version, 1);
    assert.equal((await collect(store.records(lease.threadId))).length, 1);
    assert.equal((await store.append(lease.threadId, batch)).kind, "appended");
    await assertSound(writer, lease.threadId);
  },

  "bodies come back byte for byte: unicode, escapes, spacing, key order, half surrogates": async (suite) => {
    const writer = await freshThread(suite.store());
    const bodies = [
      '{"role":"user","content":"naïve 日本語 👩‍👩‍👧 \\u0000 \\u001f \\ud83d\\ude00"}',
      '{ "content" :\t"spaced",\n "role" : "user" }',
      '{"role":"user","content":"1e400 and 12345678901234567890","n":12345678901234567890,"z":1.0,"a":1E2}',
      JSON.stringify({ role: "user", content: "nul \u0000 half \ud800 other half \udc00 end" }),
      '"just text"',
    ];
    await appendMessages(
      writer,
      bodies.map((body) => ({ dialect: "openai", origin: "import", body })),
    );
    const said = await collect(replay(writer, writer.lease.threadId));
    assert.deepEqual(
      said.map((record) => record.body),
      bodies,
    );
    await assertSound(writer, writer.lease.threadId);
  },

  "half a surrogate pair in raw JSON text is kept as its escape, which means the same": async (suite) => {
    const writer = await freshThread(suite.store());
    const body = '{"role":"user","content":"a\ud800b"}';
    await appendMessages(writer, [{ dialect: "openai", origin: "user", body }]);
    const [record] = await collect(replay(writer, writer.lease.threadId));
    assert.equal(record!.body, '{"role":"user","content":"a\\ud800b"}');
    assert.deepEqual(JSON.parse(record!.body), JSON.parse(body));
    await assertSound(writer, writer.lease.threadId);
  },

  "a 50 MB message is kept whole": async (suite) => {
    const writer = await freshThread(suite.store());
    const body = JSON.stringify({ role: "user", content: "0123456789abcdé".repeat(3_300_000) });
    await appendMessages(writer, [{ dialect: "openai", origin: "user", body }]);
    const [record] = await collect(replay(writer, writer.lease.threadId));
    assert.equal(record!.body.length, body.length);
    assert.ok(record!.body === body);
    await writer.store.releaseLease(writer.lease);
    assert.equal(await writer.store.deleteThread(writer.lease.threadId), "deleted");
  },

  "state patches merge, null removes, artifacts add up without repeats": async (suite) => {
    const writer = await freshThread(suite.store());
    await commit(writer, [
      { kind: "state", patch: { title: "old", todos: [1], artifacts: ["a", "b"], __proto__x: 1 } },
      { kind: "state", patch: { title: "new", todos: null, artifacts: ["b", "c"] } },
    ]);
    const head = await headOf(writer.store, writer.lease.threadId);
    assert.deepEqual(head.state, { title: "new", artifacts: ["a", "b", "c"], __proto__x: 1 });
    await assertSound(writer, writer.lease.threadId);
  },

  "the newest believable usage and the learned factor stand in the head": async (suite) => {
    const writer = await freshThread(suite.store());
    await say(writer, "hello");
    const usage = {
      of: 1,
      model: "m",
      measured: { compaction: null, prune: null, promptHash: "p" },
      input: 10,
      output: 2,
      cacheRead: 0,
      cacheWrite: 0,
    };
    await appendUsage(writer, { ...usage, factor: 1.2 });
    await appendUsage(writer, { ...usage, input: 0, factor: null, flaw: "zero" });
    const head = await headOf(writer.store, writer.lease.threadId);
    assert.equal(head.usage, 2);
    assert.deepEqual(head.factors, { m: 1.2 });
    await assertSound(writer, writer.lease.threadId);
  },

  "what was acknowledged is there for the next process": async (suite) => {
    const first = await suite.connect();
    const writer = await freshThread(first);
    await say(writer, "one", "two");
    await first.close();
    const second = await suite.connect();
    assert.deepEqual(await textsOf(second, writer.lease.threadId), ["one", "two"]);
    const head = (await second.head(writer.lease.threadId))!;
    const again = { ...steppingDeps(second), lease: await lease(second, writer.lease.threadId) };
    await say(again, "three");
    assert.equal((await second.head(writer.lease.threadId))!.version, head.version + 1);
    await assertSound(again, writer.lease.threadId);
    await second.close();
  },
};
