/** Drafts: a cache beside a thread, which goes with it and is its user's alone. */
import assert from "node:assert/strict";
import { asUser } from "palimpsest/internal/stores";
import { createThread } from "palimpsest/internal/threads";
import { type CasesWith, freshId, freshThread, steppingDeps } from "./kit.ts";

export const draftCases: CasesWith<"drafts"> = {
  "drafts are kept per thread, replaced and dropped": async (suite) => {
    const { lease } = await freshThread(suite.store());
    const { drafts } = suite.store();
    const { threadId } = lease;
    assert.equal(await drafts.put("nobody", "k", "v", "now"), "missing");
    assert.equal(await drafts.get(threadId, "k"), undefined);
    assert.equal(await drafts.put(threadId, "k", "one", "2026-01-01"), "put");
    await drafts.put(threadId, "k", "two", "2026-01-02");
    await drafts.put(threadId, "other", "x", "2026-01-03");
    assert.deepEqual(await drafts.get(threadId, "k"), { value: "two", created: "2026-01-02" });
    await drafts.drop(threadId, "k");
    assert.equal(await drafts.get(threadId, "k"), undefined);
    assert.equal((await drafts.get(threadId, "other"))?.value, "x");
    await drafts.drop(threadId);
    assert.equal(await drafts.get(threadId, "other"), undefined);
  },

  "[F41] drafts go with their thread: one made anew under its id has none": async (suite) => {
    const writer = await freshThread(suite.store());
    const { store } = writer;
    const { threadId } = writer.lease;
    await suite.store().drafts.put(threadId, "k", "v", "now");
    await store.releaseLease(writer.lease);
    assert.equal(await store.deleteThread(threadId), "deleted");
    assert.equal(await createThread(writer, { id: threadId }), "created");
    assert.equal(await suite.store().drafts.get(threadId, "k"), undefined);
  },

  "a draft is its user's: another's thread of the same id has none": async (suite) => {
    const id = freshId();
    const [ann, bob] = [asUser(suite.store(), "ann"), asUser(suite.store(), "bob")];
    await createThread(steppingDeps(ann), { id });
    assert.equal(await bob.drafts.put(id, "summary", "x", "now"), "missing", "bob has no such thread");
    await createThread(steppingDeps(bob), { id });
    await ann.drafts.put(id, "summary", "ann's draft", "now");
    assert.equal(await bob.drafts.get(id, "summary"), undefined);
    assert.equal(await bob.deleteThread(id), "deleted");
    assert.equal((await ann.drafts.get(id, "summary"))?.value, "ann's draft");
  },
};
