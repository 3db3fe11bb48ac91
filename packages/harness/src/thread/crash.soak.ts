import assert from "node:assert/strict";
import { test } from "node:test";
import { checkCrashes } from "../../test/threads/crash-check.ts";

test("kill -9 of a writer during appends, 200 times: nothing acknowledged is lost, nothing torn", async () => {
  const { acknowledged } = await checkCrashes(Array.from({ length: 200 }, (_, index) => (index * 13) % 90));
  assert.ok(acknowledged >= 400, `only ${acknowledged} messages were written in all`);
});
