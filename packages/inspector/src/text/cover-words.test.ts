import assert from "node:assert/strict";
import { test } from "node:test";
import { coverWords } from "./cover-words.ts";

test("a search that looked through everything says nothing of it; one that didn't says how far the index is", () => {
  assert.equal(coverWords({}), null);
  assert.equal(coverWords({ unindexed: 0, building: { indexed: 5, records: 5 } }), null);
  assert.match(coverWords({ unindexed: 7 })!, /^7 records were not searched/);
  assert.match(coverWords({ unindexed: 9_000, building: { indexed: 3_000, records: 12_000 } })!, /3.000 of 12.000/);
});
