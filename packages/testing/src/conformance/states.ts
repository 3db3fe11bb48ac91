/** The states that compactions leave for one another: stored as what changed, read back whole at any time. */
import assert from "node:assert/strict";
import type { Json } from "@palimpsest/core/internal/log";
import { openaiShape } from "@palimpsest/core/internal/message";
import { fork, redo, undo } from "palimpsest/internal/threads";
import { redact, type Writer } from "palimpsest/session";
import type { Store } from "palimpsest/stores";
import { assertSound, type Cases, collect, freshId, freshThread, headOf, say, seqOf, writerOf } from "./kit.ts";
import { openUnder } from "./thread-writer.ts";

export const stateCases: Cases = {
  "each compaction's state is read back whole, and every undo gives the one before": async (suite) => {
    const writer = await freshThread(suite.store());
    const states = await compactOften(writer, 40);
    const changed = (await compactionsOf(writer)).filter(({ record }) => "checkpoint" in record && record.checkpoint);
    assert.ok(changed.length > 20 && changed.length < 40, `${changed.length} of 40 are stored as changes`);
    for (const state of states.toReversed()) {
      assert.deepEqual(await stateNow(writer), state);
      assert.equal((await undo(writer)).kind, "undone");
    }
    assert.equal(await stateNow(writer), null);
    for (const state of states.slice(0, 3)) {
      assert.equal((await redo(writer)).kind, "redone");
      assert.deepEqual(await stateNow(writer), state);
    }
    await assertSound(writer, writer.lease.threadId);
  },

  "what stands between a state and its checkpoint but was taken back is passed over": async (suite) => {
    const writer = await freshThread(suite.store());
    const states = await compactOften(writer, 12);
    for (let round = 0; round < 5; round++) await undo(writer);
    const more = await compactOften(writer, 3, states.slice(0, 7));
    assert.deepEqual(await stateNow(writer), more.at(-1));
    await undo(writer);
    assert.deepEqual(await stateNow(writer), more.at(-2));
    await assertSound(writer, writer.lease.threadId);
  },

  "a fork reads on from its parent's states, also when the parent is gone": async (suite) => {
    const writer = await freshThread(suite.store());
    const parent = writer.lease.threadId;
    const states = await compactOften(writer, 10);
    const child = freshId();
    assert.equal((await fork(writer, parent, { as: child })).kind, "forked");
    const own = await writerOf(writer, child);
    assert.deepEqual(await stateNow(own), states.at(-1));
    const more = await compactOften(own, 3, states);
    await writer.store.releaseLease(writer.lease);
    assert.equal(await writer.store.deleteThread(parent), "deleted");
    for (const state of [...more.toReversed(), ...states.toReversed()]) {
      assert.deepEqual(await stateNow(own), state);
      await undo(own);
    }
    await assertSound(writer, child);
  },

  "a redaction erases the words from every state that could hold them, and the next state is whole": async (suite) => {
    const writer = await freshThread(suite.store());
    const { threadId } = writer.lease;
    const states = await compactOften(writer, 12, [], "the password is swordfish-4711");
    const [target] = await collect(writer.store.records(threadId, { kinds: ["message"], range: [9, 99] }));
    await writer.store.releaseLease(writer.lease);
    assert.equal((await redact(writer, threadId, target!.chained.seq)).kind, "redacted");
    const own = await writerOf(writer, threadId);
    assert.doesNotMatch(JSON.stringify(await stateNow(own)), /4711 of 4/);
    const next = await compactOften(own, 1, [{ facts: [] }]);
    assert.deepEqual(await stateNow(own), next[0]);
    for (let left = 13; left > 0; left--) {
      const { compaction } = await headOf(writer.store, threadId);
      const state = await stateNow(own);
      const before = compaction! < target!.chained.seq;
      if (left <= 12 && before) assert.deepEqual(state, states[left - 1], `compaction ${left}`);
      await undo(own);
    }
    for (const { chained } of await compactionsOf(own))
      if (chained.seq > target!.chained.seq) assert.doesNotMatch(chained.body!, /4711 of 4/);
    await assertSound(own, threadId);
  },
};

/** One message and one compaction of it at a time; each state has one fact more than the one before. */
async function compactOften(
  writer: Writer,
  count: number,
  before: readonly Json[] = [],
  words = "a fact that takes a line of its own",
): Promise<Json[]> {
  const states: Json[] = [];
  let facts = (before.at(-1) as { facts?: Json[] } | undefined)?.facts ?? [];
  for (let round = 0; round < count; round++) {
    const seq = seqOf(await say(writer, `${words} of ${facts.length}`));
    facts = [...facts, { id: `f${seq}`, text: `${words} of ${facts.length}`, seqs: [seq] }];
    const state = { facts, through: seq };
    const conversation = await openUnder(writer, openaiShape);
    const committed = await conversation.commit([
      {
        kind: "compaction",
        covers: [conversation.head().hiddenThrough + 1, seq],
        request: null,
        systems: [],
        folds: conversation.head().compaction,
        summary: { format: "pair", text: `What was said up to ${seq}.`, digest: null, state },
        rung: "extract",
        reason: "test",
        tokensBefore: 2,
        tokensAfter: 1,
        archive: null,
      },
    ]);
    assert.equal(committed.kind, "committed");
    assert.deepEqual(await conversation.summaryState(), state);
    states.push(state);
  }
  return states;
}

/** Read anew, as another process would. */
async function stateNow(writer: Writer): Promise<Json> {
  return (await openUnder(writer, openaiShape)).summaryState();
}

function compactionsOf({ store, lease }: Pick<Writer, "lease"> & { store: Store }) {
  return collect(store.records(lease.threadId, { kinds: ["compaction"] }));
}
