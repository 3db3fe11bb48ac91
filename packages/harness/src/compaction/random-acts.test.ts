import assert from "node:assert/strict";
import { test } from "node:test";
import { manyRandomActs, randomActs } from "../../test/playback/random-acts.ts";

const EDITS = ["edit", "add", "delete", "copy-rules"];

test("random logs with folds, hides, rollovers, rules and undos: every prompt is valid and fits, any undo is exact", async (t) => {
  const report = await manyRandomActs(200);
  t.diagnostic(JSON.stringify(report));
  assert.deepEqual(report.faults, []);
  assert.ok(report.subsets >= 700);
  assert.ok(report.impossible < report.requests / 100, `${report.impossible} requests were impossible`);
  for (const act of ["fold", "hide", "show", "rule", "end-rule", "note", "compact", "fresh", "undo", "redo", ...EDITS])
    assert.ok((report.acts[act] ?? 0) >= 5, act);
});

for (const seed of [94, 131, 138])
  test(`log ${seed}, whose shortened request stood whole when the log was read again, is played without a fault`, async () => {
    assert.deepEqual((await randomActs({ from: seed, to: seed + 1 })).faults, []);
  });
