import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzz } from "../test/fuzz.ts";

test("random requests made of the description are all answered, none with a 500", async (t) => {
  const { faults, statuses } = await fuzz(t, { requests: 400, seed: 7 });
  assert.deepEqual(faults, []);
  assert.ok(
    (statuses[200] ?? 0) > 20 && (statuses[400] ?? 0) > 20 && (statuses[404] ?? 0) > 20,
    JSON.stringify(statuses),
  );
});
