/** The search tables: what is found through them is what a reading of the whole log would find, and no more. */
import assert from "node:assert/strict";
import { asUser, POOL } from "palimpsest/internal/stores";
import { createThread, fork } from "palimpsest/internal/threads";
import { redact, searchAll, searchThread } from "palimpsest/session";
import type { Store } from "palimpsest/stores";
import { type CasesWith, freshId, freshThread, say, steppingDeps, writerOf } from "./kit.ts";

export const searchCases: CasesWith<"search"> = {
  "a search finds the same through the tables as in the log, in threads, forks and over all": async (suite) => {
    const userId = freshId();
    const store = asUser(suite.store(), userId);
    const deps = steppingDeps(store);
    const [parent, child] = [freshId(), freshId()];
    await createThread(deps, { id: parent });
    const writer = await writerOf(deps, parent);
    const notes = Array.from({ length: 300 }, (_, index) => `note ${index} about falcons and item${index}x`);
    for (let first = 0; first < notes.length; first += 100) await say(writer, ...notes.slice(first, first + 100));
    await fork(deps, parent, { as: child, at: 150 });
    await say(writer, "the parent alone speaks of walrus");
    await say(await writerOf(deps, child), "the fork alone speaks of heron", "and of falcons");
    for (const question of ["falcons", "heron", "walrus", "item140x item160x", "note 17 about falcons"]) {
      for (const threadId of [parent, child]) {
        const found = places(await searchThread(store, threadId, question));
        assert.deepEqual(found, places(await searchThread(scanned(store), threadId, question)), question);
      }
      const found = places(await searchAll(store, question));
      assert.deepEqual(found, places(await searchAll(scanned(store), question)), question);
    }
    assert.equal((await searchThread(store, parent, "heron")).kind, "nothing");
  },

  "what is redacted leaves the index with its words, and a deleted thread with all of them": async (suite) => {
    const writer = await freshThread(suite.store());
    const { threadId } = writer.lease;
    const { search } = suite.store();
    await say(writer, "my password is swordfish", "I keep it", "my hobby is archery");
    assert.equal((await searchThread(writer.store, threadId, "swordfish")).kind, "found");
    await writer.store.releaseLease(writer.lease);
    assert.equal((await redact(writer, threadId, 1)).kind, "redacted");
    const terms = async () =>
      (
        await search.postings(
          [
            { threadId, before: 9 },
            { threadId: POOL, before: 9 },
          ],
          ["swordfish", "archeri"],
        )
      ).map(termOf);
    assert.deepEqual(await terms(), ["archeri"]);
    assert.equal((await searchThread(writer.store, threadId, "swordfish")).kind, "nothing");
    assert.equal(await writer.store.deleteThread(threadId), "deleted");
    assert.deepEqual(await terms(), []);
    assert.deepEqual(await search.lineage(threadId), []);
  },

  "an index moves on only from where it stood, and for a thread that is there": async (suite) => {
    const writer = await freshThread(suite.store());
    const { threadId } = writer.lease;
    await say(writer, "one", "two");
    const { search } = suite.store();
    const batch = { expect: 0, indexed: 2, newest: null, entries: [], postings: [] };
    assert.equal(await search.write("nobody", batch), "missing");
    assert.equal(await search.write(threadId, batch), "written");
    assert.equal(await search.write(threadId, batch), "conflict");
    await search.clear(threadId);
    assert.equal((await search.lineage(threadId))[0]?.indexed, 0);
    assert.deepEqual(await asUser(suite.store(), freshId()).search.lineage(threadId), [], "nor is it another user's");
  },
};

/** The same store without its tables: a search reads the log. */
function scanned(store: Store): Store {
  const { search: _, ...rest } = store;
  return rest;
}

function places(outcome: Awaited<ReturnType<typeof searchThread>>) {
  return outcome.kind === "found"
    ? outcome.hits.map(({ threadId, seq, score }) => [threadId, seq, score])
    : outcome.reason;
}

function termOf({ term }: { readonly term: string }): string {
  return term;
}
