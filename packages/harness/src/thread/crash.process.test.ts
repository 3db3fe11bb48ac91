import assert from "node:assert/strict";
import { test } from "node:test";
import { checkCrashes } from "../../test/threads/crash-check.ts";

test("kill -9 of a writer during appends, 20 times: nothing acknowledged is lost, nothing torn", async () => {
  const { acknowledged } = await checkCrashes(Array.from({ length: 20 }, (_, index) => (index * 7) % 40));
  assert.ok(acknowledged >= 40, `only ${acknowledged} messages were written in all`);
});
