import assert from "node:assert/strict";
import { test } from "node:test";
import { takenBack } from "./taken-back.ts";

test("an undo takes an act back, an undo of the undo brings it back, and a second undo takes it again", () => {
  const compaction = { seq: 9 };
  const [undo, redo, again] = [
    { seq: 10, of: 9 },
    { seq: 11, of: 10 },
    { seq: 12, of: 9 },
  ];
  assert.deepEqual([...takenBack([compaction, undo]).acts], [9]);
  const brought = takenBack([compaction, undo, redo]);
  assert.deepEqual([[...brought.acts], [...brought.redone]], [[], [[11, 9]]]);
  assert.deepEqual([...takenBack([compaction, undo, redo, again]).acts], [9]);
  assert.deepEqual([...takenBack([{ seq: null }]).acts], []);
});
