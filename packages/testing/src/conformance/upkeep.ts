/** Upkeep: whatever it does to the engine's files, the threads are as they were. */
import assert from "node:assert/strict";
import { assertSound, type CasesWith, freshThread, say, textsOf } from "./kit.ts";

export const upkeepCases: CasesWith<"upkeep"> = {
  "a vacuum and a scrub leave the threads as they were, and the engine finds itself whole": async (suite) => {
    const writer = await freshThread(suite.store());
    const gone = await freshThread(suite.store());
    await say(writer, "stays");
    await say(gone, "goes");
    await gone.store.releaseLease(gone.lease);
    assert.equal(await gone.store.deleteThread(gone.lease.threadId), "deleted");
    const { upkeep } = suite.store();
    await upkeep.vacuum();
    assert.ok(["clean", "held"].includes((await upkeep.scrub()).kind));
    assert.equal((await upkeep.check()).ok, true);
    assert.deepEqual(await textsOf(writer.store, writer.lease.threadId), ["stays"]);
    await assertSound(writer, writer.lease.threadId);
  },
};
