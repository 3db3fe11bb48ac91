import assert from "node:assert/strict";
import { test } from "node:test";
import { assertNoFault, manyRandomLogs, randomLogs } from "../../test/playback/random-logs.ts";

test("[F13] [F14] [F30] random logs in three shapes: every request is valid and fits, nothing said is changed", async (t) => {
  const report = await manyRandomLogs(200, "extracted");
  assertNoFault(t, report);
  for (const rung of ["prune", "extract", "clamp", "collapse"]) assert.ok((report.rungs[rung] ?? 0) >= 15, rung);
});

test("random logs with summaries drafted ahead of the trigger: every request is valid and fits all the same", async (t) => {
  const report = await manyRandomLogs(50, "drafted");
  assertNoFault(t, report);
  assert.ok(report.draftsUsed >= 10, `${report.draftsUsed} drafts used`);
});

test("random logs of a model that binds its reasoning: no thought is sent behind another prompt than its own", async (t) => {
  const report = await randomLogs({ from: 1, to: 61, summaries: "extracted", reasoning: "bound" });
  t.diagnostic(JSON.stringify(report));
  const { invalid, overWindow, misplaced, faults } = report;
  assert.deepEqual({ invalid, overWindow, misplaced }, { invalid: 0, overWindow: 0, misplaced: 0 }, faults.join("\n"));
  assert.ok(report.thoughts > 300, `${report.thoughts} thoughts`);
});

for (const [seed, why] of [
  [5909, "a summary longer than the one message it hides"],
  [10_815, "an open group of more messages than the trigger allows, then a full window"],
  [25_911, "an orphan that saves less by being left out once it is shortened"],
] as const) {
  test(`a log that failed once is played without a fault: ${why}`, async () => {
    assert.deepEqual((await randomLogs({ from: seed, to: seed + 1, summaries: "extracted" })).faults, []);
  });
}
