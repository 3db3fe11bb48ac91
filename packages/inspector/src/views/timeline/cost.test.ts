import assert from "node:assert/strict";
import { test } from "node:test";
import { cacheShare } from "./cost.ts";

test("the cache's share is of the whole prompt, and of nothing it is nothing", () => {
  assert.equal(cacheShare({ input: 200, cacheRead: 50 }), 0.25);
  assert.equal(cacheShare({ input: 0 }), 0);
});
