/** Redaction: a body is gone for good, everywhere it shows, and the chain says so. */
import assert from "node:assert/strict";
import type { MessageRecord } from "@palimpsest/core/internal/log";
import { commit, fork } from "palimpsest/internal/threads";
import { appendMessages, redact, verify } from "palimpsest/session";
import {
  assertSound,
  type Cases,
  collect,
  compact,
  freshId,
  freshThread,
  headOf,
  prune,
  say,
  writerOf,
} from "./kit.ts";

const SECRET = "the password is swordfish-4711";

export const redactionCases: Cases = {
  "a redacted message keeps role and call ids, loses its words, and the log verifies": async (suite) => {
    const writer = await freshThread(suite.store());
    const { store } = writer;
    const { threadId } = writer.lease;
    const call = { id: "c1", type: "function", function: { name: "login", arguments: JSON.stringify({ SECRET }) } };
    await appendMessages(writer, [
      { dialect: "openai", origin: "model", body: { role: "assistant", content: SECRET, tool_calls: [call] } },
    ]);
    await say(writer, "2");
    await store.releaseLease(writer.lease);
    const result = await redact(writer, threadId, 1);
    const [erased] = await collect(store.records(threadId, { range: [1, 1] }));
    const { id } = erased!.record as MessageRecord;
    const summaries = { rebuilt: 0, erased: 0 };
    assert.deepEqual(result, {
      kind: "redacted",
      seq: 1,
      id,
      bodies: 1,
      threads: [threadId],
      evidenceIn: [],
      summaries,
      rules: [],
      quotedIn: [],
    });
    const [first, second] = await collect(store.records(threadId));
    assert.deepEqual([first!.redacted, second!.redacted], [true, false]);
    const body = JSON.parse((first!.record as { body: string }).body);
    assert.equal(body.role, "assistant");
    assert.equal(body.tool_calls[0].id, "c1");
    assert.equal(body.tool_calls[0].function.arguments, "{}");
    const verdict = await verify(writer, threadId);
    assert.deepEqual(verdict, { kind: "whole", records: 3, redacted: [1], rewritten: [] });
    await assertSound(writer, threadId);
    assert.equal((await redact(writer, threadId, 1)).kind, "already-redacted");
    assert.equal((await redact(writer, threadId, 3)).kind, "no-message");
    assert.equal((await redact(writer, threadId, 9)).kind, "no-message");
    assert.equal((await redact(writer, "nobody", 1)).kind, "missing");
  },

  "what quotes the message is rewritten: summaries, replacements, evidence": async (suite) => {
    const writer = await freshThread(suite.store());
    const { store } = writer;
    const { threadId } = writer.lease;
    await say(writer, SECRET, "2", "3");
    await prune(writer, 1, 2);
    await commit(writer, [{ kind: "evidence", of: 3, text: `you said: ${SECRET}`, ids: [], hash: "h" }]);
    await compact(writer, { covers: [1, 2], folds: null });
    await store.releaseLease(writer.lease);
    assert.equal((await redact(writer, threadId, 1)).kind, "redacted");
    const stored = await collect(store.records(threadId));
    assert.equal(stored.filter(({ chained }) => chained.body?.includes("swordfish")).length, 0);
    assert.deepEqual(
      stored.filter(({ redacted }) => redacted).map(({ chained }) => chained.seq),
      [1, 4, 5, 6],
    );
    await assertSound(writer, threadId);
    // A second redaction under the same summary rewrites it once more; the newest receipt counts.
    await redact(writer, threadId, 2);
    await assertSound(writer, threadId);
  },

  "a shared message is erased in every thread that shows it, and each log says so": async (suite) => {
    const writer = await freshThread(suite.store());
    const { store } = writer;
    const parent = writer.lease.threadId;
    const [child, unrelated] = [freshId(), freshId()];
    await say(writer, "1", SECRET, "3");
    await fork(writer, parent, { as: child, at: 2 });
    await fork(writer, parent, { as: unrelated, at: 1 });
    const held = await writerOf(writer, child);
    await store.releaseLease(writer.lease);
    const busy = await redact(writer, parent, 2, { owner: "eraser" });
    assert.deepEqual([busy.kind, busy.kind === "busy" && busy.threadId], ["busy", child]);
    await store.releaseLease(held.lease);
    const result = await redact(writer, child, 2);
    assert.deepEqual(result.kind === "redacted" && result.threads.toSorted(), [parent, child].toSorted());
    for (const threadId of [parent, child]) {
      const verdict = await verify(writer, threadId);
      assert.deepEqual(verdict.kind === "whole" && verdict.redacted, [2]);
      await assertSound(writer, threadId);
    }
    assert.equal((await headOf(store, unrelated)).version, 1);
  },

  "a fork from before the receipt, or made while a redaction runs, says itself what was erased": async (suite) => {
    const writer = await freshThread(suite.store());
    const { store } = writer;
    const parent = writer.lease.threadId;
    const [early, crossing] = [freshId(), freshId()];
    await say(writer, "1", SECRET, "3");
    await store.releaseLease(writer.lease);
    await redact(writer, parent, 2);
    await fork(writer, parent, { as: early, at: 2 });
    assert.equal((await headOf(store, early)).version, 3);
    await say(await writerOf(writer, early), "4");
    await assertSound(writer, early);
    // Someone forks between the look at who shares the record and the commit.
    const crossed: typeof store = {
      ...store,
      redact: async (request) => {
        await fork(writer, parent, { as: crossing, at: 3 });
        return store.redact(request);
      },
    };
    assert.equal((await redact({ ...writer, store: crossed }, parent, 3)).kind, "redacted");
    const verdict = await verify(writer, crossing);
    assert.deepEqual(verdict.kind === "whole" && verdict.redacted, [2, 3]);
    await assertSound(writer, crossing);
  },
};
