import assert from "node:assert/strict";
import { test } from "node:test";
import { describeNodes, type NodeState } from "./postgres/distribution.ts";

const GIGABYTE = 1024 ** 3;
const node = (name: string, more: Partial<NodeState> = {}): NodeState => ({
  node: name,
  shards: 16,
  bytes: GIGABYTE,
  synchronousCommit: "on",
  ...more,
});

const CASES: readonly (readonly [string, readonly NodeState[], boolean, RegExp])[] = [
  ["even ones are listed", [node("a:1"), node("b:2")], true, /^spread over 2 nodes by user \(a:1 16 shards, .*MB\)$/],
  ["one that is away is named", [node("a:1"), node("b:2", { synchronousCommit: null })], false, /; b:2 doesn't answer/],
  ["one that doesn't wait for its disk is named", [node("a:1", { synchronousCommit: "off" })], false, /on disk yet/],
  [
    "one that was added is named",
    [node("a:1"), node("b:2", { shards: 0, bytes: 0 })],
    true,
    /b:2 holds nothing yet: run/,
  ],
  ["large uneven ones are named", [node("a:1"), node("b:2", { bytes: 2 * GIGABYTE })], true, /more than a fifth: run/],
  ["small uneven ones are not", [node("a:1", { bytes: 1 }), node("b:2", { bytes: 99 })], true, /\)$/],
];

for (const [name, nodes, ok, detail] of CASES)
  test(`nodes of a distributed store: ${name}`, () => {
    const state = describeNodes(nodes);
    assert.equal(state.ok, ok);
    assert.match(state.detail, detail);
  });
