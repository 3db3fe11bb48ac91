import assert from "node:assert/strict";
import { test } from "node:test";
import { CASES, killAtSteps } from "../test/kill-check.ts";

for (const [name, one] of Object.entries(CASES)) {
  test(`"${name}" killed at every one of its steps is completed by running it again, and nothing is left over`, async (t) => {
    const tried = await killAtSteps(t, one, 1);
    t.diagnostic(`${tried} steps`);
    assert.ok(tried > 1);
  });
}
