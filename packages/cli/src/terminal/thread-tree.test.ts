import assert from "node:assert/strict";
import { test } from "node:test";
import { inTree } from "./table.ts";

test("a tree has every thread once, under its parent; one whose parent is gone stands at the top", () => {
  const rows = [
    { id: "subagent-1", parent: "a" },
    { id: "b", parent: null },
    { id: "a", parent: null },
    { id: "fork", parent: "a" },
    { id: "subagent-2", parent: "fork" },
    { id: "orphan", parent: "deleted" },
  ];
  assert.deepEqual(
    inTree(rows).map(({ id, depth }) => `${"-".repeat(depth)}${id}`),
    ["b", "a", "-subagent-1", "-fork", "--subagent-2", "orphan"],
  );
});
