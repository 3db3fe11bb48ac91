import assert from "node:assert/strict";
import { test } from "node:test";
import { manyRandomLogs } from "./random-logs.ts";

test("[F13] [F14] [F30] random logs in three shapes: every request is valid and fits, nothing said is changed", async (t) => {
  const report = await manyRandomLogs(2000, "extracted");
  t.diagnostic(JSON.stringify(report));
  const { invalid, overWindow, changed, hasty, faults } = report;
  assert.deepEqual(
    { invalid, overWindow, changed, hasty },
    { invalid: 0, overWindow: 0, changed: 0, hasty: 0 },
    faults.join("\n"),
  );
  for (const rung of ["prune", "extract", "clamp", "collapse"]) assert.ok((report.rungs[rung] ?? 0) >= 20, rung);
});

test("random logs with summaries drafted ahead of the trigger: every request is valid and fits all the same", async (t) => {
  const report = await manyRandomLogs(100, "drafted");
  t.diagnostic(JSON.stringify(report));
  const { invalid, overWindow, changed, hasty, faults } = report;
  assert.deepEqual(
    { invalid, overWindow, changed, hasty },
    { invalid: 0, overWindow: 0, changed: 0, hasty: 0 },
    faults.join("\n"),
  );
  assert.ok(report.draftsUsed >= 10, `${report.draftsUsed} drafts used`);
});
