/** Undo, redo and pins, through the store and back. */
import assert from "node:assert/strict";
import { pin, redo, undo } from "palimpsest/internal/threads";
import { assertSound, type Cases, compact, freshThread, headOf, prune, say, seqOf } from "./kit.ts";

export const undoCases: Cases = {
  "[F43] the newest prune or compaction is taken back, and brought back by a redo": async (suite) => {
    const writer = await freshThread(suite.store());
    const head = async () => await headOf(writer.store, writer.lease.threadId);
    await say(writer, "1", "2", "3", "4", "5", "6");
    assert.deepEqual(await undo(writer), { kind: "refused", reason: "nothing-to-undo" });
    assert.deepEqual(await redo(writer), { kind: "refused", reason: "nothing-to-redo" });
    const pruned = seqOf(await prune(writer, 2, 5));
    const first = seqOf(await compact(writer, { covers: [1, 2], folds: null }));
    const second = seqOf(await compact(writer, { covers: [3, 5], folds: first }));
    assert.deepEqual([(await head()).hiddenThrough, (await head()).prunes], [5, []]);

    const whole = await undo(writer, first);
    assert.deepEqual([whole.kind, whole.kind === "undone" && whole.dependents], ["undone", [second]]);
    assert.equal((await head()).compaction, null);
    await assertSound(writer, writer.lease.threadId);
    assert.equal((await redo(writer)).kind, "redone");
    assert.deepEqual([(await head()).compaction, (await head()).hiddenThrough], [second, 5]);
    await assertSound(writer, writer.lease.threadId);
    assert.equal((await undo(writer)).kind, "undone");
    assert.deepEqual(
      [(await head()).compaction, (await head()).hiddenThrough, (await head()).prunes],
      [first, 2, [pruned]],
    );
    assert.equal((await head()).undone?.seq, (await head()).version);
    assert.deepEqual(await undo(writer, second), { kind: "refused", reason: "already-undone", target: second });

    assert.equal((await redo(writer)).kind, "redone");
    assert.deepEqual([(await head()).compaction, (await head()).hiddenThrough, (await head()).prunes], [second, 5, []]);
    assert.equal((await head()).undone, null);

    for (const expected of [second, first, pruned]) {
      const result = await undo(writer);
      assert.deepEqual([result.kind, result.kind === "undone" && result.of], ["undone", expected]);
      await assertSound(writer, writer.lease.threadId);
    }
    assert.equal((await undo(writer)).kind, "refused");
    assert.deepEqual([(await head()).compaction, (await head()).hiddenThrough, (await head()).prunes], [null, 0, []]);
    assert.deepEqual(await undo(writer, 1), { kind: "refused", reason: "not-undoable", target: 1 });
  },

  "a compaction made after an undo stands in the way of the redo": async (suite) => {
    const writer = await freshThread(suite.store());
    await say(writer, "1", "2", "3");
    await compact(writer, { covers: [1, 1], folds: null });
    await undo(writer);
    const other = seqOf(await compact(writer, { covers: [1, 2], folds: null }));
    const refused = await redo(writer);
    assert.deepEqual([refused.kind, "by" in refused && refused.by], ["refused", other]);
    await assertSound(writer, writer.lease.threadId);
  },

  "pins are set and taken off, on messages only": async (suite) => {
    const writer = await freshThread(suite.store());
    await say(writer, "1", "2", "3");
    await pin(writer, 3);
    await pin(writer, 1);
    await pin(writer, 3);
    assert.deepEqual((await headOf(writer.store, writer.lease.threadId)).pins, [1, 3]);
    await pin(writer, 3, "off");
    assert.deepEqual((await headOf(writer.store, writer.lease.threadId)).pins, [1]);
    assert.deepEqual(await pin(writer, 4), { kind: "no-message", target: 4 });
    assert.deepEqual(await pin(writer, 99), { kind: "no-message", target: 99 });
    await assertSound(writer, writer.lease.threadId);
  },
};
