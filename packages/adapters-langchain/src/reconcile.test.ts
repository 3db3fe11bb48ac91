import assert from "node:assert/strict";
import { test } from "node:test";
import { difference } from "./reconcile.ts";

/** "a2": the message a, in its second wording. */
const state = (...names: string[]) => names.map((name) => ({ id: name[0]!, bodyHash: name }));
/** Every second record is something else. */
const log = (...names: string[]) => state(...names).map((one, at) => ({ ...one, seq: 2 * at + 1 }));

const CASES = {
  "nothing was said yet": [log(), state("a", "b"), { kind: "append", from: 0 }],
  "the state has grown": [log("a", "b"), state("a", "b", "c"), { kind: "append", from: 2 }],
  "nothing is new": [log("a", "b"), state("a", "b"), { kind: "append", from: 2 }],
  "a message was edited": [log("a", "b", "c"), state("a", "b2", "c"), { kind: "branch", from: 1, keep: 2 }],
  "the end was cut off": [log("a", "b", "c"), state("a", "b"), { kind: "branch", from: 2, keep: 4 }],
  "the beginning was cut off": [log("a", "b", "c"), state("b", "c"), { kind: "branch", from: 0, keep: 0 }],
  "another way was taken": [log("a", "b", "c"), state("a", "d"), { kind: "branch", from: 1, keep: 2 }],
  "the state was emptied": [log("a"), state(), { kind: "branch", from: 0, keep: 0 }],
} as const;

for (const [name, [logged, stated, expected]] of Object.entries(CASES)) {
  test(`${name}: ${expected.kind}`, () => assert.deepEqual(difference(logged, stated), expected));
}
