import assert from "node:assert/strict";
import { test } from "node:test";
import { CASES, killAtSteps } from "../test/kill-check.ts";

for (const [name, one] of Object.entries(CASES)) {
  test(`"${name}" that is killed in between is completed by running it again, and nothing is left over`, async (t) => {
    assert.ok((await killAtSteps(t, one, 9)) > 0);
  });
}
