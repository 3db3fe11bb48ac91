import assert from "node:assert/strict";
import { test } from "node:test";
import { hashOf } from "./posting-buckets.ts";

// Stored postings lie in buckets by these numbers: another hash would find none of them.
test("the hash of a term is the one that stores were written with", () => {
  const table = { "": 8188, a: 8500, tide: 10_698, "tide turns": 7290, café: 6253, 潮: 5141 };
  assert.deepEqual(Object.fromEntries(Object.keys(table).map((term) => [term, hashOf(term)])), table);
});
