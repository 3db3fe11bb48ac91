/** Cuts that people choose at full size: 100,000 random logs (or PALIMPSEST_LOGS of them), on every core. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { manyRandomActs } from "../../test/playback/random-acts.ts";

const LOGS = Number(process.env["PALIMPSEST_LOGS"] ?? 100_000);

test(`${LOGS} random logs with compactions, folds, hides, rollovers and undos in any order`, async (t) => {
  const total = await manyRandomActs(LOGS, ({ logs, faults }) => {
    if (logs % 2000 === 0) process.stderr.write(`${logs} logs, ${faults.length} faults\n`);
  });
  t.diagnostic(JSON.stringify(total));
  assert.deepEqual(total.faults, []);
  assert.ok(total.impossible < total.requests / 100);
});
